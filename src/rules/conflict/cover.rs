//! Rules that never match, because earlier patterns take every path of each of their forms.
//! Conservative: what is not certain is not reported.

use super::overlap::may_meet;
use super::sample::{is_segment, texts};
use super::{NeverMatches, Side};
use crate::rules::locale::Locales;
use crate::rules::matcher::takes_text;
use crate::rules::pattern::Pattern;
use crate::rules::rule_set::RuleSet;
use crate::rules::template::{Segment, Source};

/// What a pattern's paths are to the patterns before it.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fate {
    /// Some may be left to it.
    Alive,
    /// It has none.
    Empty,
    /// This earlier pattern takes all of them.
    Hidden(usize),
}

/// The rules all of whose patterns are hidden; `before` says which earlier patterns to look at.
pub(super) fn never_matching<I: IntoIterator<Item = usize>>(
    rules: &RuleSet,
    before: impl Fn(usize) -> I,
) -> Vec<NeverMatches<'_>> {
    let patterns = rules.patterns();
    let fate = |(later, pattern): (usize, &Pattern)| {
        if is_empty(pattern, rules.locales()) {
            return Fate::Empty;
        }
        let mut earlier = before(later).into_iter();
        let hides = |at: &usize| covers(&patterns[*at], pattern, rules.locales());
        earlier.find(hides).map_or(Fate::Alive, Fate::Hidden)
    };
    let fates: Vec<Fate> = patterns.iter().enumerate().map(fate).collect();
    let mut alive = vec![false; rules.rules().len()];
    let mut hidden_by: Vec<Vec<Side<'_>>> = vec![Vec::new(); rules.rules().len()];
    for (pattern, fate) in patterns.iter().zip(fates) {
        match fate {
            Fate::Alive => alive[pattern.rule] = true,
            Fate::Empty => {}
            // Its own earlier form is hidden or alive itself.
            Fate::Hidden(at) if patterns[at].rule == pattern.rule => {}
            Fate::Hidden(at) => {
                let side = rules.side(&patterns[at]);
                if !hidden_by[pattern.rule].contains(&side) {
                    hidden_by[pattern.rule].push(side);
                }
            }
        }
    }
    let never = rules.rules().iter().zip(hidden_by).zip(alive).filter(|(_, alive)| !alive);
    never.map(|((rule, hidden_by), _)| NeverMatches { rule, hidden_by }).collect()
}

/// Whether no text at all fits some segment.
fn is_empty(pattern: &Pattern, locales: &Locales) -> bool {
    (0..pattern.segments.len()).any(|at| every(pattern, at, locales).is_some_and(|t| t.is_empty()))
}

/// All texts that the segment takes, where they are known.
fn every(pattern: &Pattern, at: usize, locales: &Locales) -> Option<Vec<String>> {
    let known = texts(pattern, at, locales);
    // A catch-all's value is no segment.
    let whole = !matches!(pattern.segments[at], Segment::CatchAll(_));
    let takes = |text: &String| takes(pattern, at, text, locales);
    (known.all && whole).then(|| known.texts.into_iter().filter(takes).collect())
}

fn takes(pattern: &Pattern, at: usize, text: &str, locales: &Locales) -> bool {
    is_segment(text) && takes_text(pattern, at, text, locales)
}

/// Whether `earlier` certainly matches every path that `later` matches.
fn covers(earlier: &Pattern, later: &Pattern, locales: &Locales) -> bool {
    let [a, b] = [earlier, later].map(|pattern| pattern.segments.len());
    let open = |pattern: &Pattern| matches!(pattern.segments.last(), Some(Segment::CatchAll(_)));
    let lengths = if open(earlier) { a <= b } else { a == b && !open(later) };
    // First what rules out most pairs and builds nothing.
    lengths
        && may_meet(earlier, later)
        && (0..a).all(|at| covers_segment(earlier, later, at, locales))
}

fn covers_segment(earlier: &Pattern, later: &Pattern, at: usize, locales: &Locales) -> bool {
    let (one, other) = (&earlier.segments[at], &later.segments[at]);
    let same_gap = earlier.bare_at != Some(at) || later.bare_at == Some(at);
    if let Segment::CatchAll(placeholder) = one {
        return placeholder.constraint.is_none() && same_gap;
    }
    if let Some(texts) = every(later, at, locales) {
        return texts.iter().all(|text| takes(earlier, at, text, locales));
    }
    same_gap && wider(one, other)
}

/// For placeholders with endless values: whether every text of `other` is one of `one`.
fn wider(one: &Segment, other: &Segment) -> bool {
    let (Some(wide), Some(narrow)) = (one.placeholder(), other.placeholder()) else {
        return false;
    };
    let [[before, after], [longer_before, longer_after]] = [one, other].map(around);
    let around = longer_before.starts_with(before) && longer_after.ends_with(after);
    let exact = (before, after) == (longer_before, longer_after);
    let values = match (&wide.source, &narrow.source) {
        (Source::Date(_, one), Source::Date(_, other)) => exact && one == other,
        (Source::Date(..) | Source::Locale, _) => false,
        _ => true,
    };
    let constraint = wide.constraint.is_none() || (exact && wide.constraint == narrow.constraint);
    around && values && constraint && !matches!(other, Segment::CatchAll(_))
}

fn around(segment: &Segment) -> [&str; 2] {
    match segment {
        Segment::Placeholder { prefix, suffix, .. } => [prefix, suffix],
        _ => ["", ""],
    }
}

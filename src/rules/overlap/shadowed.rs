//! Rules that never match, because earlier patterns take every path of each of their forms.
//! Conservative: what is not certain is not reported.

use rustc_hash::FxHashSet;

use super::budget::SearchBudget;
use super::examples::may_meet;
use super::{RuleTemplate, ShadowedRule};
use crate::rules::matching::takes_text;
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

/// The rules all of whose patterns are hidden. `before` says which earlier pattern takes a path of
/// one, for those that are too many to look at each.
pub(super) fn never_matching<'r>(
    looks: &SearchBudget<'r>,
    before: impl Fn(usize) -> Option<usize>,
) -> Vec<ShadowedRule<'r>> {
    let rules = looks.rules;
    let patterns = rules.patterns();
    let fate = |later: usize| {
        let empty = |taken: Option<&FxHashSet<String>>| taken.is_some_and(FxHashSet::is_empty);
        if (0..patterns[later].segments.len()).any(|at| empty(every(looks, later, at))) {
            return Fate::Empty;
        }
        let hides = |earlier: &usize| covers(looks, *earlier, later);
        let found = if looks.is_spent() {
            before(later).into_iter().find(hides)
        } else {
            (0..later).find(hides)
        };
        found.map_or(Fate::Alive, Fate::Hidden)
    };
    let fates: Vec<Fate> = (0..patterns.len()).map(fate).collect();
    let mut alive = vec![false; rules.rules().len()];
    let mut hidden_by: Vec<Vec<RuleTemplate<'_>>> = vec![Vec::new(); rules.rules().len()];
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
    never.map(|((rule, hidden_by), _)| ShadowedRule { rule, hidden_by }).collect()
}

/// All texts that the segment takes, where they are known.
fn every<'l>(
    looks: &'l SearchBudget<'_>,
    pattern: usize,
    at: usize,
) -> Option<&'l FxHashSet<String>> {
    looks.taken(pattern)[at].all.as_ref()
}

/// Whether `earlier` certainly matches every path that `later` matches.
fn covers(looks: &SearchBudget<'_>, earlier: usize, later: usize) -> bool {
    looks.spend(1);
    let [one, other] = [earlier, later].map(|at| looks.pattern(at));
    let [a, b] = [one, other].map(|pattern| pattern.segments.len());
    let open = matches!(one.segments.last(), Some(Segment::CatchAll(_)));
    let lengths = if open { a <= b } else { a == b };
    // First what rules out most pairs and builds nothing.
    lengths && may_meet(one, other) && (0..a).all(|at| covers_segment(looks, earlier, later, at))
}

fn covers_segment(looks: &SearchBudget<'_>, earlier: usize, later: usize, at: usize) -> bool {
    let [one, other] = [earlier, later].map(|at| looks.pattern(at));
    let same_gap = one.bare_at != Some(at) || other.bare_at == Some(at);
    if let Segment::CatchAll(placeholder) = &one.segments[at] {
        let any = !matches!(placeholder.source, Source::Date(..) | Source::Locale);
        return any && placeholder.constraint.is_none() && same_gap;
    }
    let Some(texts) = every(looks, later, at) else {
        return same_gap && wider(&one.segments[at], &other.segments[at]);
    };
    looks.spend(texts.len());
    match every(looks, earlier, at) {
        Some(all) => texts.is_subset(all),
        None => texts.iter().all(|text| takes_text(one, at, text, looks.locales())),
    }
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

//! Paths that two patterns both match.

use super::sample::{is_segment, texts};
use crate::rules::encode::encode;
use crate::rules::locale::Locales;
use crate::rules::matcher::takes_text;
use crate::rules::pattern::Pattern;
use crate::rules::template::Segment;

/// So many paths of each kind are tried for one pair before a third rule is believed to take them
/// all: enough for the days of a month.
const MAX_EXAMPLES: usize = 32;

/// What a pattern wants of the paths of one form: texts for each segment, and whether more may
/// follow.
struct Form<'p> {
    pattern: &'p Pattern,
    /// A catch-all with a constraint has its samples instead, cut into segments.
    tail: Option<Vec<String>>,
}

/// Paths that match both, in their normal form; nearly all of them do, and the caller checks.
pub(super) fn examples<'p>(
    locales: &'p Locales,
    one: &'p Pattern,
    other: &'p Pattern,
) -> impl Iterator<Item = String> + 'p {
    let pairs = if may_meet(one, other) { forms(one, locales) } else { Vec::new() };
    let both = pairs.into_iter().flat_map(move |one| {
        let others = forms(other, locales);
        others.into_iter().filter_map(move |other| meeting(&one, &other, locales))
    });
    both.flat_map(|segments| paths(&segments)).take(2 * MAX_EXAMPLES)
}

/// A look that rules out most pairs without building anything.
pub(super) fn may_meet(one: &Pattern, other: &Pattern) -> bool {
    let open = |pattern: &Pattern| matches!(pattern.segments.last(), Some(Segment::CatchAll(_)));
    let [a, b] = [one, other].map(|pattern| pattern.segments.len());
    let lengths = (a >= b || open(one)) && (b >= a || open(other));
    lengths && one.segments.iter().zip(&other.segments).all(|(a, b)| may_share(a, b))
}

/// Whether the static text of two segments leaves room for one text.
fn may_share(one: &Segment, other: &Segment) -> bool {
    let fits =
        |text: &str, before: &str, after: &str| text.starts_with(before) && text.ends_with(after);
    match (one, other) {
        (Segment::Static(a), Segment::Static(b)) => a == b,
        (Segment::Static(text), Segment::Placeholder { prefix, suffix, .. })
        | (Segment::Placeholder { prefix, suffix, .. }, Segment::Static(text)) => {
            fits(text, prefix, suffix)
        }
        (
            Segment::Placeholder { prefix: a, suffix: b, .. },
            Segment::Placeholder { prefix: c, suffix: d, .. },
        ) => {
            (a.starts_with(&**c) || c.starts_with(&**a)) && (b.ends_with(&**d) || d.ends_with(&**b))
        }
        _ => true,
    }
}

fn forms<'p>(pattern: &'p Pattern, locales: &Locales) -> Vec<Form<'p>> {
    match pattern.segments.last() {
        Some(Segment::CatchAll(placeholder)) if placeholder.constraint.is_some() => {
            let samples = texts(pattern, pattern.segments.len() - 1, locales).texts;
            let cut = |text: String| text.split('/').map(str::to_owned).collect();
            samples.into_iter().map(|text| Form { pattern, tail: Some(cut(text)) }).collect()
        }
        _ => vec![Form { pattern, tail: None }],
    }
}

impl Form<'_> {
    /// How many segments it has, and whether more may follow.
    fn length(&self) -> (usize, bool) {
        let segments = &self.pattern.segments;
        match &self.tail {
            Some(tail) => (segments.len() - 1 + tail.len(), false),
            None => (segments.len(), matches!(segments.last(), Some(Segment::CatchAll(_)))),
        }
    }

    /// Texts for the segment at `at` of a path.
    fn suggest(&self, at: usize, locales: &Locales) -> Vec<String> {
        let last = self.pattern.segments.len().saturating_sub(1);
        match &self.tail {
            Some(tail) if at >= last => vec![tail[at - last].clone()],
            _ => texts(self.pattern, at.min(last), locales).texts,
        }
    }

    fn takes(&self, at: usize, text: &str, locales: &Locales) -> bool {
        let last = self.pattern.segments.len().saturating_sub(1);
        match &self.tail {
            Some(tail) if at >= last => tail[at - last] == text,
            _ if at > last => true,
            _ => takes_text(self.pattern, at, text, locales),
        }
    }

    /// Text that has to stand before and after the value.
    fn around(&self, at: usize) -> [&str; 2] {
        match self.pattern.segments.get(at) {
            Some(Segment::Placeholder { prefix, suffix, .. }) => [prefix, suffix],
            _ => ["", ""],
        }
    }
}

/// For each segment of a path of both the texts that both take; `None` when there are none.
fn meeting(one: &Form<'_>, other: &Form<'_>, locales: &Locales) -> Option<Vec<Vec<String>>> {
    let [(a, a_open), (b, b_open)] = [one.length(), other.length()];
    if (a < b && !a_open) || (b < a && !b_open) {
        return None;
    }
    let segment = |at| {
        let mut texts = one.suggest(at, locales);
        texts.extend(other.suggest(at, locales));
        texts.extend(blend(one.around(at), other.around(at)));
        texts.retain(|text| {
            let taken = one.takes(at, text, locales) && other.takes(at, text, locales);
            taken && is_segment(text)
        });
        (!texts.is_empty()).then_some(texts)
    };
    (0..a.max(b)).map(segment).collect()
}

/// Text that two mixed segments may both take: the longer text on each side.
fn blend([before, after]: [&str; 2], [other_before, other_after]: [&str; 2]) -> Vec<String> {
    let longer = |a: &str, b: &str| if a.len() > b.len() { a.to_owned() } else { b.to_owned() };
    let [before, after] = [longer(before, other_before), longer(after, other_after)];
    ["x", "2024", "01"].map(|value| format!("{before}{value}{after}")).to_vec()
}

/// The first text of every segment, then another one in one segment, then others in all of them.
fn paths(segments: &[Vec<String>]) -> Vec<String> {
    let most = segments.iter().map(Vec::len).max().unwrap_or(1);
    let one_other = segments.iter().enumerate().flat_map(|(at, texts)| {
        (1..texts.len()).map(move |nth| path(segments, |other| if other == at { nth } else { 0 }))
    });
    let first = std::iter::once(path(segments, |_| 0));
    let in_step = (1..most).map(|nth| path(segments, |_| nth));
    first.chain(one_other.take(MAX_EXAMPLES)).chain(in_step.take(MAX_EXAMPLES)).collect()
}

fn path(segments: &[Vec<String>], choice: impl Fn(usize) -> usize) -> String {
    let text = |(at, texts): (usize, &Vec<String>)| {
        format!("/{}", encode(&texts[choice(at) % texts.len()]))
    };
    let path: String = segments.iter().enumerate().map(text).collect();
    if path.is_empty() { "/".to_owned() } else { path }
}

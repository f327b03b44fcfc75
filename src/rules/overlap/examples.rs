//! Paths that two patterns both match.

use std::rc::Rc;

use super::budget::SearchBudget;
use super::path_shape::{Form, forms, pattern_of};
use super::samples::is_segment;
use crate::rules::encode::encode;
use crate::rules::matching::Pattern;
use crate::rules::template::Segment;

/// So many paths of each kind are tried for one pair before a third rule is believed to take them
/// all: enough for the days of a month.
const MAX_EXAMPLES: usize = 32;
/// Paths that match both, in their normal form; nearly all of them do, and the caller checks.
pub(super) fn examples<'p>(
    looks: &'p SearchBudget<'_>,
    one: usize,
    other: usize,
) -> impl Iterator<Item = String> + 'p {
    looks.spend(1);
    let meet = may_meet(looks.pattern(one), looks.pattern(other));
    let tails = if meet { shared_tails(looks, one, other) } else { Rc::default() };
    let ones = if meet { forms(looks, one, &tails) } else { Vec::new() };
    let both = ones.into_iter().flat_map(move |one| {
        let others = forms(looks, other, &tails);
        others.into_iter().filter_map(move |other| meeting(&one, &other, looks))
    });
    let paths = both.flat_map(|segments| paths(&segments)).take(2 * MAX_EXAMPLES);
    paths.inspect(|_| looks.spend(1))
}

/// What two catch-alls with patterns both take.
fn shared_tails(looks: &SearchBudget<'_>, one: usize, other: usize) -> Rc<[String]> {
    let last = |at: usize| match looks.pattern(at).segments.last() {
        Some(segment @ Segment::CatchAll(_)) => pattern_of(segment),
        _ => None,
    };
    let [a, b] = [one, other].map(|at| looks.pattern(at).segments.len());
    match (last(one), last(other)) {
        (Some(one), Some(other)) if a == b => looks.shared(one, other, true),
        _ => Rc::default(),
    }
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

/// For each segment of a path of both the texts that both take; `None` when there are none.
fn meeting(one: &Form<'_>, other: &Form<'_>, looks: &SearchBudget<'_>) -> Option<Vec<Vec<String>>> {
    let [(a, a_open), (b, b_open)] = [one.length(), other.length()];
    if (a < b && !a_open) || (b < a && !b_open) {
        return None;
    }
    let count = a.max(b);
    let segment =
        |at| Some(common([one, other], at, count, looks)).filter(|texts| !texts.is_empty());
    (0..count).map(segment).collect()
}

/// Texts that both take there: those of the one that has the fewest, where all are known.
fn common(forms: [&Form<'_>; 2], at: usize, count: usize, looks: &SearchBudget<'_>) -> Vec<String> {
    let [one, other] = forms;
    let (few, by) = match (one.all(at), other.all(at)) {
        (Some(few), Some(many)) if few.texts.len() <= many.texts.len() => (few, other),
        (Some(few), None) => (few, other),
        (_, Some(few)) => (few, one),
        (None, None) => return sampled(forms, at, count, looks),
    };
    looks.spend(few.texts.len());
    let both = few.texts.iter().filter(|text| by.takes(at, count, text));
    both.take(2 * MAX_EXAMPLES).cloned().collect()
}

/// Of the texts that each suggests, and of those between, the ones that both take.
fn sampled(
    forms: [&Form<'_>; 2],
    at: usize,
    count: usize,
    looks: &SearchBudget<'_>,
) -> Vec<String> {
    let suggested = forms.iter().flat_map(|form| form.suggest(at));
    let mut texts: Vec<String> = suggested.map(str::to_owned).collect();
    let [around, other_around] = forms.map(|form| form.around(at));
    texts.extend(blend(around, other_around));
    let patterns = forms.map(|form| form.value_pattern(at, count));
    if let ([Some(one), Some(other)], true) = (patterns, around == other_around) {
        let shared = looks.shared(one, other, false);
        texts.extend(shared.iter().map(|value| [around[0], value, around[1]].concat()));
    }
    texts.retain(|text| forms.iter().all(|form| form.takes(at, count, text)) && is_segment(text));
    texts
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

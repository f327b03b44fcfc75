//! Paths that two patterns both match.

use super::looks::Looks;
use super::sample::{Taken, is_segment};
use crate::rules::encode::encode;
use crate::rules::locale::Locales;
use crate::rules::matcher::takes_text;
use crate::rules::pattern::Pattern;
use crate::rules::template::Segment;

/// So many paths of each kind are tried for one pair before a third rule is believed to take them
/// all: enough for the days of a month.
const MAX_EXAMPLES: usize = 32;
/// Whatever a catch-all may start with.
const ANY: [&str; 2] = ["x", "x-1"];

/// What a pattern wants of the paths of one form: texts for each segment, and whether more may
/// follow.
struct Form<'p> {
    pattern: &'p Pattern,
    taken: &'p [Taken],
    locales: &'p Locales,
    /// A catch-all with a constraint also has its samples, cut into segments.
    tail: Option<Vec<&'p str>>,
}

/// Paths that match both, in their normal form; nearly all of them do, and the caller checks.
pub(super) fn examples<'p>(
    looks: &'p Looks<'_>,
    one: usize,
    other: usize,
) -> impl Iterator<Item = String> + 'p {
    looks.spend(1);
    let meet = may_meet(looks.pattern(one), looks.pattern(other));
    let ones = if meet { forms(looks, one) } else { Vec::new() };
    let both = ones.into_iter().flat_map(move |one| {
        let others = forms(looks, other);
        others.into_iter().filter_map(move |other| meeting(&one, &other, looks))
    });
    let paths = both.flat_map(|segments| paths(&segments)).take(2 * MAX_EXAMPLES);
    paths.inspect(|_| looks.spend(1))
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

fn forms<'p>(looks: &'p Looks<'_>, at: usize) -> Vec<Form<'p>> {
    let (pattern, taken, locales) = (looks.pattern(at), looks.taken(at), looks.locales());
    let form = |tail| Form { pattern, taken, locales, tail };
    match (pattern.segments.last(), taken.last()) {
        (Some(Segment::CatchAll(placeholder)), Some(Taken { texts, .. }))
            if placeholder.constraint.is_some() =>
        {
            let cut = |text: &'p String| form(Some(text.split('/').collect()));
            texts.iter().map(cut).collect()
        }
        _ => vec![form(None)],
    }
}

impl<'p> Form<'p> {
    /// How many segments it has, and whether more may follow.
    fn length(&self) -> (usize, bool) {
        let segments = &self.pattern.segments;
        match &self.tail {
            Some(tail) => (segments.len() - 1 + tail.len(), false),
            None => (segments.len(), matches!(segments.last(), Some(Segment::CatchAll(_)))),
        }
    }

    /// The segment of the pattern that is before the one at `at` of a path, if it is no catch-all.
    fn single(&self, at: usize) -> Option<&'p Segment> {
        let segment = self.pattern.segments.get(at);
        segment.filter(|segment| !matches!(segment, Segment::CatchAll(_)))
    }

    /// All texts for the segment at `at` of a path, where they are known.
    fn all(&self, at: usize) -> Option<&'p Taken> {
        self.single(at)?;
        Some(&self.taken[at]).filter(|taken| taken.all.is_some())
    }

    /// Texts for the segment at `at` of a path.
    fn suggest(&self, at: usize) -> Vec<&'p str> {
        match &self.tail {
            _ if self.single(at).is_some() => {
                self.taken[at].texts.iter().map(String::as_str).collect()
            }
            Some(tail) => vec![tail[at + 1 - self.pattern.segments.len()]],
            None => ANY.to_vec(),
        }
    }

    fn takes(&self, at: usize, text: &str) -> bool {
        if let Some(all) = self.all(at).and_then(|taken| taken.all.as_ref()) {
            return all.contains(text);
        }
        let last = self.pattern.segments.len() - 1;
        match &self.tail {
            _ if at < last => takes_text(self.pattern, at, text, self.locales),
            Some(tail) => tail[at - last] == text,
            _ if at > last => true,
            None => takes_text(self.pattern, at, text, self.locales),
        }
    }

    /// Text that has to stand before and after the value.
    fn around(&self, at: usize) -> [&'p str; 2] {
        match self.pattern.segments.get(at) {
            Some(Segment::Placeholder { prefix, suffix, .. }) => [prefix, suffix],
            _ => ["", ""],
        }
    }
}

/// For each segment of a path of both the texts that both take; `None` when there are none.
fn meeting(one: &Form<'_>, other: &Form<'_>, looks: &Looks<'_>) -> Option<Vec<Vec<String>>> {
    let [(a, a_open), (b, b_open)] = [one.length(), other.length()];
    if (a < b && !a_open) || (b < a && !b_open) {
        return None;
    }
    let segment = |at| Some(common(one, other, at, looks)).filter(|texts| !texts.is_empty());
    (0..a.max(b)).map(segment).collect()
}

/// Texts that both take there: those of the one that has the fewest, where all are known.
fn common(one: &Form<'_>, other: &Form<'_>, at: usize, looks: &Looks<'_>) -> Vec<String> {
    let (few, by) = match (one.all(at), other.all(at)) {
        (Some(few), Some(many)) if few.texts.len() <= many.texts.len() => (few, other),
        (Some(few), None) => (few, other),
        (_, Some(few)) => (few, one),
        (None, None) => return sampled(one, other, at),
    };
    looks.spend(few.texts.len());
    let both = few.texts.iter().filter(|text| by.takes(at, text));
    both.take(2 * MAX_EXAMPLES).cloned().collect()
}

/// Of the texts that each suggests, and of those between, the ones that both take.
fn sampled(one: &Form<'_>, other: &Form<'_>, at: usize) -> Vec<String> {
    let mut texts: Vec<String> = one.suggest(at).into_iter().map(str::to_owned).collect();
    texts.extend(other.suggest(at).into_iter().map(str::to_owned));
    texts.extend(blend(one.around(at), other.around(at)));
    texts.retain(|text| one.takes(at, text) && other.takes(at, text) && is_segment(text));
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

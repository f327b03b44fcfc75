//! What one pattern wants of the paths that have one number of segments.

use super::budget::SearchBudget;
use super::samples::Taken;
use crate::rules::constraint::{Constraint, ValuePattern};
use crate::rules::locale::Locales;
use crate::rules::matching::{Pattern, takes_text};
use crate::rules::template::Segment;

/// Whatever a catch-all may start with.
const ANY: [&str; 2] = ["x", "x-1"];

/// What a pattern wants of the paths of one form: texts for each segment, and whether more may
/// follow.
pub(super) struct Form<'p> {
    pattern: &'p Pattern,
    taken: &'p [Taken],
    locales: &'p Locales,
    /// One value of a catch-all with a constraint, cut into segments. Without, its constraint is
    /// only looked at where it takes one segment, and the caller checks the rest.
    tail: Option<Vec<String>>,
}

/// With these tails too, where it has a catch-all with a constraint.
pub(super) fn forms<'p>(looks: &'p SearchBudget<'_>, at: usize, tails: &[String]) -> Vec<Form<'p>> {
    let (pattern, taken, locales) = (looks.pattern(at), looks.taken(at), looks.locales());
    let form = |tail| Form { pattern, taken, locales, tail };
    let mut forms = vec![form(None)];
    if let (Some(Segment::CatchAll(placeholder)), Some(taken)) =
        (pattern.segments.last(), taken.last())
        && placeholder.constraint.is_some()
    {
        let cut = |text: &String| form(Some(text.split('/').map(str::to_owned).collect()));
        forms.extend(tails.iter().chain(&taken.texts).map(cut));
    }
    forms
}

impl<'p> Form<'p> {
    /// How many segments it has, and whether more may follow.
    pub(super) fn length(&self) -> (usize, bool) {
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
    pub(super) fn all(&self, at: usize) -> Option<&'p Taken> {
        self.single(at)?;
        Some(&self.taken[at]).filter(|taken| taken.all.is_some())
    }

    /// Texts for the segment at `at` of a path.
    pub(super) fn suggest(&self, at: usize) -> Vec<&str> {
        match &self.tail {
            _ if self.single(at).is_some() => {
                self.taken[at].texts.iter().map(String::as_str).collect()
            }
            Some(tail) => vec![&tail[at + 1 - self.pattern.segments.len()]],
            None => ANY.to_vec(),
        }
    }

    /// Whether it takes this text there, in a path of so many segments.
    pub(super) fn takes(&self, at: usize, count: usize, text: &str) -> bool {
        if let Some(all) = self.all(at).and_then(|taken| taken.all.as_ref()) {
            return all.contains(text);
        }
        let last = self.pattern.segments.len() - 1;
        match &self.tail {
            _ if at < last => takes_text(self.pattern, at, text, self.locales),
            Some(tail) => tail[at - last] == text,
            None if count == last + 1 => takes_text(self.pattern, at, text, self.locales),
            None => self.pattern.bare_at != Some(at) || self.locales.get(text).is_none(),
        }
    }

    /// The pattern that the whole value has to match, if that is this segment alone.
    pub(super) fn value_pattern(&self, at: usize, count: usize) -> Option<&'p ValuePattern> {
        let alone = self.tail.is_none() && count == self.pattern.segments.len();
        let segment = self.single(at).or(self.pattern.segments.last().filter(|_| alone));
        segment.and_then(pattern_of)
    }

    /// Text that has to stand before and after the value.
    pub(super) fn around(&self, at: usize) -> [&'p str; 2] {
        match self.pattern.segments.get(at) {
            Some(Segment::Placeholder { prefix, suffix, .. }) => [prefix, suffix],
            _ => ["", ""],
        }
    }
}

/// The pattern that the placeholder's value has to match.
pub(super) fn pattern_of(segment: &Segment) -> Option<&ValuePattern> {
    match &segment.placeholder()?.constraint {
        Some(Constraint::Pattern(pattern)) => Some(pattern),
        _ => None,
    }
}

//! A span of a pattern: one segment, or all segments from one on.

use std::borrow::Cow;

use smallvec::{SmallVec, smallvec};

use super::automaton::{Automaton, Segment as SegmentAutomaton, TextCondition};
use super::values::{Texts, patterns, values};
use crate::constraint::{Constraint, ValuePattern};
use crate::locale::Locales;
use crate::matching::{Pattern, matches_text};
use crate::template::{DatePart, Placeholder, Segment, Source};

/// One segment of a pattern, or all segments from one on.
#[derive(Clone, Copy)]
pub(super) struct Span<'r> {
    pattern: &'r Pattern,
    locales: &'r Locales,
    at: usize,
    /// Whether the span extends to the end of the pathname. Its texts are then segments joined by
    /// `/`.
    rest: bool,
}

/// Spans with equal keys match the same texts.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct Key<'r> {
    around: [&'r str; 2],
    patterns: SmallVec<[&'r ValuePattern; 2]>,
    /// Whether the text must not be the segment of a locale of the site.
    no_locale: bool,
}

impl<'r> Span<'r> {
    /// One segment. Behind the last segment of a pattern with a catch-all it matches everything.
    pub(super) fn one(pattern: &'r Pattern, at: usize, locales: &'r Locales) -> Self {
        Self { pattern, locales, at, rest: false }
    }

    /// All segments from this one on.
    fn rest(pattern: &'r Pattern, at: usize, locales: &'r Locales) -> Self {
        Self { pattern, locales, at, rest: true }
    }

    /// The span of another pattern for the same segments of a path; `None` when that pattern has no
    /// such span.
    pub(super) fn of(&self, pattern: &'r Pattern) -> Option<Self> {
        let last = pattern.segments.len().checked_sub(1)?;
        let bound = constrained_catch_all(pattern).is_some_and(|tail| self.at >= tail);
        let fits = (self.at <= last || is_open(pattern)) && (self.rest || !bound);
        fits.then_some(Self { pattern, ..*self })
    }

    fn segment(&self) -> Option<&'r Segment> {
        self.pattern.segments.get(self.at)
    }

    /// Whether the span matches this text, given that a pathname can have it.
    pub(super) fn accepts(&self, text: &str) -> bool {
        if self.rest { self.accepts_rest(text) } else { self.accepts_at(self.at, text) }
    }

    fn accepts_at(&self, at: usize, text: &str) -> bool {
        at >= self.pattern.segments.len() || matches_text(self.pattern, at, text, self.locales)
    }

    fn accepts_rest(&self, text: &str) -> bool {
        let count = self.pattern.segments.len();
        let mut rest = Some(text);
        for at in self.at..count {
            let Some(text) = rest else {
                return false;
            };
            let (own, behind) = match &self.pattern.segments[at] {
                Segment::CatchAll(_) => (text, None),
                _ => text.split_once('/').map_or((text, None), |(own, rest)| (own, Some(rest))),
            };
            if !self.accepts_at(at, own) {
                return false;
            }
            rest = behind;
        }
        rest.is_none() || self.at >= count
    }

    /// All texts that the span matches, if they can be listed.
    pub(super) fn texts(&self) -> Option<Texts<'r>> {
        if self.rest && self.at + 1 != self.pattern.segments.len() {
            return None;
        }
        let segment = self.segment()?;
        let Segment::Static(text) = segment else {
            let values = values(segment.placeholder()?, self.locales)?;
            let around = |value: Cow<'r, str>| match segment.around() {
                ["", ""] => value,
                [before, after] => [before, &value, after].concat().into(),
            };
            let texts = values.into_iter().map(around);
            return Some(texts.filter(|text| self.is_text(text)).collect());
        };
        Some(smallvec![Cow::Borrowed(text.as_str())])
    }

    /// Whether a pathname can have this text and the span matches it.
    pub(super) fn is_text(&self, text: &str) -> bool {
        let one = self.rest || !text.contains('/');
        one && text.split('/').all(is_segment) && self.accepts(text)
    }

    /// The text before and after the value.
    pub(super) fn around(&self) -> [&'r str; 2] {
        self.segment().map_or(["", ""], Segment::around)
    }

    pub(super) fn is_rest(&self) -> bool {
        self.rest
    }

    /// A text made of a likely example for each segment, if the span matches it.
    pub(super) fn plain_path(&self) -> Option<String> {
        let text = |at: usize| {
            let own = Self { at, rest: false, ..*self };
            let first = own.texts().map(|texts| texts.first().map(ToString::to_string));
            let [before, after] = own.around();
            first.unwrap_or_else(|| Some([before, "x", after].concat()))
        };
        let end = self.pattern.segments.len().max(self.at + 1);
        let texts: Option<Vec<String>> = (self.at..end).map(text).collect();
        texts.map(|texts| texts.join("/")).filter(|text| self.is_text(text))
    }

    /// Whether its value has to match a value pattern of the settings.
    pub(super) fn has_pattern(&self) -> bool {
        let placeholder = self.segment().and_then(Segment::placeholder);
        placeholder.is_some_and(|p| matches!(p.constraint, Some(Constraint::Pattern(_))))
    }

    /// Whether its value is a year.
    pub(super) fn is_year(&self) -> bool {
        let placeholder = self.segment().and_then(Segment::placeholder);
        placeholder.is_some_and(|p| matches!(p.source, Source::Date(_, DatePart::Year)))
    }

    /// The text of a static segment.
    pub(super) fn static_text(&self) -> Option<&'r str> {
        match self.segment() {
            Some(Segment::Static(text)) if !self.rest => Some(text),
            _ => None,
        }
    }

    /// The identity of a span that is one segment.
    pub(super) fn place(&self) -> [usize; 2] {
        [std::ptr::from_ref(self.pattern).addr(), self.at]
    }

    /// Whether the settings list its values.
    pub(super) fn has_values(&self) -> bool {
        let placeholder = self.segment().and_then(Segment::placeholder);
        placeholder.is_some_and(|p| matches!(p.constraint, Some(Constraint::Values(_))))
    }

    /// All texts that the span matches, if the settings list its values.
    pub(super) fn value_texts(&self) -> Option<Texts<'r>> {
        if self.has_values() { self.texts() } else { None }
    }

    /// Whether the span matches every text.
    pub(super) fn is_free(&self) -> bool {
        let free = |placeholder: &Placeholder| {
            placeholder.constraint.is_none()
                && !matches!(placeholder.source, Source::Locale | Source::Date(..))
        };
        let last = !self.rest || self.at + 1 >= self.pattern.segments.len();
        let placeholder = self.segment().map(Segment::placeholder);
        last && self.around() == ["", ""]
            && placeholder.is_none_or(|placeholder| placeholder.is_some_and(free))
            && self.pattern.locale_omitted_at != Some(self.at)
            && (!self.rest || is_open(self.pattern))
    }

    /// The key of a span that is one segment, unless its texts can be listed.
    pub(super) fn key(&self) -> Option<Key<'r>> {
        let placeholder = match self.segment() {
            None => None,
            Some(segment) => Some(segment.placeholder()?),
        };
        if self.rest || placeholder.is_some_and(|p| values(p, self.locales).is_some()) {
            return None;
        }
        let patterns = placeholder.map(patterns).unwrap_or_default();
        let no_locale = self.pattern.locale_omitted_at == Some(self.at);
        Some(Key { around: self.around(), patterns, no_locale })
    }

    /// The automaton that accepts the texts of the span, among those that a pathname can have.
    pub(super) fn automaton(&self) -> Automaton<'r> {
        let end = if self.rest { self.pattern.segments.len() } else { self.at + 1 };
        let segments: Vec<_> =
            (self.at..end.max(self.at + 1)).map(|at| self.segment_automaton(at)).collect();
        Automaton::new(segments, self.rest && is_open(self.pattern))
    }

    fn segment_automaton(&self, at: usize) -> SegmentAutomaton<'r> {
        let mut automaton = SegmentAutomaton::default();
        let Some(segment) = self.pattern.segments.get(at) else {
            return automaton;
        };
        if self.pattern.locale_omitted_at == Some(at) {
            let mut segments: Vec<_> =
                self.locales.as_slice().iter().map(|locale| locale.segment().into()).collect();
            segments.sort_unstable();
            automaton.conditions.push(TextCondition::NoneOf(segments));
        }
        let of_one = Self { at, rest: matches!(segment, Segment::CatchAll(_)), ..*self };
        if let Some(texts) = of_one.texts() {
            let mut texts = texts.into_vec();
            texts.sort_unstable();
            texts.dedup();
            automaton.conditions.push(TextCondition::OneOf(texts));
            return automaton;
        }
        let around = segment.around();
        let patterns = segment.placeholder().map(patterns).unwrap_or_default();
        for pattern in &patterns {
            automaton.conditions.push(TextCondition::Value { around, pattern: Some(pattern) });
            automaton.chars =
                automaton.chars.or(pattern.char_count().map(|bounds| counted(bounds, around)));
        }
        if patterns.is_empty() {
            automaton.conditions.push(TextCondition::Value { around, pattern: None });
        }
        automaton
    }
}

/// Converts bounds on the characters of a value to bounds on those of the segment.
fn counted([least, most]: [u32; 2], around: [&str; 2]) -> [u32; 2] {
    let more = around.iter().map(|text| text.chars().count()).sum::<usize>();
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    [least.saturating_add(more), most.saturating_add(more)]
}

/// Pairs the spans of two patterns that match the same segments of a path, from left to right.
/// `None` when no path has a number of segments that both match.
pub(super) fn side_by_side<'r>(
    patterns: [&'r Pattern; 2],
    locales: &'r Locales,
) -> Option<Vec<[Span<'r>; 2]>> {
    let [a, b] = patterns.map(|pattern| pattern.segments.len());
    let one = |at: usize| patterns.map(|pattern| Span::one(pattern, at, locales));
    // A constraint on a catch-all applies to the whole rest of the path.
    let tail = patterns.iter().filter_map(|pattern| constrained_catch_all(pattern)).min();
    if let Some(tail) = tail {
        let reaches = patterns.iter().all(|p| p.segments.len() > tail || is_open(p));
        let rest = patterns.map(|pattern| Span::rest(pattern, tail, locales));
        return reaches.then(|| (0..tail).map(one).chain([rest]).collect());
    }
    let [a_open, b_open] = patterns.map(is_open);
    let lengths = (a >= b || a_open) && (b >= a || b_open);
    lengths.then(|| (0..a.max(b)).map(one).collect())
}

/// Whether the last segment is a catch-all.
pub(super) fn is_open(pattern: &Pattern) -> bool {
    matches!(pattern.segments.last(), Some(Segment::CatchAll(_)))
}

fn constrained_catch_all(pattern: &Pattern) -> Option<usize> {
    match pattern.segments.last() {
        Some(Segment::CatchAll(Placeholder { constraint: Some(_), .. })) => {
            Some(pattern.segments.len() - 1)
        }
        _ => None,
    }
}

/// Whether the last segment is a catch-all with a constraint.
pub(super) fn has_constrained_catch_all(pattern: &Pattern) -> bool {
    constrained_catch_all(pattern).is_some()
}

/// Whether a pathname can have this segment (D7).
fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(|c: char| c == '\\' || c.is_control())
}

//! The texts that the segments of patterns match. Segments that match the same texts have one
//! number, so what is found out about two of them is known for all patterns.

use std::borrow::Cow;
use std::sync::LazyLock;

use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::constraint::{Constraint, ValuePattern};
use crate::locale::Locales;
use crate::matching::{Pattern, ValueConditions, matches_text};
use crate::template::{DatePart, Placeholder, Segment, Source};

static YEAR: LazyLock<ValuePattern> =
    LazyLock::new(|| ValuePattern::new("[0-9]{4}").expect("a valid pattern"));

/// The number of a set of texts.
pub(super) type SetId = u32;

/// All texts.
const FREE: SetId = 0;

/// The sets of texts of all patterns.
pub(super) struct TextSets<'r> {
    pub(super) patterns: &'r [Pattern],
    pub(super) locales: &'r Locales,
    all: Vec<TextSet<'r>>,
    /// For each pattern, those of its segments.
    by_pattern: Vec<Vec<SetId>>,
}

/// The texts that a segment matches.
pub(super) struct TextSet<'r> {
    /// The first such segment, as pattern and position; `None` for all texts.
    segment: Option<(&'r Pattern, usize)>,
    /// The texts, if they can be listed.
    pub(super) listed: Option<Vec<Cow<'r, str>>>,
}

/// Segments with equal keys match the same texts.
#[derive(Default, PartialEq, Eq, Hash)]
struct Key<'r> {
    static_text: Option<&'r str>,
    around: [&'r str; 2],
    conditions: ValueConditions<'r>,
    /// Whether it is a catch-all with a constraint, which applies to segments joined by `/`.
    is_joined: bool,
}

/// One segment of a pattern, or all segments from one on.
#[derive(Clone, Copy)]
pub(super) struct Span<'s> {
    pub(super) sets: &'s [SetId],
    /// Whether it extends to the end of the pathname. Its texts are then segments joined by `/`.
    pub(super) is_rest: bool,
    /// Whether its last segment is a catch-all.
    pub(super) is_open: bool,
}

impl<'r> TextSets<'r> {
    pub(super) fn new(patterns: &'r [Pattern], locales: &'r Locales) -> Self {
        let mut all = vec![TextSet { segment: None, listed: None }];
        let mut known = FxHashMap::from_iter([(Key::default(), FREE)]);
        let mut set = |pattern: &'r Pattern, at: usize| {
            *known.entry(Key::of(pattern, at)).or_insert_with(|| {
                let listed = listed(pattern, at, locales);
                all.push(TextSet { segment: Some((pattern, at)), listed });
                SetId::try_from(all.len() - 1).expect("fewer segments than 4 billion")
            })
        };
        let mut sets =
            |pattern: &'r Pattern| (0..pattern.segments.len()).map(|at| set(pattern, at)).collect();
        let by_pattern = patterns.iter().map(&mut sets).collect();
        Self { patterns, locales, all, by_pattern }
    }

    pub(super) fn get(&self, id: SetId) -> &TextSet<'r> {
        &self.all[id as usize]
    }

    pub(super) fn accepts_text(&self, id: SetId, text: &str) -> bool {
        let segment = self.get(id).segment;
        segment.is_none_or(|(pattern, at)| matches_text(pattern, at, text, self.locales))
    }

    /// The sets of a pattern's segments.
    pub(super) fn of(&self, pattern: usize) -> &[SetId] {
        &self.by_pattern[pattern]
    }

    /// The segment at this position of a path that the pattern matches, or all from there on. `None`
    /// when its paths are shorter, or when a constraint applies to more than the one segment.
    pub(super) fn span(&self, pattern: usize, at: usize, is_rest: bool) -> Option<Span<'_>> {
        let (sets, of) = (self.of(pattern), &self.patterns[pattern]);
        if !is_rest && constrained_catch_all(of).is_some_and(|tail| at >= tail) {
            return None;
        }
        let is_open = is_rest && is_open(of);
        match sets.get(at..) {
            Some([own, ..]) if !is_rest => {
                Some(Span { sets: std::slice::from_ref(own), is_rest, is_open })
            }
            Some(sets @ [_, ..]) => Some(Span { sets, is_rest, is_open }),
            _ => self::is_open(of).then_some(Span { sets: &[FREE], is_rest, is_open }),
        }
    }

    /// Pairs the spans of two patterns that match the same segments of a path, from left to right.
    /// `None` when no path has a number of segments that both match.
    pub(super) fn side_by_side(&self, pair: [usize; 2]) -> Option<Vec<[Span<'_>; 2]>> {
        let patterns = pair.map(|at| &self.patterns[at]);
        // A constraint on a catch-all applies to the whole rest of the path.
        let tail = patterns.iter().filter_map(|pattern| constrained_catch_all(pattern)).min();
        let count = tail.unwrap_or(patterns[0].segments.len().max(patterns[1].segments.len()));
        let places = (0..count).map(|at| (at, false)).chain(tail.map(|tail| (tail, true)));
        let both = |(at, is_rest)| {
            Some([self.span(pair[0], at, is_rest)?, self.span(pair[1], at, is_rest)?])
        };
        places.map(both).collect()
    }

    /// Whether a span matches this text, given that a pathname can have it.
    pub(super) fn accepts(&self, span: Span<'_>, text: &str) -> bool {
        let mut left = Some(text);
        for (nth, id) in span.sets.iter().enumerate() {
            let Some(text) = left else { return false };
            let is_whole = !span.is_rest || (span.is_open && nth + 1 == span.sets.len());
            let (own, behind) = match text.split_once('/').filter(|_| !is_whole) {
                Some((own, behind)) => (own, Some(behind)),
                None => (text, None),
            };
            if !self.accepts_text(*id, own) {
                return false;
            }
            left = behind;
        }
        left.is_none()
    }

    /// Whether a span matches every text.
    pub(super) fn is_free(span: Span<'_>) -> bool {
        span.sets == [FREE] && span.is_rest == span.is_open
    }

    /// All texts of a span, if they can be listed.
    pub(super) fn listed(&self, span: Span<'_>) -> Option<&[Cow<'r, str>]> {
        match span.sets {
            [id] => self.get(*id).listed.as_deref(),
            _ => None,
        }
    }
}

impl<'r> TextSet<'r> {
    /// The text before and after the value.
    pub(super) fn around(&self) -> [&'r str; 2] {
        self.segment.map_or(["", ""], |(pattern, at)| pattern.segments[at].around())
    }

    /// Whether the text must not be the segment of a locale of the site, up to the first `/`.
    pub(super) fn is_no_locale(&self) -> bool {
        self.segment.is_some_and(|(pattern, at)| pattern.locale_omitted_at == Some(at))
    }

    fn placeholder(&self) -> Option<&'r Placeholder> {
        self.segment.and_then(|(pattern, at)| pattern.segments[at].placeholder())
    }

    /// Whether its value has to match a value pattern of the settings.
    pub(super) fn has_pattern(&self) -> bool {
        self.placeholder().is_some_and(|p| matches!(p.constraint, Some(Constraint::Pattern(_))))
    }

    /// Whether its value is a year.
    pub(super) fn is_year(&self) -> bool {
        self.placeholder().is_some_and(|p| matches!(p.source, Source::Date(_, DatePart::Year)))
    }

    /// The value patterns that its value has to match.
    pub(super) fn patterns(&self) -> SmallVec<[&ValuePattern; 2]> {
        let of_settings = match self.placeholder().and_then(|p| p.constraint.as_ref()) {
            Some(Constraint::Pattern(pattern)) => Some(pattern),
            _ => None,
        };
        self.is_year().then(|| &*YEAR).into_iter().chain(of_settings).collect()
    }
}

impl<'r> Key<'r> {
    fn of(pattern: &'r Pattern, at: usize) -> Self {
        let segment = &pattern.segments[at];
        if let Segment::Static(text) = segment {
            return Self { static_text: Some(text), ..Self::default() };
        }
        let conditions = pattern.value_conditions(at);
        let is_joined = constrained_catch_all(pattern) == Some(at);
        Self { static_text: None, around: segment.around(), conditions, is_joined }
    }
}

/// The texts that a segment matches, if they can be listed.
fn listed<'r>(pattern: &'r Pattern, at: usize, locales: &'r Locales) -> Option<Vec<Cow<'r, str>>> {
    let segment = &pattern.segments[at];
    if let Segment::Static(text) = segment {
        return Some(vec![text.into()]);
    }
    let placeholder = segment.placeholder()?;
    let numbers = |most: u32| (1..=most).map(|number| format!("{number:02}").into()).collect();
    let values: Vec<Cow<'_, str>> = match (&placeholder.source, &placeholder.constraint) {
        (Source::Locale, _) => locales.as_slice().iter().map(|own| own.segment().into()).collect(),
        (_, Some(Constraint::Values(values))) => {
            values.sorted().into_iter().map(Cow::Borrowed).collect()
        }
        (Source::Date(_, DatePart::Month), _) => numbers(12),
        (Source::Date(_, DatePart::Day), _) => numbers(31),
        _ => return None,
    };
    let around = |value: Cow<'r, str>| match segment.around() {
        ["", ""] => value,
        [before, after] => [before, &value, after].concat().into(),
    };
    let is_joined = constrained_catch_all(pattern) == Some(at);
    let is_text = |text: &Cow<'_, str>| {
        (is_joined || !text.contains('/'))
            && text.split('/').all(is_segment)
            && matches_text(pattern, at, text, locales)
    };
    Some(values.into_iter().map(around).filter(is_text).collect())
}

/// Whether the last segment is a catch-all.
pub(super) fn is_open(pattern: &Pattern) -> bool {
    matches!(pattern.segments.last(), Some(Segment::CatchAll(_)))
}

/// The position of a catch-all with a constraint.
pub(super) fn constrained_catch_all(pattern: &Pattern) -> Option<usize> {
    match pattern.segments.last() {
        Some(Segment::CatchAll(Placeholder { constraint: Some(_), .. })) => {
            Some(pattern.segments.len() - 1)
        }
        _ => None,
    }
}

/// Whether a pathname can have this segment (D7).
fn is_segment(text: &str) -> bool {
    !matches!(text, "" | "." | "..") && !text.contains(|c: char| c == '\\' || c.is_control())
}

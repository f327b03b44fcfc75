//! The match table: for each pattern, its rule and where a match has its values and its locale.
//!
//! The data that a match needs is stored together, and equal lists of captures are stored once: with
//! 100,000 rules, cache misses dominate the cost of a look-up.

use std::fmt;

use rustc_hash::FxHashMap;

use super::pattern::Pattern;
use crate::locale::{Locale, Locales, SiteLocale};
use crate::pathname::Pathname;
use crate::template::Segment;

/// One entry for each pattern, in the order of evaluation.
#[derive(Clone, Debug)]
pub(super) struct MatchTable {
    entries: Box<[Entry]>,
    captures: Box<[Capture]>,
    names: Box<[Box<str>]>,
    /// Builder of locales that share a template.
    shared: Box<[Vec<Locale>]>,
}

#[derive(Clone, Debug)]
struct Entry {
    rule: u32,
    /// The range of its captures.
    captures: [u32; 2],
    locale: PathLocale,
}

/// Where the locale of a pathname comes from.
#[derive(Clone, Copy, Debug)]
enum PathLocale {
    /// The pathname has none.
    None,
    /// The pattern is for one locale: its position among the site's.
    Fixed(u16),
    /// The pattern is for several locales: an index into `shared`.
    OneOf(u32),
    /// This capture has its segment.
    Captured(u16),
    /// This capture has its segment, and the pattern is for one locale: its position among the site's.
    OwnCaptured(u16, u16),
}

/// A placeholder and where a pathname has its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Capture {
    name: u32,
    segment: u32,
    /// The bytes of text before and after the value.
    around: [u32; 2],
    /// Whether the value is all the rest of the pathname.
    rest: bool,
}

/// The placeholders of a match, from left to right, with their values. The value of `{locale}` is the
/// code; the others are slices of the pathname, computed on demand.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    captures: &'a [Capture],
    names: &'a [Box<str>],
    pathname: &'a Pathname<'a>,
    /// The value of `{locale}`, whose segment in the pathname may differ from its code.
    locale: Option<CapturedLocale<'a>>,
}

/// The locale that a pathname has, and which capture has its segment.
#[derive(Clone, Copy)]
struct CapturedLocale<'a> {
    at: usize,
    code: &'a str,
}

/// The data of a match.
pub(super) struct MatchData<'a> {
    pub(super) rule: usize,
    pub(super) params: Params<'a>,
    pub(super) locale: Option<&'a SiteLocale>,
    pub(super) shared: &'a [Locale],
}

/// Builds a [`MatchTable`].
#[derive(Default)]
struct Builder {
    all: Vec<Capture>,
    known: FxHashMap<Vec<Capture>, [u32; 2]>,
    names: Vec<Box<str>>,
    name_ids: FxHashMap<Box<str>, u32>,
    shared: Vec<Vec<Locale>>,
}

impl MatchTable {
    /// Takes the patterns in the order of evaluation.
    pub(super) fn new(patterns: &[Pattern], locales: &Locales) -> Self {
        let mut builder = Builder::default();
        let entries = patterns.iter().map(|pattern| builder.entry(pattern, locales)).collect();
        let Builder { all: captures, names, shared, .. } = builder;
        Self { entries, captures: captures.into(), names: names.into(), shared: shared.into() }
    }

    /// The match of a pathname that the pattern at this position matches.
    #[inline]
    pub(super) fn get<'a>(
        &'a self,
        position: usize,
        pathname: &'a Pathname<'_>,
        locales: &'a Locales,
    ) -> MatchData<'a> {
        let entry = &self.entries[position];
        let captures = &self.captures[entry.captures[0] as usize..entry.captures[1] as usize];
        let mut params = Params { captures, names: &self.names, pathname, locale: None };
        let locale = match entry.locale {
            PathLocale::None | PathLocale::OneOf(_) => None,
            PathLocale::Fixed(at) => locales.as_slice().get(usize::from(at)),
            PathLocale::Captured(at) => {
                let at = usize::from(at);
                let locale = locales.of_segment(captures[at].value(pathname));
                params.locale = locale.map(|own| CapturedLocale { at, code: own.as_str() });
                locale
            }
            PathLocale::OwnCaptured(at, own) => {
                let (at, locale) = (usize::from(at), locales.as_slice().get(usize::from(own)));
                params.locale = locale.map(|own| CapturedLocale { at, code: own.as_str() });
                locale
            }
        };
        let shared: &[Locale] = match entry.locale {
            PathLocale::OneOf(at) => &self.shared[at as usize],
            _ => &[],
        };
        MatchData { rule: entry.rule as usize, params, locale, shared }
    }
}

impl<'a> Params<'a> {
    /// No placeholders.
    pub(super) fn none(pathname: &'a Pathname<'a>) -> Self {
        Self { captures: &[], names: &[], pathname, locale: None }
    }

    /// Whether there is `{locale}`.
    pub fn has_locale(self) -> bool {
        self.locale.is_some()
    }

    /// These captures with another locale that has the segment.
    pub(super) fn with_locale(self, code: &'a str) -> Self {
        let locale = self.locale.map(|own| CapturedLocale { code, ..own });
        Self { locale, ..self }
    }

    /// The position of the segment with this placeholder.
    pub(super) fn segment_of(self, name: &str) -> Option<usize> {
        let own = self.captures.iter().find(|own| *self.names[own.name as usize] == *name)?;
        Some(own.segment as usize)
    }

    /// The placeholders as written and the decoded texts; a catch-all's segments joined by `/`, and
    /// the code of the locale.
    pub fn iter(self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
        let Self { captures, names, pathname, locale } = self;
        captures.iter().enumerate().map(move |(at, capture)| {
            let value = match locale {
                Some(locale) if locale.at == at => locale.code,
                _ => capture.value(pathname),
            };
            (&*names[capture.name as usize], value)
        })
    }
}

impl fmt::Debug for Params<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl PartialEq for Params<'_> {
    fn eq(&self, other: &Self) -> bool {
        self.iter().eq(other.iter())
    }
}

impl Eq for Params<'_> {}

impl Capture {
    fn value<'p>(&self, pathname: &'p Pathname<'_>) -> &'p str {
        let at = self.segment as usize;
        let text = pathname.text(at, if self.rest { pathname.count() } else { at + 1 });
        match self.around {
            [0, 0] => text,
            [before, after] => &text[before as usize..text.len() - after as usize],
        }
    }
}

impl Builder {
    fn entry(&mut self, pattern: &Pattern, locales: &Locales) -> Entry {
        let segments = pattern.segments.iter().enumerate();
        let list: Vec<Capture> =
            segments.filter_map(|(at, segment)| self.capture(at, segment)).collect();
        let is_locale = |capture: &Capture| &*self.names[capture.name as usize] == "locale";
        let from_path = list.iter().position(is_locale).map(PathLocale::captured);
        let locale = match (from_path, self.fixed_locale(&pattern.locales, locales)) {
            // Another locale may have the same segment on another host.
            (Some(PathLocale::Captured(at)), PathLocale::Fixed(own)) => {
                PathLocale::OwnCaptured(at, own)
            }
            (from_path, fixed) => from_path.unwrap_or(fixed),
        };
        let all = &mut self.all;
        let captures = *self.known.entry(list).or_insert_with_key(|list| {
            let start = number(all.len());
            all.extend(list);
            [start, number(all.len())]
        });
        Entry { rule: number(pattern.rule), captures, locale }
    }

    /// The locale of a pattern without `{locale}`.
    fn fixed_locale(&mut self, own: &[Locale], locales: &Locales) -> PathLocale {
        let one = |own: &Locale| u16::try_from(locales.position(own.as_str())?).ok();
        match own {
            [] => PathLocale::None,
            [own] => one(own).map_or(PathLocale::None, PathLocale::Fixed),
            more => {
                self.shared.push(more.to_vec());
                PathLocale::OneOf(number(self.shared.len() - 1))
            }
        }
    }

    fn capture(&mut self, at: usize, segment: &Segment) -> Option<Capture> {
        let name = &*segment.placeholder()?.name;
        let known = self.name_ids.get(name).copied();
        let name = known.unwrap_or_else(|| {
            let id = number(self.names.len());
            self.names.push(name.into());
            self.name_ids.insert(name.into(), id);
            id
        });
        let around = match segment {
            Segment::Placeholder { prefix, suffix, .. } => [prefix.len(), suffix.len()],
            _ => [0, 0],
        };
        let rest = matches!(segment, Segment::CatchAll(_));
        let around = around.map(number);
        Some(Capture { name, segment: number(at), around, rest })
    }
}

impl PathLocale {
    fn captured(at: usize) -> Self {
        Self::Captured(u16::try_from(at).expect("a template has at most 1,024 segments"))
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("settings have fewer than 4 billion rules and texts")
}

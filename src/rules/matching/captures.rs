//! What a match says, for each place in the order of evaluation: its rule, its values, its locale.
//!
//! All that an answer needs lies together, and equal lists of values are kept once: with 100,000
//! rules it is the way through memory that costs.

use std::fmt;

use rustc_hash::FxHashMap;

use super::pattern::Pattern;
use crate::rules::locale::{Locale, Locales};
use crate::rules::pathname::Pathname;
use crate::rules::template::Segment;

/// What the matches at all places say.
#[derive(Clone, Debug)]
pub(super) struct MatchTable {
    all: Box<[Place]>,
    captures: Box<[Capture]>,
    names: Box<[Box<str>]>,
    /// The locales that share a template, for those that do.
    shared: Box<[Vec<Locale>]>,
}

#[derive(Clone, Debug)]
struct Place {
    rule: u32,
    /// Its part of `captures`.
    captures: [u32; 2],
    locale: PathLocale,
}

/// Where the locale of a pathname is to be read.
#[derive(Clone, Copy, Debug)]
enum PathLocale {
    /// Nowhere.
    Unsaid,
    /// The form of the path says it: one of the site's, by position.
    Of(u16),
    /// The form of the path says that it is one of these.
    OneOf(u32),
    /// It is the value of this capture.
    Value(u16),
}

/// A placeholder, and where its value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Capture {
    name: u32,
    segment: u32,
    /// The bytes of text before and after the value.
    around: [u32; 2],
    /// Whether it takes all the rest.
    rest: bool,
}

/// The placeholders of a match, from left to right, and the values that the pathname gives them.
/// Nothing is gathered: whoever wants a value has it read from the pathname.
#[derive(Clone, Copy)]
pub struct Params<'a> {
    captures: &'a [Capture],
    names: &'a [Box<str>],
    pathname: &'a Pathname<'a>,
}

/// The parts of a match.
pub(super) struct MatchData<'a> {
    pub(super) rule: usize,
    pub(super) params: Params<'a>,
    pub(super) locale: Option<&'a Locale>,
    pub(super) shared: &'a [Locale],
}

#[derive(Default)]
struct Lists {
    all: Vec<Capture>,
    known: FxHashMap<Vec<Capture>, [u32; 2]>,
    names: Vec<Box<str>>,
    name_ids: FxHashMap<Box<str>, u32>,
    shared: Vec<Vec<Locale>>,
}

impl MatchTable {
    /// Takes the patterns in the order of evaluation.
    pub(super) fn new(patterns: &[Pattern], locales: &Locales) -> Self {
        let mut lists = Lists::default();
        let all = patterns.iter().map(|pattern| lists.place(pattern, locales)).collect();
        let Lists { all: captures, names, shared, .. } = lists;
        Self { all, captures: captures.into(), names: names.into(), shared: shared.into() }
    }

    /// What the match at a place says about a pathname that matches there.
    #[inline]
    pub(super) fn said<'a>(
        &'a self,
        place: usize,
        pathname: &'a Pathname<'_>,
        locales: &'a Locales,
    ) -> MatchData<'a> {
        let place = &self.all[place];
        let captures = &self.captures[place.captures[0] as usize..place.captures[1] as usize];
        let params = Params { captures, names: &self.names, pathname };
        let locale = match place.locale {
            PathLocale::Unsaid | PathLocale::OneOf(_) => None,
            PathLocale::Of(at) => locales.as_slice().get(usize::from(at)),
            PathLocale::Value(at) => locales.get(captures[usize::from(at)].value(pathname)),
        };
        let shared: &[Locale] = match place.locale {
            PathLocale::OneOf(at) => &self.shared[at as usize],
            _ => &[],
        };
        MatchData { rule: place.rule as usize, params, locale, shared }
    }
}

impl<'a> Params<'a> {
    /// Whether there is a placeholder with this name.
    #[must_use]
    pub fn has(self, name: &str) -> bool {
        self.captures.iter().any(|capture| *self.names[capture.name as usize] == *name)
    }

    /// The placeholders as written and the decoded texts; a catch-all's segments joined by `/`.
    #[must_use]
    pub fn iter(self) -> impl ExactSizeIterator<Item = (&'a str, &'a str)> {
        let Self { captures, names, pathname } = self;
        captures.iter().map(|capture| (&*names[capture.name as usize], capture.value(pathname)))
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

impl Lists {
    fn place(&mut self, pattern: &Pattern, locales: &Locales) -> Place {
        let segments = pattern.segments.iter().enumerate();
        let list: Vec<Capture> =
            segments.filter_map(|(at, segment)| self.capture(at, segment)).collect();
        let is_locale = |capture: &Capture| &*self.names[capture.name as usize] == "locale";
        let said = list.iter().position(is_locale).map(PathLocale::value);
        let locale = said.unwrap_or_else(|| self.of_form(&pattern.locales, locales));
        let all = &mut self.all;
        let captures = *self.known.entry(list).or_insert_with_key(|list| {
            let start = number(all.len());
            all.extend(list);
            [start, number(all.len())]
        });
        Place { rule: number(pattern.rule), captures, locale }
    }

    /// The locale that a form without `{locale}` says.
    fn of_form(&mut self, own: &[Locale], locales: &Locales) -> PathLocale {
        let one = |own: &Locale| u16::try_from(locales.position(own.as_str())?).ok();
        match own {
            [] => PathLocale::Unsaid,
            [own] => one(own).map_or(PathLocale::Unsaid, PathLocale::Of),
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
    fn value(at: usize) -> Self {
        Self::Value(u16::try_from(at).expect("templates are shorter"))
    }
}

fn number(at: usize) -> u32 {
    u32::try_from(at).expect("the settings are smaller")
}

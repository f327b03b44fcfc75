//! Which values lead past a placeholder.

use crate::rules::constraint::{Constraint, ValuePattern};
use crate::rules::locale::Locales;
use crate::rules::matching::pattern::{Accepts, Pattern};
use crate::rules::pathname::Pathname;
use crate::rules::template::{DatePart, Segment, Source};

/// All that a placeholder asks of its value.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// The bytes of text before and after the value.
    around: [usize; 2],
    /// Whether the first segment may not be a locale of the site.
    bare: bool,
    accepts: Option<Accepts>,
    date: Option<DatePart>,
    constraint: Option<Constraint>,
}

/// What tells one guard from another.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key<'p> {
    around: [usize; 2],
    bare: bool,
    accepts: Option<&'p Accepts>,
    date: Option<DatePart>,
    constraint: Option<&'p Constraint>,
}

impl<'p> Key<'p> {
    /// The guard of a pattern's segment; `None` when it takes every value.
    pub(super) fn of(pattern: &'p Pattern, at: usize, segment: &'p Segment) -> Option<Self> {
        let placeholder = segment.placeholder()?;
        let around = match segment {
            Segment::Placeholder { prefix, suffix, .. } => [prefix.len(), suffix.len()],
            _ => [0, 0],
        };
        let date = match placeholder.source {
            Source::Date(_, part) => Some(part),
            _ => None,
        };
        let constraint = placeholder.constraint.as_ref();
        let accepts = segment.is_locale().then_some(&pattern.accepts);
        let bare = pattern.bare_at == Some(at);
        let free = !bare && accepts.is_none() && date.is_none() && constraint.is_none();
        (!free).then_some(Self { around, bare, accepts, date, constraint })
    }
}

impl Guard {
    /// The guard of a segment that has a key.
    pub(super) fn new(key: &Key<'_>) -> Self {
        let (around, bare, date) = (key.around, key.bare, key.date);
        let (accepts, constraint) = (key.accepts.cloned(), key.constraint.cloned());
        Self { around, bare, accepts, date, constraint }
    }

    /// Whether it takes the segments from `from` up to `to`.
    pub(super) fn takes(
        &self,
        pathname: &Pathname<'_>,
        from: usize,
        to: usize,
        locales: &Locales,
    ) -> bool {
        if self.bare && locales.get(pathname.text(from, from + 1)).is_some() {
            return false;
        }
        let text = pathname.text(from, to);
        let value = &text[self.around[0]..text.len() - self.around[1]];
        self.accepts.as_ref().is_none_or(|accepts| accepts.takes(value, locales))
            && self.date.is_none_or(|part| part.is_valid(value))
            && self.constraint.as_ref().is_none_or(|constraint| constraint.takes(value))
    }

    /// How many steps it can cost.
    pub(super) fn cost(&self) -> Cost {
        match &self.constraint {
            Some(Constraint::Pattern(pattern)) => Cost::of(pattern),
            Some(Constraint::Values(_)) => Cost { warm: 2, cold: 0 },
            None => Cost { warm: 1, cold: 0 },
        }
    }

    /// The pattern that it holds its values to.
    pub(super) fn pattern(&self) -> Option<&ValuePattern> {
        match &self.constraint {
            Some(Constraint::Pattern(pattern)) => Some(pattern),
            _ => None,
        }
    }
}

/// The steps of one look at a value.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// Each time.
    pub(super) warm: u32,
    /// The first time for one pathname: what has to come from main memory.
    pub(super) cold: u32,
}

/// The longest value, in bytes (D3).
const MAX_VALUE: usize = 2_048;
/// What of a pattern's table comes from main memory at once, in bytes.
const LINE: usize = 64;
/// A table of this size stays in the nearest cache while a value is read, in bytes.
const NEAR: usize = 16 << 10;

impl Cost {
    /// One look-up for each byte of a value: 80 of them take as long as a step where the table is
    /// near, 20 where it is not, and one where a line of it was never looked at.
    fn of(pattern: &ValuePattern) -> Self {
        let bytes = pattern.longest().unwrap_or(MAX_VALUE).min(MAX_VALUE);
        let a_step = if pattern.size() <= NEAR { 80 } else { 20 };
        let number = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        let warm = number(bytes.div_ceil(a_step));
        Self { warm, cold: number(bytes.min(pattern.size() / LINE)) }
    }
}

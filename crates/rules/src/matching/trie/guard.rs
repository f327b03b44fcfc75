//! Guards: conditions on the value of a placeholder.

use crate::constraint::{Constraint, ValuePattern};
use crate::locale::Locales;
use crate::matching::pattern::{AcceptedLocales, Pattern, ValueConditions};
use crate::pathname::Pathname;
use crate::template::DatePart;

/// All conditions on the value of a placeholder.
#[derive(Clone, Debug, Default)]
pub(super) struct Guard {
    /// The lengths of the text before and after the value, in bytes.
    around: [usize; 2],
    /// Whether the first segment must not be a locale of the site.
    not_a_locale: bool,
    accepts: Option<AcceptedLocales>,
    date: Option<DatePart>,
    constraint: Option<Constraint>,
}

/// Two guards with equal keys are the same.
#[derive(PartialEq, Eq, Hash)]
pub(super) struct Key<'p> {
    around: [usize; 2],
    conditions: ValueConditions<'p>,
}

impl<'p> Key<'p> {
    /// The key of a pattern's segment; `None` when the segment accepts every value.
    pub(super) fn of(pattern: &'p Pattern, at: usize) -> Option<Self> {
        let conditions = pattern.value_conditions(at);
        let around = pattern.segments[at].around().map(str::len);
        (!conditions.is_empty()).then_some(Self { around, conditions })
    }
}

impl Guard {
    /// The guard with this key.
    pub(super) fn new(key: &Key<'_>) -> Self {
        let ValueConditions { accepts, date, constraint, not_a_locale } = key.conditions;
        let (accepts, constraint) = (accepts.cloned(), constraint.cloned());
        Self { around: key.around, not_a_locale, accepts, date, constraint }
    }

    /// Whether the guard accepts the segments of the pathname from `from` up to `to`.
    pub(super) fn accepts(
        &self,
        pathname: &Pathname<'_>,
        from: usize,
        to: usize,
        locales: &Locales,
    ) -> bool {
        if self.not_a_locale && locales.of_segment(pathname.text(from, from + 1)).is_some() {
            return false;
        }
        let text = pathname.text(from, to);
        let value = &text[self.around[0]..text.len() - self.around[1]];
        self.accepts.as_ref().is_none_or(|accepts| accepts.accepts(value, locales))
            && self.date.is_none_or(|part| part.is_valid(value))
            && self.constraint.as_ref().is_none_or(|constraint| constraint.allows(value))
    }

    /// The most steps that one check can take.
    pub(super) fn cost(&self) -> Cost {
        match &self.constraint {
            Some(Constraint::Pattern(pattern)) => Cost::of(pattern),
            Some(Constraint::Values(_)) => Cost { warm: 2, cold: 0 },
            None => Cost { warm: 1, cold: 0 },
        }
    }

    /// The pattern that the value has to match.
    pub(super) fn pattern(&self) -> Option<&ValuePattern> {
        match &self.constraint {
            Some(Constraint::Pattern(pattern)) => Some(pattern),
            _ => None,
        }
    }
}

/// The steps of checking one value.
#[derive(Clone, Copy)]
pub(super) struct Cost {
    /// For each check.
    pub(super) warm: u32,
    /// In addition, for the first check of one pathname: cache lines read from main memory.
    pub(super) cold: u32,
}

/// The longest value, in bytes (D3).
const MAX_VALUE: usize = 2_048;
/// A cache line, in bytes.
const LINE: usize = 64;
/// A table of at most this size stays in the L1 cache while a value is read, in bytes.
const SMALL_TABLE: usize = 16 << 10;

impl Cost {
    /// One table look-up for each byte of a value. As long as one step take 80 look-ups in a small
    /// table, 20 in a larger one, and one that reads a new cache line from main memory.
    fn of(pattern: &ValuePattern) -> Self {
        let bytes = pattern.longest().unwrap_or(MAX_VALUE).min(MAX_VALUE);
        let a_step = if pattern.size() <= SMALL_TABLE { 80 } else { 20 };
        let number = |steps: usize| u32::try_from(steps).unwrap_or(u32::MAX);
        let warm = number(bytes.div_ceil(a_step));
        Self { warm, cold: number(bytes.min(pattern.size() / LINE)) }
    }
}

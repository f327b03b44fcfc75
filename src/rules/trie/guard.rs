//! Which values lead past a placeholder.

use crate::rules::constraint::Constraint;
use crate::rules::locale::Locales;
use crate::rules::pathname::Pathname;
use crate::rules::pattern::{Accepts, Pattern};
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
    pub(super) fn cost(&self) -> u32 {
        match self.constraint {
            Some(Constraint::Pattern(_)) => PATTERN_COST,
            Some(Constraint::Values(_)) => 2,
            None => 1,
        }
    }
}

/// A pattern on a value of 2,048 bytes.
const PATTERN_COST: u32 = 25;

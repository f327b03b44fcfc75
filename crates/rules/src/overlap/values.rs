//! The values of a placeholder, as far as the settings determine them.

use std::borrow::Cow;
use std::sync::LazyLock;

use smallvec::SmallVec;

use crate::constraint::{Constraint, ValuePattern};
use crate::locale::Locales;
use crate::template::{DatePart, Placeholder, Source};

static YEAR: LazyLock<ValuePattern> =
    LazyLock::new(|| ValuePattern::new("[0-9]{4}").expect("a valid pattern"));

/// A list of texts; most have one.
pub(super) type Texts<'r> = SmallVec<[Cow<'r, str>; 1]>;

/// All values of a placeholder, if they can be listed.
pub(super) fn values<'r>(placeholder: &'r Placeholder, locales: &'r Locales) -> Option<Texts<'r>> {
    match (&placeholder.source, &placeholder.constraint) {
        (Source::Locale, _) => {
            Some(locales.as_slice().iter().map(|locale| locale.segment().into()).collect())
        }
        (_, Some(Constraint::Values(values))) => {
            Some(values.sorted().into_iter().map(Cow::Borrowed).collect())
        }
        (Source::Date(_, DatePart::Month), _) => Some(numbers(12)),
        (Source::Date(_, DatePart::Day), _) => Some(numbers(31)),
        _ => None,
    }
}

fn numbers<'r>(most: u32) -> Texts<'r> {
    (1..=most).map(|number| format!("{number:02}").into()).collect()
}

/// The value patterns that a value has to match.
pub(super) fn patterns(placeholder: &Placeholder) -> SmallVec<[&ValuePattern; 2]> {
    let mut patterns = SmallVec::new();
    if let Source::Date(_, DatePart::Year) = placeholder.source {
        patterns.push(&*YEAR);
    }
    if let Some(Constraint::Pattern(pattern)) = &placeholder.constraint {
        patterns.push(pattern);
    }
    patterns
}

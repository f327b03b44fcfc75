//! The rows of one page of a walk, and what they say about locales.

use super::page::Page;
use super::proof::Fault;
use super::walk::Course;
use crate::content::{BadItem, ContentError, Document, DocumentLocale};
use crate::rules::Locale;

/// Said when a list has another shape.
pub(super) const NO_LIST: ContentError = ContentError::Unusable("an answer that is not a list");

/// Said when the CMS, or a cache before it, ignores `locale`.
pub(super) const OTHER_LOCALE: ContentError =
    ContentError::Unusable("documents of another locale than asked for");

/// Why one walk over one locale came to nothing.
pub(super) enum Stop {
    Failed(ContentError),
    Unproven(Fault),
}

impl From<ContentError> for Stop {
    fn from(error: ContentError) -> Self {
        Self::Failed(error)
    }
}

impl From<Fault> for Stop {
    fn from(fault: Fault) -> Self {
        Self::Unproven(fault)
    }
}

/// What the documents of a walk say about locales, although the type accepts being asked.
#[derive(Default)]
pub(super) struct Spoken {
    /// Some are in the locale asked for.
    asked: bool,
    /// Some are in another one.
    other: bool,
    /// Some have none.
    none: bool,
}

impl Spoken {
    pub(super) fn see(&mut self, row: Result<&Document<'_>, &BadItem>, asked: &Locale) {
        let Ok(document) = row else { return };
        match &document.locale {
            DocumentLocale::None => self.none = true,
            DocumentLocale::Named(name) if name == asked.as_str() => self.asked = true,
            DocumentLocale::Named(_) | DocumentLocale::NotText => self.other = true,
        }
    }

    /// Whether a walk that goes on can only confirm that the type is localised.
    pub(super) fn is_certain(&self) -> bool {
        self.asked
    }

    /// An empty walk says nothing, so the other locales are walked as well.
    pub(super) fn is_localised(&self) -> bool {
        self.asked || self.other || !self.none
    }

    /// One odd document is left to the rules. Where all are, `locale` was ignored, and the
    /// versions asked for are missing.
    pub(super) fn all_elsewhere(&self) -> bool {
        self.other && !self.asked && !self.none
    }
}

/// Hands on the rows of a page that count, and refuses them all when one is in the wrong locale.
pub(super) fn take(
    page: Page<'_>,
    count: usize,
    course: Course<'_>,
    mut each: impl FnMut(Result<&Document<'_>, &BadItem>),
) -> Result<(), ContentError> {
    page.each(count, |row| {
        if row.is_ok_and(|document| is_mixed_up(document, course)) {
            return Err(OTHER_LOCALE);
        }
        each(row);
        Ok(())
    })
}

/// A document of another locale that is walked itself: the CMS, or a cache before it, ignores
/// `locale`, and the versions asked for are missing. A locale that nobody asks for is one odd
/// document, and left to the rules.
fn is_mixed_up(document: &Document<'_>, course: Course<'_>) -> bool {
    let DocumentLocale::Named(name) = &document.locale else { return false };
    name != course.locale.as_str() && course.locales.iter().any(|other| other.as_str() == name)
}

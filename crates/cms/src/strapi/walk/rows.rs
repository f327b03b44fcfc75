//! Hands on the rows of one page of a walk, and notes what they show about the locales of their type.

use super::{OTHER_LOCALE, WalkScope};
use crate::strapi::page::Page;
use crate::{BadItem, ContentError, Document, DocumentLocale};
use frontend_map_rules::Locale;

/// Calls `push` with the first `count` rows of a page.
///
/// # Errors
/// When a row is in the wrong locale.
pub(super) fn push_rows(
    page: Page<'_>,
    count: usize,
    scope: WalkScope<'_>,
    mut push: impl FnMut(Result<&Document<'_>, BadItem>),
) -> Result<(), ContentError> {
    page.each(count, |row| {
        if row.is_ok_and(|document| is_in_other_walk(document, scope)) {
            return Err(OTHER_LOCALE);
        }
        push(row);
        Ok(())
    })
}

/// Whether a document is in another locale that is walked as well: then the CMS, or a cache before
/// it, ignores `locale`, and the requested versions are missing. A document in a locale that is not
/// walked is left to the rules.
fn is_in_other_walk(document: &Document<'_>, scope: WalkScope<'_>) -> bool {
    let DocumentLocale::Named(name) = &document.locale else { return false };
    name != scope.locale.as_str() && scope.locales.iter().any(|other| other.as_str() == name)
}

/// The documents decide where the CMS accepts a locale although the type is not localized.
#[derive(Default)]
pub(super) struct LocaleEvidence {
    /// Some documents are in the requested locale.
    in_requested: bool,
    /// Some are in another one.
    in_other: bool,
    /// Some have none.
    in_none: bool,
}

impl LocaleEvidence {
    pub(super) fn add(&mut self, row: Result<&Document<'_>, BadItem>, requested: &Locale) {
        let Ok(document) = row else { return };
        match &document.locale {
            DocumentLocale::None => self.in_none = true,
            DocumentLocale::Named(name) if name == requested.as_str() => self.in_requested = true,
            DocumentLocale::Named(_) | DocumentLocale::NotText => self.in_other = true,
        }
    }

    /// A walk without documents shows nothing, so the type counts as localized and the other
    /// locales are walked as well.
    pub(super) fn is_localized(&self) -> bool {
        self.in_requested || self.in_other || !self.in_none
    }

    /// Whether `locale` was ignored, so that the requested versions are missing. A single document
    /// in another locale is left to the rules.
    pub(super) fn all_in_other_locales(&self) -> bool {
        self.in_other && !self.in_requested && !self.in_none
    }
}

//! What the documents of a walk show about the locales of their type.

use crate::content::{BadItem, Document, DocumentLocale};
use crate::rules::Locale;

/// Some CMSs accept `locale` for a type that is not localised, or ignore it: the documents decide.
#[derive(Default)]
pub(super) struct LocaleEvidence {
    /// Some documents are in the locale that was asked for.
    in_asked: bool,
    /// Some are in another one.
    in_other: bool,
    /// Some have none.
    in_none: bool,
}

impl LocaleEvidence {
    pub(super) fn add(&mut self, row: Result<&Document<'_>, &BadItem>, asked: &Locale) {
        let Ok(document) = row else { return };
        match &document.locale {
            DocumentLocale::None => self.in_none = true,
            DocumentLocale::Named(name) if name == asked.as_str() => self.in_asked = true,
            DocumentLocale::Named(_) | DocumentLocale::NotText => self.in_other = true,
        }
    }

    /// Whether further documents can only confirm that the type is localised.
    pub(super) fn is_certain(&self) -> bool {
        self.in_asked
    }

    /// A walk without documents shows nothing, so the type counts as localised and the other
    /// locales are walked as well.
    pub(super) fn is_localised(&self) -> bool {
        self.in_asked || self.in_other || !self.in_none
    }

    /// Whether `locale` was ignored, so that the versions asked for are missing. A single document
    /// in another locale is left to the rules.
    pub(super) fn all_in_other_locales(&self) -> bool {
        self.in_other && !self.in_asked && !self.in_none
    }
}

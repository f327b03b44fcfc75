//! What the documents of a walk show about the locales of their type.

use crate::{BadItem, Document, DocumentLocale};
use frontend_map_rules::Locale;

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
    pub(super) fn add(&mut self, row: Result<&Document<'_>, &BadItem>, requested: &Locale) {
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

//! The locales of the site.

use std::collections::BTreeSet;

use frontend_map_cms::CmsLocale;
use frontend_map_rules::{Locale, Locales, SiteLocale};

/// The locales of the site.
#[derive(Debug)]
pub(super) struct SiteLocales {
    /// At least one, the default first.
    pub(super) codes: Vec<Locale>,
    pub(super) found_in: FoundIn,
    /// The locales that a site cannot have, or not beside the others.
    pub(super) left_out: Vec<String>,
}

/// Where the locales are from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FoundIn {
    /// The command line.
    Arguments,
    /// The list of locales of the CMS.
    Cms,
    /// The documents that were read.
    Documents,
    /// Nowhere: there are none.
    Nothing,
}

impl SiteLocales {
    /// The locales of the command line.
    ///
    /// # Errors
    /// The CMS does not have one of them.
    pub(super) fn given(given: &[Locale], cms: Option<&[CmsLocale]>) -> Result<Self, String> {
        for locale in given {
            let is_known =
                |cms: &[CmsLocale]| cms.iter().any(|known| known.code == locale.as_str());
            if let Some(cms) = cms.filter(|cms| !is_known(cms)) {
                let codes: Vec<&str> = cms.iter().map(|known| known.code.as_str()).collect();
                let codes = codes.join(", ");
                let codes = codes.escape_debug();
                return Err(format!(
                    "--locales {locale}: the CMS has no such locale; it has: {codes}"
                ));
            }
        }
        let (codes, found_in) = (given.to_vec(), FoundIn::Arguments);
        Ok(Self { codes, found_in, left_out: Vec::new() })
    }

    /// The locales of the CMS, the default first.
    pub(super) fn of_cms(cms: &[CmsLocale]) -> Self {
        let mut sorted: Vec<&CmsLocale> = cms.iter().collect();
        sorted.sort_by_key(|locale| !locale.is_default);
        usable(sorted.iter().map(|locale| locale.code.as_str()), FoundIn::Cms)
    }

    /// The locales of documents, the default first if it is known.
    pub(super) fn of_documents(default: Option<&Locale>, others: &BTreeSet<String>) -> Self {
        let default = default.map(Locale::as_str);
        let others = others.iter().map(String::as_str).filter(|code| Some(*code) != default);
        usable(default.into_iter().chain(others), FoundIn::Documents)
    }
}

/// The codes among these that the locales of one site can have; a site needs one.
fn usable<'c>(all: impl Iterator<Item = &'c str>, found_in: FoundIn) -> SiteLocales {
    let (mut codes, mut left_out) = (Vec::new(), Vec::new());
    for code in all {
        let is_tag = |locale: &Locale| SiteLocale::from(locale.clone()).check_hreflang().is_ok();
        match Locale::parse(code).ok().filter(is_tag) {
            Some(locale) => {
                codes.push(locale);
                if Locales::new(codes.clone()).is_err() {
                    codes.pop();
                    left_out.push(code.to_owned());
                }
            }
            None => left_out.push(code.to_owned()),
        }
    }
    if codes.is_empty() {
        codes.push(Locale::parse("en").expect("a locale code"));
        return SiteLocales { codes, found_in: FoundIn::Nothing, left_out };
    }
    SiteLocales { codes, found_in, left_out }
}

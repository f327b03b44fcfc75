//! From a document to its public address: base URL, rule and values (D12–D15).

mod base;

pub use base::{BaseUrl, BaseUrlError};

use crate::rules::{
    Document, DocumentLocale, FieldPath, FieldValue, Locale, Locales, Rule, RuleSet, Unusable,
    Values,
};

/// A finished URL has fewer characters than this: sitemaps.org allows no more in a `loc`.
pub const URL_TOO_LONG: usize = 2048;

/// The path of a document on the frontend, and what it came from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontendPath<'r> {
    /// Absolute, percent-encoded ASCII.
    pub path: String,
    /// The rule that built it.
    pub rule: &'r Rule,
    /// The locale that it stands under, one of the site's.
    pub locale: &'r Locale,
}

/// Why a document has no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoUrl<'r> {
    /// The first reason in the order of D13, for the first rule of the content type.
    pub reason: NoUrlReason,
    /// That rule.
    pub rule: &'r Rule,
}

/// The reason itself; `Display` is its name in `details.reason` and in the log.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoUrlReason {
    /// `<placeholder>_<fault>`.
    #[error("{0}")]
    Unusable(Unusable),
    /// The document's locale is not one of the site's.
    #[error("locale_unknown")]
    LocaleUnknown,
    /// Published was asked for, and the document says that it is not.
    #[error("not_published")]
    NotPublished,
    /// The finished URL has 2,048 characters or more.
    #[error("url_too_long")]
    UrlTooLong,
}

/// Builds the frontend path of one version of a document (D12).
///
/// `drafts` says whether a document that is not published may have a URL. `None`: the content
/// type has no rule.
#[must_use]
pub fn frontend_path<'r>(
    rules: &'r RuleSet,
    base: Option<&BaseUrl>,
    uid: &str,
    document: &Document,
    drafts: bool,
) -> Option<Result<FrontendPath<'r>, NoUrl<'r>>> {
    let mut first_failure = None;
    for rule in rules.of_type(uid) {
        match build(rules.locales(), base, rule, document, drafts) {
            Ok(found) => return Some(Ok(found)),
            Err(reason) => first_failure = first_failure.or(Some(NoUrl { reason, rule })),
        }
    }
    first_failure.map(Err)
}

fn build<'r>(
    locales: &'r Locales,
    base: Option<&BaseUrl>,
    rule: &'r Rule,
    document: &Document,
    drafts: bool,
) -> Result<FrontendPath<'r>, NoUrlReason> {
    let known = locale_of(locales, &document.locale);
    // With an unknown locale any other shows whether a placeholder is at fault, which comes first.
    let locale = known.unwrap_or(locales.default_locale());
    let values = Version { document, locale };
    let path = rule.template.path(&values).map_err(NoUrlReason::Unusable)?;
    if known.is_none() {
        return Err(NoUrlReason::LocaleUnknown);
    }
    if document.unpublished && !drafts {
        return Err(NoUrlReason::NotPublished);
    }
    if base.map_or(0, |base| base.as_str().len()) + path.len() >= URL_TOO_LONG {
        return Err(NoUrlReason::UrlTooLong);
    }
    Ok(FrontendPath { path, rule, locale })
}

/// A document without a locale stands under the site's default (D19).
fn locale_of<'r>(locales: &'r Locales, locale: &DocumentLocale) -> Option<&'r Locale> {
    match locale {
        DocumentLocale::None => Some(locales.default_locale()),
        DocumentLocale::Named(code) => locales.get(code),
        DocumentLocale::NotText => None,
    }
}

struct Version<'d> {
    document: &'d Document,
    locale: &'d Locale,
}

impl Values for Version<'_> {
    fn locale(&self) -> &str {
        self.locale.as_str()
    }

    fn document_id(&self) -> &str {
        &self.document.id
    }

    fn field(&self, path: &FieldPath) -> &FieldValue {
        self.document.field(path)
    }
}

//! Frontend URLs: which rule builds the path of a document, and why it may have none (D12–D15).

mod base_url;
mod hosts;
mod words;

pub use base_url::{BaseUrl, BaseUrlError};
pub use hosts::{BaseUrlConflict, Host, HostName, Hosts};
pub use words::{NullLink, in_words};

use crate::{
    AbsentKey, Document, DocumentLocale, FieldPath, FieldValue, Locales, NoPath, RedirectFault,
    Rule, RuleSet, SiteLocale, Template, TemplateValues, UnusableValue,
};

/// The longest URL, in characters: sitemaps.org wants a `loc` of fewer than 2,048.
const MAX_URL_CHARS: usize = 2_047;

/// The path of a document on the frontend, with the rule that built it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrontendPath<'r> {
    /// Absolute, percent-encoded ASCII.
    pub path: String,
    /// The rule that built it.
    pub rule: &'r Rule,
    /// The template of that rule.
    pub template: &'r Template,
    /// The locale of the document version, one of the site's.
    pub locale: &'r SiteLocale,
}

impl<'r> FrontendPath<'r> {
    fn new(path: String, PathSource { rule, template, locale, .. }: PathSource<'r>) -> Self {
        Self { path, rule, template, locale }
    }
}

/// Why a document has no URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}")]
pub struct NoUrl<'r> {
    /// The first reason in the order of D13, of the first rule whose conditions hold.
    pub reason: NoUrlReason,
    /// That rule.
    pub rule: &'r Rule,
    /// The template of that rule for the document's locale, or its first.
    pub template: &'r Template,
}

/// The reason; `Display` is its name in `details.reason` and in logs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoUrlReason {
    /// `<placeholder>_<fault>`, or `<path field>_<fault>`.
    #[error("{0}")]
    Unusable(UnusableValue),
    /// The document's locale is not one of the site's.
    #[error("locale_unknown")]
    LocaleUnknown,
    /// The rule has no template for the document's locale.
    #[error("locale_without_template")]
    LocaleWithoutTemplate,
    /// The conditions of no rule hold: the document is not on this site.
    #[error("conditions_not_met")]
    ConditionsNotMet,
    /// The published version was requested, and the document is unpublished.
    #[error("not_published")]
    NotPublished,
    /// The finished URL has 2,048 characters or more.
    #[error("url_too_long")]
    UrlTooLong,
    /// A page outside the CMS has the path.
    #[error("path_taken_by_page")]
    PathTakenByPage,
    /// The document is no redirect that can be used.
    #[error("{0}")]
    Redirect(RedirectFault),
    /// It is not known whether the document has a URL, because the CMS left out a key that decides
    /// about it (D32).
    #[error("{0}_absent")]
    Absent(AbsentKey),
}

/// The rule, template and locale of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PathSource<'r> {
    /// The rule that built it.
    pub rule: &'r Rule,
    /// The template of that rule.
    pub template: &'r Template,
    /// The locale of the document version, one of the site's.
    pub locale: &'r SiteLocale,
    /// Whether it is the document's own path (D41).
    pub is_own: bool,
}

/// Builds the frontend path of one version of a document (D12).
///
/// `drafts` says whether a document that is not published may have a URL. `None`: the content
/// type has no rule.
pub fn frontend_path<'r>(
    rules: &'r RuleSet,
    hosts: &Hosts,
    uid: &str,
    document: &Document<'_>,
    drafts: bool,
) -> Option<Result<FrontendPath<'r>, NoUrl<'r>>> {
    let (mut path, candidates) = (String::new(), rules.of_type(uid));
    let found = write_path(rules, hosts, candidates, document, drafts, &mut path)?;
    Some(found.map(|origin| FrontendPath::new(path, origin)))
}

/// An absent key that decides whether a document has a URL, or which one (D32).
pub fn absent_key(rules: &RuleSet, uid: &str, document: &Document<'_>) -> Option<AbsentKey> {
    match frontend_path(rules, &Hosts::default(), uid, document, true)? {
        Err(NoUrl { reason: NoUrlReason::Absent(key), .. }) => Some(key),
        Ok(_) | Err(_) => None,
    }
}

/// [`frontend_path`] for given rules, written to a buffer that can be reused. If a page outside the CMS
/// has the path, the buffer has it too; for other reasons its content is unspecified.
pub fn write_path<'r>(
    rules: &'r RuleSet,
    hosts: &Hosts,
    candidates: impl IntoIterator<Item = &'r Rule>,
    document: &Document<'_>,
    drafts: bool,
    path: &mut String,
) -> Option<Result<PathSource<'r>, NoUrl<'r>>> {
    let mut first_failure: Option<NoUrl<'r>> = None;
    for rule in candidates {
        match write_path_by_rule(rules, hosts, rule, document, drafts, path) {
            Ok(found) => return Some(Ok(found)),
            // No other rule may be used before it is known that this one is not, or in place of an
            // own path.
            Err(reason) if reason.is_final(rules, rule, document) => {
                return Some(Err(NoUrl { reason, ..conditions_not_met(rules, rule, document) }));
            }
            Err(reason) => {
                let failure =
                    first_failure.get_or_insert_with(|| conditions_not_met(rules, rule, document));
                if failure.reason == NoUrlReason::ConditionsNotMet {
                    *failure = NoUrl { reason, ..conditions_not_met(rules, rule, document) };
                }
            }
        }
    }
    first_failure.map(Err)
}

impl NoUrlReason {
    /// Whether the document has no URL by the rules behind this one either.
    pub fn is_final(&self, rules: &RuleSet, rule: &Rule, document: &Document<'_>) -> bool {
        match self {
            // The document has a path, which it has lost: no other rule gives it another one.
            Self::Absent(_) | Self::PathTakenByPage => true,
            Self::ConditionsNotMet | Self::LocaleWithoutTemplate => false,
            Self::Unusable(_)
            | Self::LocaleUnknown
            | Self::NotPublished
            | Self::UrlTooLong
            | Self::Redirect(_) => rule.has_own_path(&LocaleVersion::of(document, rules.locales())),
        }
    }
}

/// The failure with the lowest priority, which any other reason replaces.
fn conditions_not_met<'r>(
    rules: &'r RuleSet,
    rule: &'r Rule,
    document: &Document<'_>,
) -> NoUrl<'r> {
    let locale = locale_of(rules.locales(), &document.locale);
    let own = locale.and_then(|locale| rule.template(locale.code()));
    let template = own.unwrap_or(rule.first_template());
    NoUrl { reason: NoUrlReason::ConditionsNotMet, rule, template }
}

/// The path that one rule builds for a version of a document.
///
/// # Errors
/// [`NoUrlReason`]: the first in the order of D13.
pub fn path_by_rule<'r>(
    rules: &'r RuleSet,
    hosts: &Hosts,
    rule: &'r Rule,
    document: &Document<'_>,
    drafts: bool,
) -> Result<FrontendPath<'r>, NoUrlReason> {
    let mut path = String::new();
    let found = write_path_by_rule(rules, hosts, rule, document, drafts, &mut path);
    found.map(|origin| FrontendPath::new(path, origin))
}

fn write_path_by_rule<'r>(
    rules: &'r RuleSet,
    hosts: &Hosts,
    rule: &'r Rule,
    document: &Document<'_>,
    drafts: bool,
    path: &mut String,
) -> Result<PathSource<'r>, NoUrlReason> {
    let known = locale_of(rules.locales(), &document.locale);
    // A faulty placeholder is reported before an unknown locale; any locale shows it.
    let locale = known.unwrap_or(rules.locales().default_locale());
    let values = LocaleVersion { document, locale };
    if document.has_absent()
        && let Some(key) = rule.absent_key(locale.code(), &values)
    {
        return Err(NoUrlReason::Absent(key));
    }
    path.clear();
    let template = match rules.write_path(rule, locale.code(), &values, path) {
        Ok(template) => template,
        Err(NoPath::Conditions) => return Err(NoUrlReason::ConditionsNotMet),
        Err(NoPath::Locale) if known.is_none() => return Err(NoUrlReason::LocaleUnknown),
        Err(NoPath::Locale) => return Err(NoUrlReason::LocaleWithoutTemplate),
        Err(NoPath::Unusable(unusable)) => return Err(NoUrlReason::Unusable(unusable)),
    };
    if known.is_none() {
        return Err(NoUrlReason::LocaleUnknown);
    }
    if document.unpublished && !drafts {
        return Err(NoUrlReason::NotPublished);
    }
    if is_too_long(rules, hosts, locale, path) {
        return Err(NoUrlReason::UrlTooLong);
    }
    if is_page(rules, locale, path) {
        return Err(NoUrlReason::PathTakenByPage);
    }
    if let Some(redirect) = &rule.redirect {
        redirect.of(document).map_err(NoUrlReason::Redirect)?;
    }
    let is_own = rule.path_field.is_some() && rule.has_own_path(&values);
    Ok(PathSource { rule, template, locale, is_own })
}

/// Whether the URL of a path in a locale has too many characters.
pub fn is_too_long(rules: &RuleSet, hosts: &Hosts, locale: &SiteLocale, path: &str) -> bool {
    let is_with = |base: usize| base + path.len() > MAX_URL_CHARS;
    // The usual case needs no look-up of the locale.
    is_with(hosts.longest()) && {
        let base = rules.locales().position(locale.as_str()).and_then(|at| hosts.base(at));
        is_with(base.map_or(0, |base| base.as_str().len()))
    }
}

/// Whether a page outside the CMS has a path on the host of a locale.
fn is_page(rules: &RuleSet, locale: &SiteLocale, path: &str) -> bool {
    // The usual case needs no look-up of the locale.
    !rules.pages().is_empty() && {
        let locale = rules.locales().position(locale.as_str());
        locale.is_some_and(|locale| rules.pages().has(path, locale))
    }
}

/// The locale of a document. One without a locale has the site's default (D19).
fn locale_of<'r>(locales: &'r Locales, locale: &DocumentLocale<'_>) -> Option<&'r SiteLocale> {
    match locale {
        DocumentLocale::None => Some(locales.default_locale()),
        DocumentLocale::Named(code) => locales.get(code),
        DocumentLocale::NotText => None,
    }
}

/// A version of a document under a locale of the site, as the source of a template's values.
#[derive(Clone, Copy, Debug)]
pub struct LocaleVersion<'d> {
    /// The document.
    pub document: &'d Document<'d>,
    /// The locale of the site.
    pub locale: &'d SiteLocale,
}

impl<'d> LocaleVersion<'d> {
    /// Under its own locale, or under the site's default if the site does not have its locale.
    pub fn of(document: &'d Document<'d>, locales: &'d Locales) -> Self {
        let locale = locale_of(locales, &document.locale);
        Self { document, locale: locale.unwrap_or(locales.default_locale()) }
    }
}

impl TemplateValues for LocaleVersion<'_> {
    fn locale_segment(&self) -> &str {
        self.locale.segment()
    }

    fn document_id(&self) -> &str {
        &self.document.id
    }

    fn field(&self, path: &FieldPath) -> &FieldValue<'_> {
        self.document.field(path)
    }
}

//! The results of a batch: a URL for each document, or the reason why it has none.

use std::borrow::Cow;

use super::batch::{Batch, ItemResolution, TypeOfSite};
use super::item::{Item, TypeAndLocale};
use super::sources::Source;
use crate::http::operations::frontend_url::{NO_RULE, NO_VERSION};
use crate::http::operations::shared_path::{PathOwners, SharedPath, VersionPath};
use crate::http::response::envelope::success_text;
use frontend_map_catalog::json::Json;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Snapshot, Version};
use frontend_map_cms::{Document, DocumentLocale};
use frontend_map_rules::frontend_url::{NoUrl, NoUrlReason, frontend_path};

/// The reason of a malformed item.
const INVALID: &str = "invalid";
/// The reason of a document without a URL whose reason the snapshot does not have.
const UNKNOWN: &str = "unknown";
/// The reason of a document in a locale without a base URL.
const NO_BASE_URL: &str = "no_base_url";

/// The usual length of a result, in bytes.
const USUAL_BYTES: usize = 256;

/// A path, or the reason why there is none.
enum Found<'s> {
    Path {
        path: Cow<'s, str>,
        /// The position of the version's locale in the site's locales.
        locale: usize,
        shared: Option<SharedPath>,
    },
    NoUrl {
        reason: Cow<'s, str>,
        /// The template of the rule that the reason is about.
        rule: Option<Cow<'s, str>>,
        locale: usize,
    },
}

impl Found<'_> {
    fn locale(&self) -> usize {
        let (Self::Path { locale, .. } | Self::NoUrl { locale, .. }) = self;
        *locale
    }
}

/// The text of the response.
pub(super) fn write(batch: &Batch<'_>, sources: &[Source]) -> Vec<u8> {
    success_text(|json| {
        json.reserve(batch.items.len() * USUAL_BYTES).raw(r#"{"results":["#);
        let mut shared: Option<SharedTexts> = None;
        for (position, (item, type_and_locale, resolution)) in batch.items().enumerate() {
            if position > 0 {
                json.raw(",");
            }
            match resolution {
                ItemResolution::Invalid => {
                    write_without_version(json, item, type_and_locale, INVALID);
                }
                ItemResolution::NoRule => {
                    write_without_version(json, item, type_and_locale, NO_RULE);
                }
                ItemResolution::NoLocale => {
                    let reason = NoUrlReason::LocaleUnknown.to_string();
                    write_without_version(json, item, type_and_locale, &reason);
                }
                ItemResolution::Type { at, locale } => {
                    let id = item.document_id.as_deref().unwrap_or_default();
                    let found = find(batch.types[at], &sources[at], id, locale);
                    let locale = found.locale();
                    let shared = match shared {
                        Some(ref texts) if texts.is_of(at, locale) => texts,
                        _ => shared.insert(SharedTexts::new(batch.types[at], at, locale)),
                    };
                    write_found(json, shared, id, &found);
                }
            }
        }
        json.raw("]}");
    })
}

fn write_without_version(
    json: &mut Json,
    item: &Item<'_>,
    type_and_locale: &TypeAndLocale<'_>,
    reason: &str,
) {
    json.raw(r#"{"uid":"#).text_or_null(type_and_locale.uid.as_deref());
    json.raw(r#","documentId":"#).text_or_null(item.document_id.as_deref());
    json.raw(r#","locale":"#).text_or_null(type_and_locale.locale.as_deref());
    json.raw(r#","reason":"#).text(reason).raw("}");
}

/// What the results about one content type in one locale have in common.
///
/// None of it has a character that JSON escapes: a content type with a rule, a locale and a base URL.
struct SharedTexts {
    /// The position of the content type in the batch.
    type_at: usize,
    /// The position of the locale in the site.
    locale_at: usize,
    /// Up to the `documentId`.
    start: String,
    /// The locale.
    locale: String,
    /// The locale and the URL up to its path; `None` without a base URL.
    base: Option<String>,
}

impl SharedTexts {
    fn new(TypeOfSite { site, uid }: TypeOfSite<'_>, type_at: usize, locale_at: usize) -> Self {
        let locale = format!(r#"","locale":"{}""#, site.rules.locales().codes()[locale_at]);
        let base = site.hosts.base(locale_at);
        Self {
            type_at,
            locale_at,
            start: format!(r#"{{"uid":"{uid}","documentId":""#),
            base: base.map(|base| format!(r#"{locale},"url":"{}"#, base.as_str())),
            locale,
        }
    }

    fn is_of(&self, type_at: usize, locale_at: usize) -> bool {
        self.type_at == type_at && self.locale_at == locale_at
    }
}

/// Neither a valid id nor a path has a character that JSON escapes.
fn write_found(json: &mut Json, shared: &SharedTexts, id: &str, found: &Found<'_>) {
    json.raw(&shared.start).raw(id);
    match (found, &shared.base) {
        (Found::Path { path, shared: owner, .. }, Some(base)) => {
            json.raw(base).raw(path).raw(r#"","path":""#).raw(path).raw(r#"""#);
            write_shared(json, owner.as_ref());
        }
        (Found::Path { path, shared: owner, .. }, None) => {
            json.raw(&shared.locale).raw(r#","path":""#).raw(path);
            json.raw(r#"","reason":"#).word(NO_BASE_URL);
            write_shared(json, owner.as_ref());
        }
        (Found::NoUrl { reason, rule, .. }, _) => {
            json.raw(&shared.locale).raw(r#","reason":"#).text(reason);
            if let Some(rule) = rule {
                json.raw(r#","rule":"#).text(rule);
            }
            json.raw("}");
        }
    }
}

fn write_shared(json: &mut Json, shared: Option<&SharedPath>) {
    if let Some(shared) = shared {
        shared.write(json);
    }
    json.raw("}");
}

fn find<'s>(of: TypeOfSite<'s>, source: &'s Source, id: &str, locale: usize) -> Found<'s> {
    match source {
        Source::Snapshot { known, index } => {
            let owners = PathOwners::new(of.site, index.as_deref());
            in_snapshot(of, &owners, &known.cached.snapshot, id, locale)
        }
        Source::Documents(documents) => {
            let versions = documents.get(id).map_or(&[][..], Vec::as_slice);
            match version(of.site, versions, locale) {
                Some(document) => of_document(of, document, locale),
                None => without_rule(NO_VERSION, locale),
            }
        }
    }
}

fn in_snapshot<'s>(
    TypeOfSite { site, uid }: TypeOfSite<'s>,
    owners: &PathOwners<'_>,
    snapshot: &'s Snapshot,
    id: &str,
    locale: usize,
) -> Found<'s> {
    match snapshot.version(id, locale) {
        Version::Url(url) => {
            let (path, locale) = (url.path(), url.locale());
            let version = VersionPath { uid, document_id: url.document_id(), path, locale };
            let is_shared = owners.may_be_other(url, snapshot);
            let shared = is_shared.then(|| owners.other_owner(version, snapshot)).flatten();
            Found::Path { path: path.into(), locale, shared }
        }
        Version::NoUrl(row) => {
            let locale = row.locale.unwrap_or(locale);
            let (rule, code) =
                (&site.rules.rules()[row.rule], &site.rules.locales().codes()[locale]);
            let template = rule.template(code).unwrap_or(rule.first_template());
            let rule = Some(template.to_string().into());
            Found::NoUrl { reason: row.reason.into(), rule, locale }
        }
        Version::NoUrlBeyondRows => without_rule(UNKNOWN, locale),
        Version::None => without_rule(NO_VERSION, locale),
    }
}

fn without_rule<'s>(reason: &'static str, locale: usize) -> Found<'s> {
    Found::NoUrl { reason: reason.into(), rule: None, locale }
}

/// The version in a locale, or one that is not localized (D19).
fn version<'d>(
    site: &Site,
    versions: &'d [Document<'static>],
    locale: usize,
) -> Option<&'d Document<'static>> {
    let code = site.rules.locales().codes()[locale].as_str();
    let is_in_locale = |document: &&Document<'_>| matches!(&document.locale, DocumentLocale::Named(name) if name == code);
    let in_locale = versions.iter().find(is_in_locale);
    in_locale.or_else(|| versions.iter().find(|document| document.locale == DocumentLocale::None))
}

fn of_document<'s>(
    TypeOfSite { site, uid }: TypeOfSite<'s>,
    document: &Document<'_>,
    locale: usize,
) -> Found<'s> {
    let locale = if document.locale == DocumentLocale::None { 0 } else { locale };
    let found = frontend_path(&site.rules, &site.hosts, uid, document, false);
    match found.expect("the site was chosen because it has a rule for the content type") {
        Ok(found) => Found::Path { path: found.path.into(), locale, shared: None },
        // As in a snapshot, which does not know these documents.
        Err(NoUrl { reason: NoUrlReason::ConditionsNotMet, .. }) => {
            without_rule(NO_VERSION, locale)
        }
        Err(NoUrl { reason, template, .. }) => {
            let (reason, rule) = (reason.to_string().into(), template.to_string().into());
            Found::NoUrl { reason, rule: Some(rule), locale }
        }
    }
}

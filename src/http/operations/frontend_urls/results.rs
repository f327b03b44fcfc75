//! The results of a batch: a URL for each document, or the reason why it has none.

use std::borrow::Cow;

use super::batch::{Batch, Place, TypeOfSite};
use super::item::Item;
use super::sources::Source;
use crate::content::{Document, DocumentLocale};
use crate::frontend_url::{NoUrl, NoUrlReason, frontend_path};
use crate::http::operations::frontend_url::{NO_RULE, NO_VERSION};
use crate::http::response::envelope::success_text;
use crate::json::Json;
use crate::site::Site;
use crate::snapshot::{Snapshot, Version};

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
    },
    NoUrl {
        reason: Cow<'s, str>,
        /// The template of the rule that the reason is about.
        rule: Option<Cow<'s, str>>,
        locale: usize,
    },
}

/// The text of the response.
pub(super) fn write(items: &[Item<'_>], batch: &Batch<'_>, sources: &[Source]) -> Vec<u8> {
    success_text(|json| {
        json.reserve(items.len() * USUAL_BYTES).raw(r#"{"results":["#);
        for (position, (item, place)) in items.iter().zip(&batch.places).enumerate() {
            if position > 0 {
                json.raw(",");
            }
            match *place {
                Place::Nowhere => write_without_version(json, item, INVALID),
                Place::NoRule => write_without_version(json, item, NO_RULE),
                Place::NoLocale => {
                    write_without_version(json, item, &NoUrlReason::LocaleUnknown.to_string());
                }
                Place::Type { at, locale } => {
                    let of = batch.types[at];
                    let id = item.document_id.as_deref().unwrap_or_default();
                    write_found(json, of, id, &find(of, &sources[at], id, locale));
                }
            }
        }
        json.raw("]}");
    })
}

fn write_without_version(json: &mut Json, item: &Item<'_>, reason: &str) {
    json.raw(r#"{"uid":"#).text_or_null(item.uid.as_deref());
    json.raw(r#","documentId":"#).text_or_null(item.document_id.as_deref());
    json.raw(r#","locale":"#).text_or_null(item.locale.as_deref());
    json.raw(r#","reason":"#).text(reason).raw("}");
}

/// None of the texts but a reason and a template has a character that JSON escapes: a content type
/// with a rule, a valid id, a locale, and URLs, which are ASCII.
fn write_found(json: &mut Json, of: TypeOfSite<'_>, id: &str, found: &Found<'_>) {
    json.raw(r#"{"uid":""#).raw(of.uid).raw(r#"","documentId":""#).raw(id);
    let locales = of.site.rules.locales().codes();
    let (Found::Path { locale, .. } | Found::NoUrl { locale, .. }) = found;
    json.raw(r#"","locale":""#).raw(locales[*locale].as_str());
    match found {
        Found::Path { path, .. } => {
            let base = of.site.hosts.base(*locale);
            if let Some(base) = base {
                json.raw(r#"","url":""#).raw(base.as_str()).raw(path);
            }
            json.raw(r#"","path":""#).raw(path).raw("\"");
            if base.is_none() {
                json.raw(r#","reason":"#).word(NO_BASE_URL);
            }
        }
        Found::NoUrl { reason, rule, .. } => {
            json.raw(r#"","reason":"#).text(reason);
            if let Some(rule) = rule {
                json.raw(r#","rule":"#).text(rule);
            }
        }
    }
    json.raw("}");
}

fn find<'s>(of: TypeOfSite<'s>, source: &'s Source, id: &str, locale: usize) -> Found<'s> {
    match source {
        Source::Snapshot(known) => in_snapshot(of.site, &known.copy.snapshot, id, locale),
        Source::Documents(documents) => {
            let versions = documents.get(id).map_or(&[][..], Vec::as_slice);
            match version(of.site, versions, locale) {
                Some(document) => of_document(of, document, locale),
                None => without_rule(NO_VERSION, locale),
            }
        }
    }
}

fn in_snapshot<'s>(site: &'s Site, snapshot: &'s Snapshot, id: &str, locale: usize) -> Found<'s> {
    match snapshot.version(id, locale) {
        Version::Url(url) => Found::Path { path: url.path().into(), locale: url.locale() },
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
        Ok(found) => Found::Path { path: found.path.into(), locale },
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

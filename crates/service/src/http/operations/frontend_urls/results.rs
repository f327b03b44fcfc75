//! The results of a batch: a URL for each document, or the reason why it has none.

use std::borrow::Cow;

use rustc_hash::FxHashMap;

use super::batch::{Batch, ItemResolution, TypeOfSite};
use super::sources::Source;
use crate::http::operations::frontend_url::{NO_RULE, NO_VERSION};
use crate::http::responses::BatchResult;
use frontend_map_catalog::json::Json;
use frontend_map_catalog::path_index::{PathOwners, SharedPath, VersionPath};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Snapshot, Version};
use frontend_map_cms::{Document, DocumentLocale};
use frontend_map_rules::Locale;
use frontend_map_rules::frontend_url::{BaseUrl, NoUrl, NoUrlReason, frontend_path};

/// The reason of a malformed item.
const INVALID: &str = "invalid";
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
    /// The result, with the locale of the version in place of the requested one.
    fn result<'r>(&'r self, site: &'r Site, requested: BatchResult<'r>) -> BatchResult<'r> {
        let (Self::Path { locale, .. } | Self::NoUrl { locale, .. }) = self;
        let code = site.rules.locales().codes()[*locale].as_str();
        let result = BatchResult { locale: Some(code), ..requested };
        match self {
            Self::Path { path, locale, shared } => {
                let url = site.absolute_url(*locale, path);
                let reason = if url.is_none() { Some(NO_BASE_URL) } else { None };
                BatchResult {
                    url,
                    path: Some(path),
                    reason,
                    shared_path: shared.as_ref(),
                    ..result
                }
            }
            Self::NoUrl { reason, rule, .. } => {
                BatchResult { reason: Some(reason), rule: rule.as_deref(), ..result }
            }
        }
    }
}

/// The text of the response.
pub(super) fn write(batch: &Batch<'_>, sources: &[Source]) -> Vec<u8> {
    let mut json = Json::with_capacity(batch.items.len() * USUAL_BYTES);
    json.raw(r#"{"data":{"results":["#);
    // By content type of the batch and locale of its site.
    let mut common: FxHashMap<(usize, usize), CommonText> = FxHashMap::default();
    for (position, (item, type_and_locale, resolution)) in batch.items().enumerate() {
        if position > 0 {
            json.raw(",");
        }
        let id = item.document_id.as_deref();
        let requested = || BatchResult {
            uid: type_and_locale.uid.as_deref(),
            document_id: id,
            locale: type_and_locale.locale.as_deref(),
            ..BatchResult::default()
        };
        let reason = match resolution {
            ItemResolution::Invalid => INVALID.into(),
            ItemResolution::NoRule => NO_RULE.into(),
            ItemResolution::NoLocale => Cow::from(NoUrlReason::LocaleUnknown.to_string()),
            ItemResolution::Type { at, locale } => {
                let (of, id) = (batch.types[at], id.unwrap_or_default());
                let found = find(of, &sources[at], id, locale);
                if let Found::Path { path, locale, shared: None } = &found
                    && let Some(base) = of.site.hosts.base(*locale)
                {
                    let code = &of.site.rules.locales().codes()[*locale];
                    common
                        .entry((at, *locale))
                        .or_insert_with(|| CommonText::new(of.uid, code, base))
                        .write_result(&mut json, id, path);
                } else {
                    json.value(&found.result(of.site, requested()));
                }
                continue;
            }
        };
        json.value(&BatchResult { reason: Some(&reason), ..requested() });
    }
    json.raw(r#"]},"meta":{}}"#);
    json.into_bytes()
}

/// The text that the results about one content type in one locale have in common, if they have a URL and
/// no other document has their path. To write such a result takes a quarter of the instructions of
/// [`BatchResult`].
///
/// None of it has a character that JSON escapes: a content type with a rule, a locale and a base URL.
struct CommonText {
    /// Up to the `documentId`.
    start: String,
    /// From the end of the `documentId` to the path of the URL.
    middle: String,
}

impl CommonText {
    fn new(uid: &str, locale: &Locale, base: &BaseUrl) -> Self {
        Self {
            start: format!(r#"{{"uid":"{uid}","documentId":""#),
            middle: format!(r#"","locale":"{locale}","url":"{base}"#),
        }
    }

    /// Appends a result. Neither a valid id nor a path has a character that JSON escapes.
    fn write_result(&self, json: &mut Json, id: &str, path: &str) {
        json.raw(&self.start).raw(id).raw(&self.middle).raw(path);
        json.raw(r#"","path":""#).raw(path).raw(r#""}"#);
    }
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

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_catalog::json::to_text;
    use frontend_map_catalog::site::AbsoluteUrl;

    #[test]
    fn result_by_its_common_text_is_that_of_the_type() {
        let base = BaseUrl::parse("https://example.com/shop").unwrap();
        let (uid, locale) = ("plugin::cms.article", Locale::parse("pt-BR").unwrap());
        let path = "/pt-BR/articles/caf%C3%A9%22";
        let mut json = Json::with_capacity(0);
        CommonText::new(uid, &locale, &base).write_result(&mut json, "a1", path);
        let result = BatchResult {
            uid: Some(uid),
            document_id: Some("a1"),
            locale: Some("pt-BR"),
            url: Some(AbsoluteUrl { base: &base, path }),
            path: Some(path),
            ..BatchResult::default()
        };
        assert_eq!(json.into_text(), to_text(&result));
    }
}

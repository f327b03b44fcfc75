//! The results of a batch: a URL for each document, or the reason why it has none.

use std::borrow::Cow;

use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};

use super::batch::{Batch, ItemResolution, TypeOfSite};
use super::sources::Source;
use crate::http::operations::frontend_url::{NO_RULE, NO_VERSION};
use crate::http::responses::{BatchResult, FrontendUrls, Success};
use frontend_map_catalog::json::Json;
use frontend_map_catalog::path_index::{PathOwners, SharedPath, VersionPath};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Snapshot, Version};
use frontend_map_cms::{Document, DocumentLocale};
use frontend_map_rules::frontend_url::{NoUrl, NoUrlReason, frontend_path};

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
    json.value(&Success::new(FrontendUrls { results: Results { batch, sources } }));
    json.into_bytes()
}

/// The results of a batch. Each is found when it is written.
struct Results<'b> {
    batch: &'b Batch<'b>,
    sources: &'b [Source],
}

impl Serialize for Results<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut results = serializer.serialize_seq(Some(self.batch.items.len()))?;
        let unknown_locale = NoUrlReason::LocaleUnknown.to_string();
        for (item, type_and_locale, resolution) in self.batch.items() {
            let id = item.document_id.as_deref();
            let as_requested = BatchResult {
                uid: type_and_locale.uid.as_deref(),
                document_id: id,
                locale: type_and_locale.locale.as_deref(),
                ..BatchResult::default()
            };
            let reason: &str = match resolution {
                ItemResolution::Invalid => INVALID,
                ItemResolution::NoRule => NO_RULE,
                ItemResolution::NoLocale => &unknown_locale,
                ItemResolution::Type { at, locale } => {
                    let of = self.batch.types[at];
                    let found = find(of, &self.sources[at], id.unwrap_or_default(), locale);
                    results.serialize_element(&found.result(of.site, as_requested))?;
                    continue;
                }
            };
            results.serialize_element(&BatchResult { reason: Some(reason), ..as_requested })?;
        }
        results.end()
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

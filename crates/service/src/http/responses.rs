//! The JSON of the public listener, a type for each response, with the members in the order of the text.
//!
//! Here are the envelopes, the errors, and what the operations put together. What a pure package computes
//! has its type there, because commands print it too: the answers to pathnames
//! (`catalog::resolve`), rows of tables (`catalog::tables`, `moved`, `misses`), changes
//! (`catalog::changes`), previews (`catalog::preview`), and results of URL checks
//! (`outbound::checks::report`). The tests beside this file compare all of them with `docs/openapi.yaml`.

use std::borrow::Cow;

use serde::Serialize;

use frontend_map_catalog::changes::log::ChangeRow;
use frontend_map_catalog::links::LinkFigures;
use frontend_map_catalog::path_index::SharedPath;
use frontend_map_catalog::preview::SitePreview;
use frontend_map_catalog::resolve::Gone;
use frontend_map_catalog::site::AbsoluteUrl;
use frontend_map_outbound::checks::Source;
use frontend_map_outbound::checks::content::Fault;
use frontend_map_outbound::checks::report::{Classes, FoundInPages, Tally, UrlCheck};

/// What follows the list at the end of the payload of a success.
pub(super) const END_OF_LIST: &str = r#"]},"meta":{}}"#;

/// The envelope of a success.
#[derive(Serialize)]
pub(super) struct Success<T> {
    pub(super) data: T,
    pub(super) meta: Meta,
}

/// Always empty.
#[derive(Serialize)]
pub(super) struct Meta {}

/// The envelope of a failure.
#[derive(Serialize)]
pub(super) struct Failure<'e> {
    /// `null`.
    pub(super) data: (),
    pub(super) error: ErrorMembers<'e>,
}

#[derive(Serialize)]
pub(super) struct ErrorMembers<'e> {
    /// The status of the response.
    pub(super) status: u16,
    pub(super) name: &'e str,
    /// For people.
    pub(super) message: &'e str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) details: Option<&'e Details>,
}

/// The `details` of an error.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum Details {
    /// 404 of `/api/get-content-type` and `/api/resolve`: no rule matches.
    NoMatch {
        pathname: String,
        normalized_path: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        candidates: Option<Vec<Candidate>>,
        /// A document had the path that is not published now.
        #[serde(skip_serializing_if = "Option::is_none")]
        gone: Option<Gone<'static>>,
    },
    /// 404 of `/api/frontend-url`: why there is no URL. A reason of D13 has the rule.
    NoUrl {
        reason: Cow<'static, str>,
        #[serde(skip_serializing_if = "Option::is_none")]
        rule: Option<String>,
    },
    /// 404 of an address that the service does not have: which part of it.
    Missing { reason: &'static str },
    /// 501 of `/api/frontend-url`: the path, for a locale without a base URL.
    Path { path: String },
}

/// One rule that was tried (D10).
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Candidate {
    pub(super) collection_type: String,
    pub(super) rule: String,
    pub(super) reason: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) segment: Option<usize>,
}

/// `/api/frontend-url`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FrontendUrl {
    pub(super) url: String,
    pub(super) path: String,
    /// Only with `details=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared_path: Option<SharedPath>,
}

/// `/api/frontend-urls`: one of its `results`, a URL with its path, or the reason why there is none.
#[derive(Clone, Copy, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct BatchResult<'a> {
    pub(super) uid: Option<&'a str>,
    pub(super) document_id: Option<&'a str>,
    pub(super) locale: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) url: Option<AbsoluteUrl<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) path: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<&'a str>,
    /// The template of the rule that the reason is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) rule: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shared_path: Option<&'a SharedPath>,
}

/// `/api/document`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DocumentUrls<'a> {
    pub(super) site: &'a str,
    pub(super) content_type: &'a str,
    pub(super) document_id: &'a str,
    /// In the order of the site; one alone for a document that is not localized.
    pub(super) locales: Vec<LocaleUrl<'a>>,
}

/// What the document has in a locale.
#[derive(Serialize)]
pub(super) struct LocaleUrl<'a> {
    pub(super) locale: &'a str,
    #[serde(flatten)]
    pub(super) state: UrlState<'a>,
}

#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(super) enum UrlState<'a> {
    Url {
        /// `None` without a base URL of the locale.
        url: Option<String>,
        path: String,
        former_paths: Vec<String>,
        #[serde(skip_serializing_if = "Option::is_none")]
        shared_path: Option<SharedPath>,
        #[serde(skip_serializing_if = "Option::is_none")]
        last_check: Option<Box<LastCheck>>,
    },
    NoUrl {
        reason: String,
        /// The template of the rule that was tried.
        rule: Option<&'a str>,
    },
}

/// What the last run found for the URL of a version, which may have another one now.
#[derive(Serialize)]
pub(super) struct LastCheck {
    #[serde(flatten)]
    pub(super) entry: UrlCheck,
    /// The end of the run.
    pub(super) at: String,
    #[serde(skip)]
    pub(super) locale: String,
}

/// `/api/publish-preview`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PublishPreview<'a> {
    pub(super) content_type: &'a str,
    pub(super) document_id: &'a str,
    pub(super) locale: &'a str,
    /// In the order of the settings: those with a rule for the content type, and those with pages that
    /// read a value of the document.
    pub(super) sites: Vec<SitePreview>,
    /// The sites without a rule for the content type whose pages are not known at the moment: they may read
    /// a value of the document.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) unknown: Vec<&'a str>,
}

/// `/api/sites`.
#[derive(Serialize)]
pub(super) struct Sites<'a> {
    pub(super) sites: Vec<SiteRow<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SiteRow<'a> {
    pub(super) key: &'a str,
    pub(super) locales: Vec<&'a str>,
    /// In the order of the rules.
    pub(super) content_types: Vec<&'a str>,
    /// In the order of the settings.
    pub(super) redirects: Vec<RedirectType<'a>>,
}

/// A content type whose documents are redirects, and its fields.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RedirectType<'a> {
    pub(super) content_type: &'a str,
    pub(super) from: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<String>,
    /// The relation to the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) document: Option<String>,
}

/// `/api/changes`.
#[derive(Serialize)]
pub(super) struct ChangeList {
    pub(super) cursor: String,
    pub(super) more: bool,
    pub(super) reset: bool,
    pub(super) changes: Vec<ChangeRow>,
}

/// DELETE of `/api/misses`.
#[derive(Serialize)]
pub(super) struct ClearedMisses {
    pub(super) cleared: usize,
}

/// POST of `/api/links`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadingLinks {
    pub(super) is_reading: bool,
}

/// `/hooks/cms`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Accepted {
    pub(super) accepted: bool,
    /// How many a `frontend-map.refresh` has selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content_types: Option<usize>,
}

/// `/api/build-sitemap` with `validate=true`. The results follow the others in chunks: [`UrlCheck`] each, or
/// [`Finding`](frontend_map_outbound::checks::Finding) with `content=true`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ValidationResult<'r, R> {
    pub(super) validated: bool,
    pub(super) site: &'r str,
    pub(super) content_type: &'r str,
    #[serde(flatten)]
    pub(super) tally: Tally,
    /// Only with `content=true`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<FoundInPages>,
    pub(super) results: Vec<R>,
}

/// The event `progress`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProgressEvent {
    pub(super) checked: usize,
    pub(super) total: usize,
    pub(super) by_class: Classes,
}

/// The event `stopped`: why a stream ends before its run.
#[derive(Serialize)]
pub(super) struct StoppedEvent {
    pub(super) reason: &'static str,
}

/// `/api/validations`: the last run of each content type.
#[derive(Serialize)]
pub(super) struct Validations<'r> {
    pub(super) validations: Vec<LastRun<'r>>,
    /// The figures of broken links; only where all content types are asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) links: Option<LinkFigures>,
}

/// The last run of a content type.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LastRun<'r> {
    pub(super) content_type: &'r str,
    #[serde(flatten)]
    pub(super) tally: Tally,
    pub(super) started_at: String,
    pub(super) ended_at: String,
    pub(super) truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) content: Option<LastContent>,
    /// The pages of the document of the request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pages: Option<Vec<CheckedPage<'r>>>,
    pub(super) dead: Vec<DeadUrl<'r>>,
}

/// What the last run that judged pages has found in them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct LastContent {
    pub(super) ended_at: String,
    #[serde(flatten)]
    pub(super) found: FoundInPages,
}

/// The result of a URL of the requested document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct CheckedPage<'r> {
    #[serde(flatten)]
    pub(super) entry: UrlCheck,
    #[serde(flatten)]
    pub(super) source: Source<'r>,
    /// The faults that the last run that judged pages has found.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) faults: Vec<Fault>,
}

/// A dead URL.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DeadUrl<'r> {
    pub(super) url: String,
    pub(super) status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) reason: Option<String>,
    #[serde(flatten)]
    pub(super) source: Source<'r>,
    /// The end of the first of several runs that found it dead.
    pub(super) since: String,
}

impl<T> Success<T> {
    pub(super) fn new(data: T) -> Self {
        Self { data, meta: Meta {} }
    }
}

#[cfg(test)]
mod tests;

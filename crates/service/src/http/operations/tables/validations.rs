//! `GET /api/validations`: what the last run of URL checks of each content type has found, without a
//! new run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use axum::extract::{RawQuery, State};
use axum::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use serde::Serialize;

use super::links::judged;
use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::params::{
    MAX_UID_BYTES, SITE, known_site, known_type, parse_document_id, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::envelope::JSON;
use crate::http::response::error::ApiError;
use crate::http::response::stream_body::stream_of_unknown_length;
use frontend_map_catalog::links::{LinkFilter, Verdict};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::timestamp_text;
use frontend_map_catalog::tables::Rows as _;
use frontend_map_outbound::checks::content::Fault;
use frontend_map_outbound::checks::report::{Entry, SiteContent, Tally};
use frontend_map_outbound::checks::runs::{self, LastRun};
use frontend_map_outbound::checks::{Source, Target};
use frontend_map_platform::clock::unix_ms_of;
use frontend_map_rules::Locale;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 3] = [
    SITE,
    Param { name: "contentType", max_bytes: MAX_UID_BYTES },
    Param { name: "documentId", max_bytes: 64 },
];

/// A run describes one moment, and the next one may end at any time.
const NO_STORE: HeaderValue = HeaderValue::from_static("no-store");

/// The size that ends a chunk, in bytes.
const CHUNK: usize = 64 * 1024;

/// The checked parameters.
struct Params<'a> {
    site: &'a Site,
    content_type: Option<Cow<'a, str>>,
    document_id: Option<Cow<'a, str>>,
}

/// The response, from memory.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, ApiError> {
    let params = Params::parse(&app, query.as_deref())?;
    require_bearer(app.http.validate_token.as_ref(), &headers)?;
    let uids = params.site.rules.content_types();
    let uids = uids.iter().map(|uid| uid.as_str()).chain([PAGES]);
    let wanted = |uid: &&str| params.content_type.as_ref().is_none_or(|wanted| wanted == uid);
    let uids: Vec<&str> = uids.filter(wanted).collect();
    let runs = app.last_validations(params.site, &uids).await;
    let with_content = |run: Arc<LastRun>| {
        let content = app.last_content_run(params.site, &run.run.targets().content_type);
        LastRuns { run, content }
    };
    let runs = runs.into_iter().map(with_content).collect();
    let links = params.content_type.is_none().then(|| links(&app, &params)).flatten();
    let chunks = Chunks::new(runs, params.document_id.as_deref(), links);
    let mut response = Response::new(stream_of_unknown_length(chunks));
    response.headers_mut().insert(CONTENT_TYPE, JSON);
    response.headers_mut().insert(CACHE_CONTROL, NO_STORE);
    Ok(response)
}

/// The figures of the broken links of the site or of the document, if the content was read for them.
fn links(app: &App, params: &Params<'_>) -> Option<String> {
    let filter = LinkFilter {
        document_id: params.document_id.as_deref().map(str::to_owned),
        verdicts: Verdict::ALL.into_iter().filter(|verdict| verdict.is_broken()).collect(),
        ..LinkFilter::default()
    };
    let site = app.sites.get_shared(&params.site.key)?;
    Some(judged(app, site, &filter).ok()?.figures())
}

impl<'a> Params<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [site, content_type, document_id] = parse(query, &PARAMS)?;
        let site = known_site(app, &required("site", site)?)?;
        if let Some(uid) = &content_type {
            known_type(site, uid)?;
        }
        let document_id = document_id.map(parse_document_id).transpose()?;
        Ok(Self { site, content_type, document_id })
    }
}

/// The members of a run before its lists.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RunStart<'r> {
    content_type: &'r str,
    #[serde(flatten)]
    tally: Tally,
    started_at: String,
    ended_at: String,
    truncated: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<LastContent>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pages: Option<Vec<Page<'r>>>,
}

/// What the last run that judged pages has found in them.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct LastContent {
    ended_at: String,
    #[serde(flatten)]
    found: SiteContent,
}

/// The result of a URL of the requested document.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Page<'r> {
    #[serde(flatten)]
    entry: Entry,
    #[serde(flatten)]
    source: Source<'r>,
    /// Those of the last run that judged pages.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    faults: Vec<Fault>,
}

/// What the last run found for the URL of a version, which may have another one now.
#[derive(Serialize)]
pub(in crate::http::operations) struct LastCheck {
    #[serde(flatten)]
    entry: Entry,
    /// The end of the run.
    at: String,
    #[serde(skip)]
    locale: String,
}

/// A dead URL.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Dead<'r> {
    url: String,
    status: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<String>,
    #[serde(flatten)]
    source: Source<'r>,
    since: String,
}

/// The last run of a content type, and the last one that judged pages.
#[derive(Clone)]
struct LastRuns {
    run: Arc<LastRun>,
    content: Option<Arc<LastRun>>,
}

/// The envelope with the runs, as an iterator of chunks.
struct Chunks {
    runs: Vec<LastRuns>,
    document_id: Option<String>,
    /// The figures of broken links.
    links: Option<String>,
    /// The index of the run that is being written; one more than the last: the end is due.
    run: usize,
    /// The index of its next dead URL.
    dead: usize,
    ended: bool,
}

impl Chunks {
    fn new(runs: Vec<LastRuns>, document_id: Option<&str>, links: Option<String>) -> Self {
        let document_id = document_id.map(str::to_owned);
        Self { runs, document_id, links, run: 0, dead: 0, ended: false }
    }

    /// Appends the members of a run before `dead`, and the beginning of that list.
    fn begin_run(&self, runs: &LastRuns, chunk: &mut String) {
        let LastRuns { run, content } = runs;
        let pages = self.document_id.as_deref().map(|id| pages(runs, id));
        let content = content.as_ref().and_then(|last| {
            Some(LastContent { ended_at: time(last.ended()), found: last.run.content()? })
        });
        let head = to_json(&RunStart {
            content_type: &run.run.targets().content_type,
            tally: run.run.tally(),
            started_at: time(run.begun()),
            ended_at: time(run.ended()),
            truncated: run.is_truncated(),
            content,
            pages,
        });
        // The dead URLs become its last member.
        chunk.push_str(if self.run == 0 { "" } else { "," });
        chunk.push_str(head.strip_suffix('}').expect("a struct is a JSON object"));
        chunk.push_str(r#","dead":["#);
    }

    /// Appends dead URLs of a run, at least one, until the chunk is full. Returns whether none is left.
    fn write_dead(&mut self, run: &LastRun, chunk: &mut String) -> bool {
        for dead in &run.dead()[self.dead..] {
            chunk.push_str(if self.dead == 0 { "" } else { "," });
            chunk.push_str(&to_json(&dead_url(run, *dead)));
            self.dead += 1;
            if chunk.len() >= CHUNK {
                break;
            }
        }
        self.dead == run.dead().len()
    }
}

impl Iterator for Chunks {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        if self.ended {
            return None;
        }
        let mut chunk = String::new();
        if self.run == 0 && self.dead == 0 {
            chunk.push_str(r#"{"data":{"validations":["#);
        }
        while let Some(runs) = self.runs.get(self.run).cloned() {
            if self.dead == 0 {
                self.begin_run(&runs, &mut chunk);
            }
            if !self.write_dead(&runs.run, &mut chunk) {
                return Some(chunk);
            }
            chunk.push_str("]}");
            (self.run, self.dead) = (self.run + 1, 0);
        }
        self.ended = true;
        chunk.push(']');
        if let Some(links) = &self.links {
            chunk.push_str(&format!(r#","links":{{{links}}}"#));
        }
        chunk.push_str(r#"},"meta":{}}"#);
        Some(chunk)
    }
}

fn pages<'r>(runs: &'r LastRuns, document_id: &str) -> Vec<Page<'r>> {
    let run = &*runs.run;
    let faults = |url: &str| {
        let content = runs.content.as_ref()?;
        let mut positions = content.positions_of(document_id);
        let position = positions.find(|at| content.run.targets().url(*at) == url)?;
        Some(content.run.faults(position))
    };
    let page = |position| {
        let (target, entry) = result(run, position);
        let faults = faults(&entry.url).unwrap_or_default();
        Page { entry, source: Source::of(&target), faults }
    };
    // The name of a page may be the id of a document.
    if run.run.targets().content_type == PAGES {
        return Vec::new();
    }
    run.positions_of(document_id).map(page).collect()
}

/// The results of the URLs that a document had at the time of a run.
pub(in crate::http::operations) fn last_checks(run: &LastRun, document_id: &str) -> Vec<LastCheck> {
    let check = |position| {
        let (target, entry) = result(run, position);
        LastCheck { entry, at: time(run.ended()), locale: target.locale.to_owned() }
    };
    run.positions_of(document_id).map(check).collect()
}

impl LastCheck {
    pub(in crate::http::operations) fn is_in(&self, locale: &Locale) -> bool {
        self.locale == locale.as_str()
    }
}

fn dead_url(run: &LastRun, dead: runs::Dead) -> Dead<'_> {
    let (target, entry) = result(run, dead.position);
    let Entry { url, status, reason, .. } = entry;
    Dead { url, status, reason, source: Source::of(&target), since: time(dead.since) }
}

/// The result of the URL at a position.
fn result(run: &LastRun, position: usize) -> (Target<'_>, Entry) {
    let mut target = run.run.targets().target(position);
    let (_, checked) = run.run.in_order(position).expect("a run that has ended has all results");
    let url = std::mem::take(&mut target.url);
    (target, Entry::new(url, checked))
}

/// A time by RFC 3339, in UTC and milliseconds.
fn time(time: SystemTime) -> String {
    // Only times beyond the year 9999 have no text.
    timestamp_text(unix_ms_of(time)).unwrap_or_default()
}

/// # Panics
/// If `value` cannot be serialized: the values here are structs of text and numbers.
fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text and numbers are JSON")
}

//! `GET /api/validations`: what the last run of URL checks of each content type has found, without a
//! new run.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::SystemTime;

use axum::response::Response;
use tokio::task::block_in_place;

use super::links::judged;
use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{
    MAX_UID_BYTES, SITE, known_site, known_type, parse_document_id, required,
};
use crate::http::request::query::{Param, parse};
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::{self, CheckedPage, DeadUrl, LastCheck, LastContent, Validations};
use frontend_map_catalog::links::{LinkFigures, LinkFilter, Verdict};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::timestamp_text;
use frontend_map_catalog::tables::Rows as _;
use frontend_map_outbound::checks::report::UrlCheck;
use frontend_map_outbound::checks::runs::{self, LastRun};
use frontend_map_outbound::checks::{Source, Target};
use frontend_map_platform::clock::unix_ms_of;

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 3] = [
    SITE,
    Param { name: "contentType", max_bytes: MAX_UID_BYTES },
    Param { name: "documentId", max_bytes: 64 },
];

/// The checked parameters.
struct Params<'a> {
    site: &'a Arc<Site>,
    content_type: Option<Cow<'a, str>>,
    document_id: Option<Cow<'a, str>>,
}

/// The response, from memory.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
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
    let runs: Vec<LastRuns> = runs.into_iter().map(with_content).collect();
    let links = params.content_type.is_none().then(|| links(&app, &params)).flatten();
    // A run has thousands of dead URLs when the frontend is down.
    Ok(no_store(block_in_place(|| {
        let validations = runs.iter().map(|runs| runs.row(params.document_id.as_deref()));
        success(Validations { validations: validations.collect(), links })
    })))
}

/// The figures of the broken links of the site or of the document, if the content was read for them.
fn links(app: &App, params: &Params<'_>) -> Option<LinkFigures> {
    let filter = LinkFilter {
        document_id: params.document_id.as_deref().map(str::to_owned),
        verdicts: Verdict::ALL.into_iter().filter(|verdict| verdict.is_broken()).collect(),
        ..LinkFilter::default()
    };
    Some(judged(app, params.site, &filter).ok()?.figures())
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

/// The last run of a content type, and the last one that judged pages.
struct LastRuns {
    run: Arc<LastRun>,
    content: Option<Arc<LastRun>>,
}

impl LastRuns {
    /// With the pages of a document, if one is named.
    fn row(&self, document_id: Option<&str>) -> responses::LastRun<'_> {
        let Self { run, content } = self;
        let content = content.as_ref().and_then(|last| {
            Some(LastContent { ended_at: time(last.ended()), found: last.run.content()? })
        });
        responses::LastRun {
            content_type: &run.run.targets().content_type,
            tally: run.run.tally(),
            started_at: time(run.begun()),
            ended_at: time(run.ended()),
            truncated: run.is_truncated(),
            content,
            pages: document_id.map(|id| pages(self, id)),
            dead: run.dead().iter().map(|dead| dead_url(run, *dead)).collect(),
        }
    }
}

fn pages<'r>(runs: &'r LastRuns, document_id: &str) -> Vec<CheckedPage<'r>> {
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
        CheckedPage { entry, source: Source::of(&target), faults }
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

fn dead_url(run: &LastRun, dead: runs::Dead) -> DeadUrl<'_> {
    let (target, entry) = result(run, dead.position);
    let UrlCheck { url, status, reason, .. } = entry;
    DeadUrl { url, status, reason, source: Source::of(&target), since: time(dead.since) }
}

/// The result of the URL at a position.
fn result(run: &LastRun, position: usize) -> (Target<'_>, UrlCheck) {
    let mut target = run.run.targets().target(position);
    let (_, checked) = run.run.in_order(position).expect("a run that has ended has all results");
    let url = std::mem::take(&mut target.url);
    (target, UrlCheck::new(url, checked))
}

/// A time by RFC 3339, in UTC and milliseconds.
fn time(time: SystemTime) -> String {
    // Only times beyond the year 9999 have no text.
    timestamp_text(unix_ms_of(time)).unwrap_or_default()
}

//! `/readyz` of the admin listener: the state of the service in detail.

use std::sync::Arc;
use std::time::SystemTime;

use axum::http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde::Serialize;

use crate::app::{App, Readiness};
use crate::http::response::envelope::{HttpResponse, json_response};
use frontend_map_cache::TypeStatus;
use frontend_map_cms::BreakerState;
use frontend_map_fleet::status::{RedisStatus, SnapshotStatus};
use frontend_map_store::StoreState;

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    ready: bool,
    /// Whether it waits for documents that decide about paths.
    starting: bool,
    draining: bool,
    version: &'static str,
    since: String,
    settings: Settings,
    /// `null` if content comes from a file.
    cms: Option<Cms>,
    /// `null` without a store.
    store: Option<Store>,
    /// `null` without `[shared]`.
    shared: Option<RedisStatus>,
    content_types: Vec<ContentTypeState<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    loaded_at: String,
    /// Why newer settings were refused.
    problems: Option<String>,
}

#[derive(Serialize)]
struct Cms {
    breaker: &'static str,
}

#[derive(Serialize)]
struct Store {
    state: &'static str,
    /// Why it is failing.
    problem: Option<String>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ContentTypeState<'a> {
    site: &'a str,
    content_type: &'a str,
    /// `null` before the first walk has ended.
    age_seconds: Option<u64>,
    urls: Option<usize>,
    stale: bool,
    failing: bool,
    /// Whether readiness waits for it.
    awaited: bool,
    /// `null` without `[shared]`.
    shared: Option<SnapshotStatus>,
}

/// The response, with the same status as `/readyz` of the public listener.
pub(in crate::http) fn get(app: &Arc<App>) -> HttpResponse {
    let readiness = app.readiness();
    let metrics = &app.shared.metrics;
    let (loaded_at, problems) = metrics.reloads.state();
    let state = State {
        ready: readiness == Readiness::Ready,
        starting: readiness == Readiness::Starting,
        draining: readiness == Readiness::Draining,
        version: env!("CARGO_PKG_VERSION"),
        since: rfc_3339(metrics.started()),
        settings: Settings { loaded_at: rfc_3339(loaded_at), problems },
        cms: app.breaker_state().map(|state| Cms { breaker: breaker(state) }),
        store: app.shared.store.state().map(store),
        shared: app.shared.fleet.redis_status(app.shared.validator.counts()),
        content_types: app.type_statuses().iter().map(content_type).collect(),
    };
    let status = if state.ready { StatusCode::OK } else { StatusCode::SERVICE_UNAVAILABLE };
    let text = serde_json::to_vec(&state).expect("text and numbers are JSON");
    json_response(status, text, HeaderMap::new())
}

fn store(state: StoreState) -> Store {
    let name = state.name();
    let problem = if let StoreState::Failing(reason) = state { Some(reason) } else { None };
    Store { state: name, problem }
}

fn content_type<'a>(status: &TypeStatus<'a>) -> ContentTypeState<'a> {
    let cached = status.cached.as_ref();
    ContentTypeState {
        site: &status.site.key,
        content_type: status.uid.as_str(),
        age_seconds: cached.map(|cached| cached.begun.elapsed().as_secs()),
        urls: cached.map(|cached| cached.snapshot.len()),
        stale: status.stale,
        failing: status.failing,
        awaited: status.awaited,
        shared: status.shared,
    }
}

fn breaker(state: BreakerState) -> &'static str {
    if state.is_half_open() {
        "probing"
    } else if state.is_open() {
        "open"
    } else {
        "closed"
    }
}

/// To the second.
fn rfc_3339(time: SystemTime) -> String {
    let time = Timestamp::try_from(time).and_then(|time| time.round(jiff::Unit::Second));
    time.expect("the year of the clock has four digits").to_string()
}

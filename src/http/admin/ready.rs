//! `/readyz` in detail.

use std::time::SystemTime;

use axum::http::{HeaderMap, StatusCode};
use jiff::Timestamp;
use serde::Serialize;

use crate::app::{App, TypeState};
use crate::content::BreakerState;
use crate::http::envelope::{Answer, json};

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct State<'a> {
    ready: bool,
    draining: bool,
    version: &'static str,
    since: Option<String>,
    settings: Settings,
    /// `null`: content comes from a file.
    cms: Option<Cms>,
    content_types: Vec<OfType<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Settings {
    loaded_at: Option<String>,
    /// Why those that were read since are not in use.
    problems: Option<String>,
}

#[derive(Serialize)]
struct Cms {
    breaker: &'static str,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfType<'a> {
    site: &'a str,
    content_type: &'a str,
    /// `null`: there has been no walk yet.
    age_seconds: Option<u64>,
    urls: Option<usize>,
    stale: bool,
    failing: bool,
}

/// As the status of `/readyz` on the public port, and why.
pub(super) fn answer(app: &App) -> Answer {
    let draining = app.lasting().is_draining();
    let metrics = &app.lasting().metrics;
    let (loaded_at, problems) = metrics.reloads.state();
    let state = State {
        ready: !draining,
        draining,
        version: env!("CARGO_PKG_VERSION"),
        since: moment(metrics.started()),
        settings: Settings { loaded_at: moment(loaded_at), problems },
        cms: app.cms_health().map(|health| Cms { breaker: breaker(health) }),
        content_types: app.type_states().iter().map(content_type).collect(),
    };
    let status = if draining { StatusCode::SERVICE_UNAVAILABLE } else { StatusCode::OK };
    // Text and numbers: there is nothing in it that JSON cannot hold.
    json(status, serde_json::to_vec(&state).unwrap_or_default(), HeaderMap::new())
}

fn content_type<'a>(state: &TypeState<'a>) -> OfType<'a> {
    let kept = state.kept.as_ref();
    OfType {
        site: &state.site.key,
        content_type: state.uid.as_str(),
        age_seconds: kept.map(|kept| kept.begun.elapsed().as_secs()),
        urls: kept.map(|kept| kept.snapshot.len()),
        stale: state.stale,
        failing: state.failing,
    }
}

fn breaker(health: BreakerState) -> &'static str {
    if health.is_half_open() {
        "probing"
    } else if health.is_open() {
        "open"
    } else {
        "closed"
    }
}

/// To the second.
fn moment(time: SystemTime) -> Option<String> {
    let time = Timestamp::try_from(time).ok()?.round(jiff::Unit::Second).ok()?;
    Some(time.to_string())
}

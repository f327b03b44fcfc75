//! `POST /hooks/cms`: a webhook of the CMS reports that content may have changed.
//!
//! It only says that something may have changed: Strapi's webhooks are not signed and arrive at most once. So the body only
//! decides which documents are read from the CMS again: the named one, and those that read it.

mod event;

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::time::timeout;

use crate::app::{App, receive_cms_event};
use crate::http::request::bearer::BearerToken;
use crate::http::request::params::known_site;
use crate::http::request::query::echo;
use crate::http::response::envelope::{json_response, success_text};
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::Accepted;
use frontend_map_fleet::cms_events::{CmsChange, CmsEvent};
use frontend_map_platform::metrics::{HookRefusal, Label};
use frontend_map_rules::ContentTypeUid;

/// How much of a body is read, in bytes, and for how long: a response before the end of the body
/// would look like a broken connection to the CMS. An entry with its relations has some megabytes.
const MAX_BODY: usize = 64 << 20;
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// The part of a longer body that is parsed, in bytes. Strapi names the document at the beginning,
/// before its relations, which may be thousands.
const MAX_PARSED_BODY: usize = 1 << 20;
const MALFORMED: &str = "an event of a refresh has the texts `event`, `site` and `uid`, of which the last two \
                         may be left out, and nothing else";

/// The response, after the body has been read.
pub(in crate::http) async fn post(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    request: Request<Body>,
) -> Response {
    let secret = app.http.webhook_secret.as_ref();
    let token = secret.map(|secret| BearerToken::check(secret, &headers));
    let authorized = token == Some(BearerToken::Valid);
    let max_bytes = if authorized { MAX_PARSED_BODY } else { 0 };
    let read = timeout(BODY_TIMEOUT, read_body(request.into_body(), max_bytes));
    let body = read.await.unwrap_or_default();
    match token {
        Some(BearerToken::Valid) => {}
        None => {
            count_refusal(&app, HookRefusal::NoSecret);
            return ApiError::not_configured("the secret of the webhook is not configured")
                .into_response();
        }
        Some(refused) => {
            let is_missing = refused == BearerToken::Missing;
            let cause = if is_missing { HookRefusal::NoToken } else { HookRefusal::WrongToken };
            count_refusal(&app, cause);
            return ApiError::unauthorized().into_response();
        }
    }
    let event = event::read(&body);
    let mut content_types = None;
    if event.is_refresh() {
        match select_for_refresh(&app, &body) {
            Ok(selected) => {
                content_types = Some(selected.number);
                receive_cms_event(&app, selected.event).await;
            }
            Err(error) => return error.into_response(),
        }
    } else {
        receive_cms_event(&app, event.into_cms_event()).await;
    }
    let text = success_text(Accepted { accepted: true, content_types });
    no_store(json_response(StatusCode::ACCEPTED, text, HeaderMap::new()))
}

/// Counts a webhook that is refused, and logs one of each cause and hour.
fn count_refusal(app: &App, cause: HookRefusal) {
    if app.shared.metrics.hook_refusals.count(cause, Instant::now()) {
        let (cause, problem) = (
            cause.as_str(),
            match cause {
                HookRefusal::NoSecret => "the settings have no secret",
                HookRefusal::NoToken => "they have no header `Authorization: Bearer …`",
                HookRefusal::WrongToken => {
                    "the token in their header `Authorization` is not the secret"
                }
            },
        );
        tracing::warn!(cause, problem, "webhooks of the CMS are refused");
    }
}

/// Reads a body to its end. Returns at most its first `max_bytes`, and what there is of a body that
/// breaks off: the hook is accepted all the same.
async fn read_body(mut body: Body, max_bytes: usize) -> Vec<u8> {
    let (mut read, mut length) = (Vec::new(), 0);
    while let Some(Ok(frame)) = body.frame().await {
        // Trailers are ignored.
        let data = frame.into_data().unwrap_or_default();
        length += data.len();
        if length > MAX_BODY {
            break;
        }
        let room = max_bytes.saturating_sub(read.len()).min(data.len());
        read.extend_from_slice(&data[..room]);
    }
    read
}

/// The event `frontend-map.refresh`, as a client sends it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Refresh {
    #[serde(rename = "event")]
    _event: IgnoredAny,
    /// The key of the site whose content types are meant; by default all sites.
    site: Option<String>,
    /// The content type; by default all of them.
    uid: Option<String>,
}

/// What such an event refreshes.
struct Selected {
    event: CmsEvent,
    /// The number of content types.
    number: usize,
}

/// The content types that the event of a body selects.
///
/// # Errors
/// If the event has other members, if no rule is for what it names, or if no list can be walked.
fn select_for_refresh(app: &App, body: &[u8]) -> Result<Selected, ApiError> {
    let Refresh { site, uid, .. } =
        serde_json::from_slice(body).map_err(|_| ApiError::validation(MALFORMED))?;
    let is_all = site.is_none() && uid.is_none();
    let sites = match &site {
        Some(key) => vec![known_site(app, key)?],
        None => app.sites.iter().collect(),
    };
    let types = sites.iter().flat_map(|site| site.all_content_types());
    let is_selected = |known: &&str| uid.as_ref().is_none_or(|uid| uid == known);
    let types: BTreeSet<&str> = types.map(ContentTypeUid::as_str).filter(is_selected).collect();
    if let Some(uid) = uid.as_ref().filter(|_| types.is_empty()) {
        let message = format!("no rule is for this `uid`: {}", echo(uid));
        return Err(ApiError::validation(message));
    }
    if !app.snapshots.content().may_change() {
        let message = "the content comes from a file: a reload of the service reads it (SIGHUP)";
        return Err(ApiError::not_configured(message));
    }
    let number = types.len();
    let change = if is_all {
        CmsChange::Anything
    } else {
        CmsChange::ContentTypes(types.into_iter().map(str::to_owned).collect())
    };
    Ok(Selected { event: CmsEvent { withdraws: false, change, is_found: true }, number })
}

//! `GET` and `POST /api/frontend-urls`: the public URLs of many documents.
//!
//! They come from the snapshots, so that a page with many links costs the CMS nothing. Where there is
//! no snapshot yet, the CMS is asked for the documents themselves, in lists.

mod batch;
mod item;
mod results;
mod sources;

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{RawQuery, State};
use axum::http::header::{AGE, CONNECTION};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::time::timeout;

use self::batch::Batch;
use self::item::Items;
use crate::app::App;
use crate::http::request::call::Call;
use crate::http::request::params::{
    LOCALE, MAX_UID_BYTES, SITE, known_site, parse_document_locale, required,
};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::cache_status::insert_last_good_status;
use crate::http::response::conditional::conditional_json;
use crate::http::response::envelope::{HttpResponse, json_response};
use crate::http::response::error::ApiError;
use frontend_map_catalog::site::Site;

const STATUS: Param = Param::unlimited("status");

/// The query parameters of a GET.
pub(in crate::http) const GET_PARAMS: [Param; 5] = [
    Param { name: "uid", max_bytes: MAX_UID_BYTES },
    Param::unlimited("documentId"),
    LOCALE,
    STATUS,
    SITE,
];

/// The query parameters of a POST.
pub(in crate::http) const POST_PARAMS: [Param; 2] = [STATUS, SITE];

/// The most documents of a batch.
const MAX_DOCUMENTS: usize = 1_000;
/// The longest body, in bytes: a batch of 1,000 documents has about 100 KiB.
const MAX_BODY: usize = 256 << 10;
/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a longer body is read and dropped, in bytes: a client that still sends would not read
/// the response.
const MAX_DROPPED: usize = 64 << 20;

/// The response about documents of one content type in one locale.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [uid, ids, locale, status, site] = parse(query.as_deref(), &GET_PARAMS)?;
    let uid = required("uid", uid)?;
    let ids = required("documentId", ids)?;
    parse_document_locale(locale.as_deref())?;
    let site = parse_site(&app, status.as_deref(), site)?;
    check_count("documentId", ids.split(',').count())?;
    let items = Items::of_one_type(&uid, locale.as_deref(), ids.split(','));
    let (text, age) = respond(&app, site, &items).await?;
    let response = conditional_json(text, &app.http.cache_policy.url, headers);
    Ok(with_age(response, age))
}

/// The response about the documents in the body.
pub(in crate::http) async fn post(
    State(app): State<Arc<App>>,
    RawQuery(query): RawQuery,
    request: Request<Body>,
) -> Result<Response, Response> {
    // The body is read before anything is refused: a client that still sends it would not read the
    // response.
    let body = read_body(request.into_body()).await?;
    let respond = async || {
        let [status, site] = parse(query.as_deref(), &POST_PARAMS)?;
        let site = parse_site(&app, status.as_deref(), site)?;
        let items = item::read(&body)?;
        let (text, age) = respond(&app, site, &items).await?;
        Ok::<Response, ApiError>(with_age(
            json_response(StatusCode::OK, text, HeaderMap::new()),
            age,
        ))
    };
    respond().await.map_err(axum::response::IntoResponse::into_response)
}

/// The site of the parameter. Only published versions have an entry in a snapshot.
fn parse_site<'a>(
    app: &'a App,
    status: Option<&str>,
    site: Option<Cow<'_, str>>,
) -> Result<Option<&'a Arc<Site>>, ApiError> {
    if let Some(status) = status.filter(|status| *status != "published") {
        let message = format!("`status` must be published, not {}", echo(status));
        return Err(ApiError::validation(message));
    }
    site.map(|key| known_site(app, &key)).transpose()
}

fn check_count(name: &str, count: usize) -> Result<(), ApiError> {
    if (1..=MAX_DOCUMENTS).contains(&count) {
        return Ok(());
    }
    let message = format!("`{name}` must have 1 to {MAX_DOCUMENTS} documents, not {count}");
    Err(ApiError::validation(message))
}

/// The age of the oldest snapshot that was used, and whether the CMS fails for any of them; `None`: no
/// snapshot was used.
type Staleness = Option<(Duration, bool)>;

/// The text of the response, and how old it may be.
async fn respond(
    app: &App,
    site: Option<&Arc<Site>>,
    items: &Items<'_>,
) -> Result<(Vec<u8>, Staleness), ApiError> {
    let batch = Batch::new(app, site, items);
    let sources = sources::load(app, &batch).await?;
    let ages = sources.iter().filter_map(sources::Source::age);
    let staleness = ages.reduce(|(a, a_fails), (b, b_fails)| (a.max(b), a_fails || b_fails));
    Ok((results::write(&batch, &sources), staleness))
}

fn with_age(mut response: HttpResponse, staleness: Staleness) -> Response {
    match staleness {
        Some((age, true)) => insert_last_good_status(response.headers_mut(), age),
        Some((age, false)) => {
            response.headers_mut().insert(AGE, HeaderValue::from(age.as_secs()));
        }
        None => {}
    }
    response.map(Body::new)
}

/// The body.
///
/// # Errors
/// The response if it is too long, takes too long or breaks off.
async fn read_body(body: Body) -> Result<Vec<u8>, Response> {
    let (mut text, mut length) = (Vec::new(), 0);
    let ended = timeout(BODY_TIMEOUT, read_to_end(body, &mut text, &mut length)).await;
    match ended {
        _ if length > MAX_BODY => Err(closing(ApiError::payload_too_large(MAX_BODY))),
        Ok(Ok(())) => Ok(text),
        Ok(Err(_)) => Err(closing(ApiError::validation("the body is not complete"))),
        Err(_) => Err(closing(ApiError::request_timeout(BODY_TIMEOUT))),
    }
}

/// Reads at most [`MAX_BODY`] into `text`, and counts what there is.
async fn read_to_end(
    mut body: Body,
    text: &mut Vec<u8>,
    length: &mut usize,
) -> Result<(), axum::Error> {
    while let Some(frame) = body.frame().await {
        // Trailers are ignored.
        let data = frame?.into_data().unwrap_or_default();
        *length += data.len();
        if *length <= MAX_BODY {
            text.extend_from_slice(&data);
        } else if *length > MAX_DROPPED {
            break;
        } else {
            *text = Vec::new();
        }
    }
    Ok(())
}

/// The connection is closed, because a part of the body may be unread.
fn closing(error: ApiError) -> Response {
    let mut response = error.into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

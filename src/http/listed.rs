//! A list of public URLs as an answer: its form, its compression, what caches may do with it.

use std::time::SystemTime;

use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_64;

use super::copy::dress;
use super::encoding::takes_gzip;
use super::etag::is_current;
use super::pieces::{gzipped, plain};
use crate::app::{App, Served};
use crate::frontend_url::BaseUrl;
use crate::sitemap::{Form, List};

/// How many documents were left out because they have no URL (D13).
pub(super) const SKIPPED: HeaderName = HeaderName::from_static("x-skipped-documents");
/// Less than this is not worth compressing.
const WORTH_GZIP: u64 = 1024;

/// The listed URLs of a snapshot, or a 304 for who has them.
pub(super) fn listed(
    app: &App,
    served: &Served,
    base: &BaseUrl,
    form: Form,
    asked: &HeaderMap,
) -> Response {
    let snapshot = &served.kept.snapshot;
    let list = List::new(snapshot.clone(), base, form);
    let gzip = list.length() >= WORTH_GZIP && takes_gzip(asked);
    let tag = tag(served, base, form, gzip);
    let mut response = Response::default();
    let changed = served.kept.dated(served.kept.changed);
    if is_current(&tag, changed, asked) {
        *response.status_mut() = StatusCode::NOT_MODIFIED;
    } else {
        let length = list.length();
        *response.body_mut() = if gzip { gzipped(list) } else { plain(list, length) };
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(content_type(form)));
        if gzip {
            headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
        }
    }
    let headers = response.headers_mut();
    headers.insert(ETAG, tag);
    headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
    headers.insert(CACHE_CONTROL, app.caching.sitemap.clone());
    if let Some(changed) = changed {
        headers.insert(LAST_MODIFIED, date(changed));
    }
    headers.insert(SKIPPED, HeaderValue::from(snapshot.skipped.total()));
    dress(headers, served);
    response
}

fn content_type(form: Form) -> &'static str {
    match form {
        Form::Json => "application/json",
        Form::Xml => "application/xml",
    }
}

/// A strong tag, without writing the list: the same URLs in the same form have the same bytes.
fn tag(served: &Served, base: &BaseUrl, form: Form, gzip: bool) -> HeaderValue {
    let form = match form {
        Form::Json => "j",
        Form::Xml => "x",
    };
    let (base, gzip) = (xxh3_64(base.as_str().as_bytes()), if gzip { "z" } else { "" });
    let text = format!("\"{:032x}{base:016x}{form}{gzip}\"", served.kept.snapshot.listing_hash());
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("\"\""))
}

/// `Last-Modified`: never later than the answer itself (RFC 9110, sections 5.6.7 and 8.8.2.1).
pub(super) fn date(moment: SystemTime) -> HeaderValue {
    let text = httpdate::fmt_http_date(moment.min(SystemTime::now()));
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static(""))
}

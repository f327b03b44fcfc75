//! `Age` and `Cache-Status` (RFC 9211) of responses that come from a cached snapshot.

use std::time::Duration;

use axum::http::header::AGE;
use axum::http::{HeaderMap, HeaderName, HeaderValue};

use frontend_map_cache::{CacheStatus, Served};
use frontend_map_rules::ContentTypeUid;

const CACHE_STATUS: HeaderName = HeaderName::from_static("cache-status");

/// Adds both for the public URLs of a content type.
pub(in crate::http) fn insert_cache_status(headers: &mut HeaderMap, served: &Served) {
    headers.insert(AGE, HeaderValue::from(served.age.as_secs()));
    headers.insert(CACHE_STATUS, cache_status(served.status));
}

/// Adds both for several content types: those of the oldest snapshot.
pub(in crate::http) fn insert_oldest_status(
    headers: &mut HeaderMap,
    cached_snapshots: &[(&ContentTypeUid, Served)],
) {
    let served = cached_snapshots.iter().map(|(_, served)| served);
    if let Some(oldest) = served.min_by_key(|served| served.cached.begun) {
        insert_cache_status(headers, oldest);
    }
}

/// Adds both for single documents that are not read from the CMS, because it fails.
pub(in crate::http) fn insert_last_good_status(headers: &mut HeaderMap, age: Duration) {
    headers.insert(AGE, HeaderValue::from(age.as_secs()));
    let status = "frontend-map; hit; detail=\"the CMS fails\"";
    headers.insert(CACHE_STATUS, HeaderValue::from_static(status));
}

fn cache_status(status: CacheStatus) -> HeaderValue {
    let text = match status {
        CacheStatus::Hit { ttl, failing: false } => format!("frontend-map; hit; ttl={ttl}"),
        CacheStatus::Hit { ttl, failing: true } => {
            format!("frontend-map; hit; ttl={ttl}; detail=\"the CMS fails\"")
        }
        CacheStatus::Miss { collapsed: false } => "frontend-map; fwd=miss; stored".to_owned(),
        CacheStatus::Miss { collapsed: true } => "frontend-map; fwd=miss; collapsed".to_owned(),
    };
    HeaderValue::try_from(text).expect("constant text and a number are visible ASCII")
}

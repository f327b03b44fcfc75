//! A list of public URLs as a response: its format, compression and validators.

use axum::http::{HeaderMap, HeaderValue};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_64;

use super::X_SKIPPED_DOCUMENTS;
use crate::app::App;
use crate::http::request::encoding::accepts_gzip;
use crate::http::response::conditional::Representation;
use crate::http::response::etag;
use crate::http::response::stream_body::{stream, stream_gzip};
use frontend_map_cache::CachedSnapshot;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::sitemap::{Form, List};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// The smallest list that is worth compressing, in bytes.
const MIN_GZIP_BYTES: u64 = 1024;

/// The listed URLs of a snapshot, or a 304.
pub(super) fn url_list(
    app: &App,
    cached: &CachedSnapshot,
    site: &Site,
    uid: &str,
    form: Form,
    request_headers: &HeaderMap,
) -> Response {
    let snapshot = &cached.snapshot;
    let list = List::new(snapshot.clone(), cached.hidden.clone(), &site.hosts, form);
    let gzip = list.length() >= MIN_GZIP_BYTES && accepts_gzip(request_headers);
    let tag = tag(cached, &site.hosts, form, gzip);
    let (content_type, changed) = (content_type(form), cached.last_modified(cached.changed));
    let representation = Representation { content_type, gzip, tag, changed };
    let length = list.length();
    let body = (!representation.is_not_modified(request_headers))
        .then(|| if gzip { stream_gzip(list) } else { stream(list, length) });
    let mut response = representation.respond(body, &app.http.cache_policy.sitemap);
    let headers = response.headers_mut();
    headers.insert(X_SKIPPED_DOCUMENTS, HeaderValue::from(snapshot.skipped.total()));
    if let Some(tags) = &app.http.cache_tags {
        tags.insert_list(headers, site, [uid]);
    }
    response
}

fn content_type(form: Form) -> &'static str {
    match form {
        Form::Json => "application/json",
        Form::Xml => "application/xml",
    }
}

/// A strong tag without writing the list: the same URLs in the same form are the same bytes.
fn tag(cached: &CachedSnapshot, hosts: &Hosts, form: Form, gzip: bool) -> HeaderValue {
    let form = match form {
        Form::Json => "j",
        Form::Xml => "x",
    };
    let bases = (0..hosts.locales()).map(|at| hosts.base(at).map_or("", BaseUrl::as_str));
    let bases = bases.collect::<Vec<_>>().join("\n");
    let (base, gzip) = (xxh3_64(bases.as_bytes()), if gzip { "z" } else { "" });
    let urls = cached.listed().hash();
    etag::of_parts(&format!("{urls:032x}{base:016x}{form}{gzip}"))
}

//! `GET /sitemaps/<site>/<file>`: the index, the files and the `robots.txt` of a site, for crawlers.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, ETAG, LAST_MODIFIED, VARY,
};
use axum::http::{HeaderMap, HeaderValue, Request, StatusCode};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::frontend_url::BaseUrl;
use crate::http::request::encoding::accepts_gzip;
use crate::http::response::cache_status::insert_cache_status;
use crate::http::response::conditional::{is_not_modified, last_modified};
use crate::http::response::error::ApiError;
use crate::http::response::etag;
use crate::http::response::stream_body::stream_shared_text;
use crate::site::Site;
use crate::sitemap::files::{INDEX, ROBOTS, SITEMAP, index, parse_name, robots};
use crate::snapshot_cache::{Served, SitemapFiles};

const FOLDER: &str = "/sitemaps/";

const XML: &str = "application/xml";
const TEXT: &str = "text/plain; charset=utf-8";

/// The validators and dates of a text, for its headers.
struct Representation {
    content_type: &'static str,
    gzip: bool,
    tag: HeaderValue,
    changed: Option<SystemTime>,
}

/// The response. The path is compared as it was sent: the names of the files need no decoding.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let path = request.uri().path().strip_prefix(FOLDER);
    let path = path.and_then(|path| path.split_once('/'));
    let (key, file) = path.expect("the router matched a path of two segments below the folder");
    let site = app.sites.get(key).ok_or_else(ApiError::unknown_route)?;
    let headers = request.headers();
    match file {
        INDEX | SITEMAP => sitemap_index(&app, site, headers).await,
        ROBOTS => {
            let text = robots(&folder(site)?);
            let tag = etag::of_bytes(text.as_bytes());
            let robots = Representation { content_type: TEXT, gzip: false, tag, changed: None };
            let text = (!robots.is_not_modified(headers)).then(|| text.into());
            Ok(robots.respond(&app, text))
        }
        name => url_file(&app, site, name, headers).await,
    }
}

/// The base URL of a site.
fn base(site: &Site) -> Result<&BaseUrl, ApiError> {
    site.hosts.base(0).ok_or_else(|| ApiError::no_base_url(site, 0))
}

/// The absolute URL under which the frontend publishes the files.
fn folder(site: &Site) -> Result<String, ApiError> {
    Ok(base(site)?.join(&site.sitemap_path))
}

async fn sitemap_index(
    app: &Arc<App>,
    site: &Site,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let folder = folder(site)?;
    let copies = app.snapshots.get_listed(site).await?;
    let dates = copies.iter().map(|(_, served)| {
        let changed = files(served).changed;
        served.copy.last_modified(changed)
    });
    let changed = dates.collect::<Option<Vec<_>>>().and_then(|dates| dates.into_iter().max());
    let layouts = copies.iter().map(|(uid, served)| (uid.as_str(), &files(served).layout));
    let text = index(&folder, layouts);
    let tag = etag::of_bytes(text.as_bytes());
    let index = Representation { content_type: XML, gzip: false, tag, changed };
    let text = (!index.is_not_modified(headers)).then(|| text.into());
    let mut response = index.respond(app, text);
    // The age of the response is that of the oldest copy.
    let oldest = copies.iter().map(|(_, served)| served).min_by_key(|served| served.copy.begun);
    if let Some(oldest) = oldest {
        insert_cache_status(response.headers_mut(), oldest);
    }
    Ok(response)
}

/// The files of a copy of a site with a base URL.
fn files(served: &Served) -> &SitemapFiles {
    served.copy.files.as_deref().expect("the copies of a site with a base URL have files")
}

async fn url_file(
    app: &Arc<App>,
    site: &Site,
    name: &str,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let known = parse_name(name).filter(|(uid, _)| site.has_rule(uid));
    let (uid, number) = known.ok_or_else(ApiError::unknown_route)?;
    let base = base(site)?;
    let served = app.snapshots.get(site, &uid).await?;
    let files = files(&served);
    let file = files.layout.file(number).ok_or_else(ApiError::unknown_route)?;
    let gzip = accepts_gzip(headers);
    let tag = file_tag(base, site, file.hash, gzip);
    let changed = served.copy.last_modified(files.changed(file));
    let representation = Representation { content_type: XML, gzip, tag, changed };
    let text = if representation.is_not_modified(headers) {
        None
    } else {
        let text = app.files.text(site, &served.copy, file, gzip).await;
        // Without a text, writing it has panicked, which has been logged.
        Some(text.ok_or_else(ApiError::internal)?)
    };
    let mut response = representation.respond(app, text);
    insert_cache_status(response.headers_mut(), &served);
    Ok(response)
}

/// A strong tag: the URLs in the file, the site's base URL and the `hreflang` of its locales decide all its bytes.
fn file_tag(base: &BaseUrl, site: &Site, hash: u128, gzip: bool) -> HeaderValue {
    let locales = site.rules.locales().as_slice().iter();
    let frame = locales.fold(base.to_string(), |text, locale| text + "\n" + locale.hreflang());
    let (frame, gzip) = (xxh3_64(frame.as_bytes()), if gzip { "z" } else { "" });
    etag::of_parts(&format!("{hash:032x}{frame:016x}{gzip}"))
}

impl Representation {
    fn is_not_modified(&self, request_headers: &HeaderMap) -> bool {
        is_not_modified(&self.tag, self.changed, request_headers)
    }

    /// The response with this text; `None`: a 304.
    fn respond(self, app: &App, text: Option<Bytes>) -> Response {
        let mut response = Response::default();
        if let Some(text) = text {
            *response.body_mut() = stream_shared_text(text);
            let headers = response.headers_mut();
            headers.insert(CONTENT_TYPE, HeaderValue::from_static(self.content_type));
            if self.gzip {
                headers.insert(CONTENT_ENCODING, HeaderValue::from_static("gzip"));
            }
        } else {
            *response.status_mut() = StatusCode::NOT_MODIFIED;
        }
        let headers = response.headers_mut();
        headers.insert(ETAG, self.tag);
        headers.insert(VARY, HeaderValue::from_name(ACCEPT_ENCODING));
        headers.insert(CACHE_CONTROL, app.http.cache_policy.sitemap.clone());
        if let Some(changed) = self.changed {
            headers.insert(LAST_MODIFIED, last_modified(changed));
        }
        response
    }
}

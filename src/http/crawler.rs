//! `/sitemaps/<site>/…`: the index, the files and the `robots.txt` of a site, for crawlers.

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

use super::copy::dress;
use super::encoding::takes_gzip;
use super::error::ApiError;
use super::etag::{self, is_current};
use super::listed::date;
use super::pieces::whole;
use crate::app::App;
use crate::frontend_url::BaseUrl;
use crate::site::Site;
use crate::sitemap::files::{INDEX, ROBOTS, index, parse_name, robots};

/// Where they are found.
pub(super) const ROUTE: &str = "/sitemaps/{site}/{file}";
const FOLDER: &str = "/sitemaps/";

const XML: &str = "application/xml";
const TEXT: &str = "text/plain; charset=utf-8";

/// What is to be sent, whole.
struct Whole {
    content_type: &'static str,
    gzip: bool,
    tag: HeaderValue,
    changed: Option<SystemTime>,
}

/// `GET /sitemaps/<site>/<file>`
pub(super) async fn get(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let path = request.uri().path().strip_prefix(FOLDER).unwrap_or_default();
    let (key, file) = path.split_once('/').unwrap_or_default();
    let site = app.sites.get(key).ok_or_else(ApiError::unknown_route)?;
    let asked = request.headers();
    match file {
        INDEX => site_index(&app, site, asked).await,
        ROBOTS => {
            let text = robots(&folder(site)?);
            let tag = etag::tag(text.as_bytes());
            let whole = Whole { content_type: TEXT, gzip: false, tag, changed: None };
            let text = (!whole.is_current(asked)).then(|| text.into());
            Ok(whole.answer(&app, text))
        }
        name => one_file(&app, site, name, asked).await,
    }
}

/// The absolute URL under which the frontend publishes the files.
fn folder(site: &Site) -> Result<String, ApiError> {
    let base = site.base.as_ref().ok_or_else(|| ApiError::no_base_url(&site.key))?;
    Ok(base.join(&site.sitemap_path))
}

async fn site_index(app: &Arc<App>, site: &Site, asked: &HeaderMap) -> Result<Response, ApiError> {
    let folder = folder(site)?;
    let copies = app.snapshots(site).await?;
    let files = copies.iter().filter_map(|(uid, copy)| Some((*uid, copy.kept.files.as_deref()?)));
    let dated = copies.iter().filter_map(|(_, copy)| {
        let files = copy.kept.files.as_deref()?;
        Some(copy.kept.dated(files.changed))
    });
    let changed = dated.collect::<Option<Vec<_>>>().and_then(|dates| dates.into_iter().max());
    let text = index(&folder, files.map(|(uid, files)| (uid.as_str(), &files.layout)));
    let tag = etag::tag(text.as_bytes());
    let whole = Whole { content_type: XML, gzip: false, tag, changed };
    let text = (!whole.is_current(asked)).then(|| text.into());
    let mut response = whole.answer(app, text);
    // The oldest copy says how old the answer is.
    let oldest = copies.iter().map(|(_, copy)| copy).min_by_key(|copy| copy.kept.begun);
    if let Some(oldest) = oldest {
        dress(response.headers_mut(), oldest);
    }
    Ok(response)
}

async fn one_file(
    app: &Arc<App>,
    site: &Site,
    name: &str,
    asked: &HeaderMap,
) -> Result<Response, ApiError> {
    let known = parse_name(name).filter(|(uid, _)| site.has_rule(uid));
    let (uid, number) = known.ok_or_else(ApiError::unknown_route)?;
    let base = site.base.as_ref().ok_or_else(|| ApiError::no_base_url(&site.key))?;
    let served = app.snapshot(site, &uid).await?;
    let files = served.kept.files.as_deref().ok_or_else(ApiError::internal)?;
    let file = files.layout.file(number).ok_or_else(ApiError::unknown_route)?;
    let gzip = takes_gzip(asked);
    let tag = file_tag(base, site, file.hash, gzip);
    let changed = served.kept.dated(files.changed(file));
    let whole = Whole { content_type: XML, gzip, tag, changed };
    let text = if whole.is_current(asked) {
        None
    } else {
        let text = app.file_text(site, &served.kept, file, gzip).await;
        Some(text.ok_or_else(ApiError::internal)?)
    };
    let mut response = whole.answer(app, text);
    dress(response.headers_mut(), &served);
    Ok(response)
}

/// A strong tag: what stands in the file, and the site's base URL and locales, decide on its bytes.
fn file_tag(base: &BaseUrl, site: &Site, hash: u128, gzip: bool) -> HeaderValue {
    let locales = site.rules.locales().as_slice().iter();
    let frame = locales.fold(base.to_string(), |text, locale| text + "\n" + locale.as_str());
    let (frame, gzip) = (xxh3_64(frame.as_bytes()), if gzip { "z" } else { "" });
    let text = format!("\"{hash:032x}{frame:016x}{gzip}\"");
    HeaderValue::try_from(text).unwrap_or(HeaderValue::from_static("\"\""))
}

impl Whole {
    fn is_current(&self, asked: &HeaderMap) -> bool {
        is_current(&self.tag, self.changed, asked)
    }

    /// The answer with this text; without one it is a 304.
    fn answer(self, app: &App, text: Option<Bytes>) -> Response {
        let mut response = Response::default();
        if let Some(text) = text {
            *response.body_mut() = whole(text);
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
        headers.insert(CACHE_CONTROL, app.caching.sitemap.clone());
        if let Some(changed) = self.changed {
            headers.insert(LAST_MODIFIED, date(changed));
        }
        response
    }
}

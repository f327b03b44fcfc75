//! `GET /sitemaps/<site>/<file>`, and `/sitemaps/<site>/<host>/<file>` of a site with several hosts:
//! the index, the files and the `robots.txt`, for crawlers.

use std::sync::Arc;
use std::time::SystemTime;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::http::request::encoding::accepts_gzip;
use crate::http::response::cache_status::{insert_cache_status, insert_oldest_status};
use crate::http::response::conditional::Representation;
use crate::http::response::error::ApiError;
use crate::http::response::etag;
use crate::http::response::stream_body::stream_shared_text;
use frontend_map_cache::{CachedSnapshot, SitemapFiles};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::sitemap::files::{INDEX, ROBOTS, SITEMAP, index, parse_name, robots};
use frontend_map_rules::frontend_url::BaseUrl;
use frontend_map_rules::percent_decode;

const FOLDER: &str = "/sitemaps/";

const XML: &str = "application/xml";
const TEXT: &str = "text/plain; charset=utf-8";

/// A host of a site: its position among the site's hosts.
#[derive(Clone, Copy)]
struct SiteHost<'a> {
    site: &'a Site,
    host: usize,
}

/// The response. Site and file are compared as they were sent, because their names need no decoding;
/// a host with a port may be percent-encoded.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    request: Request<Body>,
) -> Result<Response, ApiError> {
    let path = request.uri().path().strip_prefix(FOLDER);
    let path = path.and_then(|path| path.split_once('/'));
    let (key, rest) = path.expect("the router matched a path of two or three segments");
    let site = app.sites.get(key).ok_or_else(|| ApiError::missing("no_site"))?;
    let (host, file) = match rest.split_once('/') {
        Some((host, file)) => (Some(host), file),
        None => (None, rest),
    };
    let host = SiteHost::find(site, host).ok_or_else(|| ApiError::missing("no_site"))?;
    let headers = request.headers();
    match file {
        INDEX | SITEMAP => sitemap_index(&app, host, headers).await,
        ROBOTS => {
            let text = robots(&host.folder()?);
            Ok(short_text(&app, text, TEXT, None, headers))
        }
        name => url_file(&app, host, name, headers).await,
    }
}

/// A text that is written for each request.
fn short_text(
    app: &App,
    text: String,
    content_type: &'static str,
    changed: Option<SystemTime>,
    headers: &HeaderMap,
) -> Response {
    let tag = etag::of_bytes(text.as_bytes());
    let representation = Representation { content_type, gzip: false, tag, changed };
    let body = (!representation.is_not_modified(headers)).then(|| stream_shared_text(text.into()));
    representation.respond(body, &app.http.cache_policy.sitemap)
}

/// The cache tags of a file that lists URLs of these content types.
fn insert_tags<'u>(
    app: &App,
    site: &Site,
    content_types: impl IntoIterator<Item = &'u str>,
    response: &mut Response,
) {
    if let Some(tags) = &app.http.cache_tags {
        tags.insert_list(response.headers_mut(), site, content_types);
    }
}

impl<'a> SiteHost<'a> {
    /// The host that a path names, percent-encoded or not. Only a path of a site with several hosts
    /// names one, and it has to.
    fn find(site: &'a Site, name: Option<&str>) -> Option<Self> {
        let all = site.hosts.all();
        let host = match name {
            None => (all.len() <= 1).then_some(0)?,
            Some(name) => {
                let name = percent_decode(name).filter(|_| all.len() > 1)?;
                all.iter().position(|host| host.base.host().as_bytes() == &*name)?
            }
        };
        Some(Self { site, host })
    }

    /// The absolute URL under which the frontend publishes the files.
    fn folder(self) -> Result<String, ApiError> {
        let host = self.site.hosts.all().get(self.host);
        let host = host.ok_or_else(|| ApiError::no_base_url(self.site, 0))?;
        Ok(host.base.join(&self.site.sitemap_path))
    }

    /// The files of a snapshot of the site.
    fn files(self, cached: &CachedSnapshot) -> &SitemapFiles {
        cached.files.get(self.host).expect("the snapshots of a site have files for each host")
    }
}

async fn sitemap_index(
    app: &Arc<App>,
    host: SiteHost<'_>,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let (site, folder) = (host.site, host.folder()?);
    let mut listed = site.rules.content_types();
    listed.retain(|uid| site.rules.lists(uid.as_str()));
    // The files of all hosts link to all locales.
    let uids = listed.iter().map(|uid| uid.as_str());
    ApiError::if_no_base_url(site, site.first_without_base(uids))?;
    ApiError::if_no_base_url(site, site.first_page_without_base())?;
    let cached_snapshots = app.snapshots.get_all_listed(site).await?;
    let dates = cached_snapshots.iter().map(|(_, served)| {
        let changed = host.files(&served.cached).changed;
        served.cached.last_modified(changed)
    });
    let changed = dates.collect::<Option<Vec<_>>>().and_then(|dates| dates.into_iter().max());
    let pages = app.snapshots.get_listed_pages(site).await.filter(|_| site.pages.are_listed());
    let pages = pages.as_ref().map(|cached| host.files(cached));
    let changed = changed.max(pages.map(|pages| pages.changed).filter(|_| changed.is_some()));
    let layouts = cached_snapshots
        .iter()
        .map(|(uid, served)| (uid.as_str(), &host.files(&served.cached).layout));
    let layouts = layouts.chain(pages.map(|pages| (PAGES, &pages.layout)));
    let text = index(&folder, layouts);
    let mut response = short_text(app, text, XML, changed, headers);
    let pages = pages.map(|_| PAGES);
    insert_tags(app, site, listed.iter().map(|uid| uid.as_str()).chain(pages), &mut response);
    insert_oldest_status(response.headers_mut(), &cached_snapshots);
    Ok(response)
}

async fn url_file(
    app: &Arc<App>,
    host: SiteHost<'_>,
    name: &str,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let site = host.site;
    let known = parse_name(name).filter(|(group, _)| site.has_group(group));
    let (group, number) = known.ok_or_else(|| ApiError::missing("no_file"))?;
    if group == PAGES {
        ApiError::if_no_base_url(site, site.first_page_without_base())?;
        let cached = app.snapshots.get_listed_pages(site).await;
        let cached = cached.ok_or_else(|| ApiError::missing("no_file"))?;
        let mut response = file(app, host, &cached, number, headers).await?;
        insert_tags(app, site, [PAGES], &mut response);
        return Ok(response);
    }
    ApiError::if_no_base_url(site, site.first_without_base([group.as_str()]))?;
    let served = app.snapshots.get_listed(site, &group).await?;
    let mut response = file(app, host, &served.cached, number, headers).await?;
    insert_tags(app, site, [group.as_str()], &mut response);
    insert_cache_status(response.headers_mut(), &served);
    Ok(response)
}

async fn file(
    app: &Arc<App>,
    host: SiteHost<'_>,
    cached: &CachedSnapshot,
    number: u64,
    headers: &HeaderMap,
) -> Result<Response, ApiError> {
    let (site, files) = (host.site, host.files(cached));
    let file = files.layout.file(number).ok_or_else(|| ApiError::missing("no_file"))?;
    let gzip = accepts_gzip(headers);
    let tag = file_tag(site, file.hash, gzip);
    let changed = cached.last_modified(files.changed(file));
    let representation = Representation { content_type: XML, gzip, tag, changed };
    let body = if representation.is_not_modified(headers) {
        None
    } else {
        let text = app.files.text(site, cached, host.host, file, gzip).await;
        // Without a text, writing it has panicked, which has been logged.
        Some(stream_shared_text(text.ok_or_else(ApiError::internal)?))
    };
    Ok(representation.respond(body, &app.http.cache_policy.sitemap))
}

/// A strong tag: the URLs in the file, the base URLs of the site and the `hreflang` of its locales
/// decide all its bytes.
fn file_tag(site: &Site, hash: u128, gzip: bool) -> HeaderValue {
    let mut frame = String::new();
    for (at, locale) in site.rules.locales().as_slice().iter().enumerate() {
        let base = site.hosts.base(at).map_or("", BaseUrl::as_str);
        frame.extend([base, " ", locale.hreflang(), "\n"]);
    }
    let (frame, gzip) = (xxh3_64(frame.as_bytes()), if gzip { "z" } else { "" });
    etag::of_parts(&format!("{hash:032x}{frame:016x}{gzip}"))
}

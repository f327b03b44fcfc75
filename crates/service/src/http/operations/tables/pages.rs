//! `GET /api/pages`: all public pages of a site, for static builds.

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::header::{CACHE_CONTROL, ETAG};
use axum::http::{HeaderValue, StatusCode};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_128;

use super::{Format, ServedSnapshots, insert_headers, snapshots};
use crate::app::App;
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::{
    LOCALE, MAX_UID_BYTES, SITE, known_site, parse_boolean, parse_locale, parse_since, required,
};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::NO_STORE;
use crate::http::response::conditional::is_not_modified;
use crate::http::response::error::ApiError;
use crate::http::response::etag;
use frontend_map_catalog::changes::log::Cursor;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::tables::{PageFilter, Pages, Rows as _};
use frontend_map_cms::ContentError;
use frontend_map_fleet::changes::{Readiness, Wanted};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 6] = [
    SITE,
    Param { name: "contentType", max_bytes: MAX_UID_BYTES },
    LOCALE,
    Param::unlimited("since"),
    Param::unlimited("unlisted"),
    Param::unlimited("cursor"),
];

/// The checked parameters.
struct Params<'a> {
    site: &'a Arc<Site>,
    /// Only the pages of this content type.
    uid: Option<Cow<'a, str>>,
    filter: PageFilter,
    /// The list must have the changes of the site up to this cursor.
    cursor: Option<Cursor>,
}

/// The response: the table, or a 304.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let params = Params::parse(&app, query.as_deref())?;
    if params.filter.unlisted {
        require_bearer(app.http.validate_token.as_ref(), &headers)?;
    }
    if let Some(cursor) = params.cursor {
        check_changes(&app, params.site, cursor).await?;
    }
    let cached_snapshots = params.cached_snapshots(&app).await?;
    let (site, filter) = (Arc::clone(params.site), params.filter);
    let pages = tokio::task::block_in_place(|| {
        Pages::new(site, snapshots(&cached_snapshots), params.with_pages(), filter)
    });
    let format = Format::preferred(&headers, pages.count());
    let tag = params.tag(&cached_snapshots, format);
    let mut response = if is_not_modified(&tag, None, &headers) {
        let mut response = Response::default();
        *response.status_mut() = StatusCode::NOT_MODIFIED;
        response
    } else {
        format.respond(pages.chunks(format.form))
    };
    let headers = response.headers_mut();
    insert_headers(headers, &cached_snapshots);
    headers.insert(ETAG, tag);
    // Pages that sitemaps leave out are not for shared caches.
    let cache_control =
        if filter.unlisted { NO_STORE } else { app.http.cache_policy.sitemap.clone() };
    headers.insert(CACHE_CONTROL, cache_control);
    if let Some(tags) = app.http.cache_tags.as_ref().filter(|_| !filter.unlisted) {
        let types = params.site.rules.content_types();
        let all = types.iter().map(|uid| uid.as_str()).chain([PAGES]);
        let is_wanted = |uid: &&str| params.uid.as_ref().is_none_or(|wanted| wanted == uid);
        tags.insert_list(headers, params.site, all.filter(is_wanted));
    }
    Ok(response)
}

/// Checks that this instance has the changes of a site up to a cursor: another instance may have returned
/// it, and may have read more.
async fn check_changes(app: &App, site: &Site, cursor: Cursor) -> Result<(), ApiError> {
    match app.shared.fleet.readiness(site, Wanted::Pages(cursor)).await {
        None | Some(Readiness::Ready) => Ok(()),
        Some(_) => Err(ApiError::pages_lack_changes()),
    }
}

fn parse_cursor(text: &str) -> Result<Cursor, ApiError> {
    Cursor::parse(text).ok_or_else(|| {
        let message = format!("`cursor` must be one of `/api/changes`, not {}", echo(text));
        ApiError::validation(message)
    })
}

impl<'a> Params<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [key, uid, locale, since, unlisted, cursor] = parse(query, &PARAMS)?;
        let site = known_site(app, &required("site", key)?)?;
        if let Some(uid) = uid.as_deref().filter(|uid| !site.has_group(uid)) {
            let message = format!("the site has no rule for this `contentType`: {}", echo(uid));
            return Err(ApiError::validation(message));
        }
        let locale = parse_locale(locale.as_deref())?.map(|locale| {
            let known = site.rules.locales().position(locale.as_str());
            known.ok_or_else(|| {
                ApiError::validation(format!(
                    "the site has no such `locale`: {}",
                    echo(locale.as_str())
                ))
            })
        });
        let filter = PageFilter {
            locale: locale.transpose()?,
            since: parse_since(since.as_deref())?,
            unlisted: parse_boolean("unlisted", unlisted.as_deref())?,
        };
        let cursor = cursor.as_deref().map(parse_cursor).transpose()?;
        Ok(Self { site, uid, filter, cursor })
    }

    /// Whether the pages outside the CMS are wanted.
    fn with_pages(&self) -> bool {
        self.uid.as_ref().is_none_or(|uid| uid == PAGES)
    }

    /// The snapshots that have the pages, in the order of the rules.
    async fn cached_snapshots(&self, app: &App) -> Result<ServedSnapshots<'a>, ContentError> {
        let mut types = self.site.rules.content_types();
        types.retain(|uid| self.uid.as_ref().is_none_or(|own| own.as_ref() == uid.as_str()));
        if !self.filter.unlisted {
            types.retain(|uid| self.site.rules.lists(uid.as_str()));
        }
        app.snapshots.get_each(self.site, types).await
    }

    /// A strong tag without writing the table: the settings of the site, the URLs and the
    /// parameters decide all its bytes.
    fn tag(&self, cached_snapshots: &ServedSnapshots<'_>, format: Format) -> HeaderValue {
        let urls =
            cached_snapshots.iter().map(|(uid, served)| (*uid, served.cached.snapshot.urls_hash()));
        let urls: Vec<_> = urls.collect();
        let pages = if self.with_pages() { " with pages" } else { "" };
        let parts = format!("{:x} {urls:?} {:?}{pages}", self.site.fingerprint, self.filter);
        etag::of_parts(&format!("{:032x}{}", xxh3_128(parts.as_bytes()), format.tag()))
    }
}

//! `GET /api/build-sitemap`: the public URLs of one content type of a site.

mod validation;

use std::borrow::Cow;
use std::sync::Arc;

use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::response::Response;
use xxhash_rust::xxh3::xxh3_64;

use crate::app::App;
use crate::http::request::call::Call;
use crate::http::request::encoding::accepts_gzip;
use crate::http::request::params::{MAX_UID_BYTES, SITE, parse_boolean, required};
use crate::http::request::query::{Param, echo, parse};
use crate::http::response::cache_status::insert_cache_status;
use crate::http::response::conditional::Representation;
use crate::http::response::error::ApiError;
use crate::http::response::etag;
use crate::http::response::stream_body::{stream, stream_gzip};
use frontend_map_cache::CachedSnapshot;
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::sitemap::{Form, List};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 5] = [
    SITE,
    Param { name: "contentType", max_bytes: MAX_UID_BYTES },
    Param::unlimited("xml"),
    Param::unlimited("validate"),
    Param::unlimited("content"),
];

/// The number of documents that were left out because they have no URL (D13).
const X_SKIPPED_DOCUMENTS: HeaderName = HeaderName::from_static("x-skipped-documents");
/// The smallest list that is worth compressing, in bytes.
const MIN_GZIP_BYTES: u64 = 1024;

/// The checked parameters.
struct Params<'a> {
    site: &'a Arc<Site>,
    uid: Cow<'a, str>,
    xml: bool,
    validate: bool,
    /// Whether the validation judges the content of pages.
    content: bool,
}

/// The response: a list of URLs, or with `validate=true` a validation run.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let params = Params::parse(&app, query.as_deref())?;
    if params.validate {
        return validation::validate(&app, &params, &headers).await;
    }
    params.check_base_urls()?;
    let form = if params.xml { Form::Xml } else { Form::Json };
    if let Some(pages) = params.pages(&app).await {
        return Ok(url_list(&app, &pages, params.site, &params.uid, form, &headers));
    }
    let served = app.snapshots.get_listed(params.site, &params.uid).await?;
    let mut response = url_list(&app, &served.cached, params.site, &params.uid, form, &headers);
    insert_cache_status(response.headers_mut(), &served);
    Ok(response)
}

impl<'a> Params<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [key, uid, xml, validate, content] = parse(query, &PARAMS)?;
        let key = required("site", key)?;
        let uid = required("contentType", uid)?;
        let xml = parse_boolean("xml", xml.as_deref())?;
        let validate = parse_boolean("validate", validate.as_deref())?;
        let content = parse_boolean("content", content.as_deref())?;
        if content && !validate {
            return Err(ApiError::validation("`content` needs `validate=true`"));
        }
        let refuse = |what: &str| {
            let [uid, key] = [echo(&uid), echo(&key)];
            ApiError::validation(format!("contentType {uid}, site {key}: {what}"))
        };
        let site = app.sites.get(&key).ok_or_else(|| refuse("there is no such `site`"))?;
        if !site.has_group(&uid) {
            return Err(refuse("the site has no rule for this `contentType`"));
        }
        Ok(Self { site, uid, xml, validate, content })
    }

    /// The pages outside the CMS, if these are requested.
    async fn pages(&self, app: &App) -> Option<CachedSnapshot> {
        if self.uid == PAGES { app.snapshots.get_listed_pages(self.site).await } else { None }
    }

    /// 501 if a locale has no base URL in which the content type can have URLs.
    fn check_base_urls(&self) -> Result<(), ApiError> {
        let missing = match &*self.uid {
            PAGES => self.site.first_page_without_base(),
            uid => self.site.first_without_base([uid]),
        };
        ApiError::if_no_base_url(self.site, missing)
    }
}

/// The listed URLs of a snapshot, or a 304.
fn url_list(
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

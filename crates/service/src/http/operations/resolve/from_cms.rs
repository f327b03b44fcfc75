//! Responses that are read from the CMS: drafts by their pathname, and documents by their id (D18).

use std::borrow::Cow;

use axum::body::Body;
use axum::http::header::CACHE_CONTROL;
use axum::response::Response;

use super::{DOCUMENT_ID, PARAMS, UID, resource, site_paths};
use crate::app::{App, log_unread_documents};
use crate::http::operations::frontend_url;
use crate::http::operations::no_match::no_match;
use crate::http::operations::resolved_by::{insert_resolved_by, path_index, without_path_index};
use crate::http::operations::version_paths::{former_paths, shared_path};
use crate::http::request::call::Call;
use crate::http::request::params::{
    known_site, parse_host, parse_locale, parse_pathname, required,
};
use crate::http::request::query::parse;
use crate::http::response::envelope::{HttpResponse, success};
use crate::http::response::error::ApiError;
use frontend_map_cache::no_snapshot;
use frontend_map_catalog::path_index::VersionId;
use frontend_map_catalog::resolve::{
    self, PathMatch, Requested, ResolvedBy, ResolvedByHeader, ResolvedPath, SitePaths,
};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Builder, Listing, PublicUrl, Snapshot};
use frontend_map_cms::{ContentError, Status};
use frontend_map_rules::{ContentTypeUid, Document, Locale, Pathname};

/// What the request asks for.
enum Wanted<'a> {
    Pathname { pathname: Cow<'a, str>, locale: Option<Locale>, host: Option<usize> },
    Document(frontend_url::Params<'a>),
}

/// The checked parameters.
struct Params<'a> {
    site: &'a Site,
    status: Status,
    wanted: Wanted<'a>,
}

/// A site, and what is known of its paths.
pub(super) struct Known<'a> {
    pub(super) app: &'a App,
    pub(super) paths: SitePaths<'a>,
}

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let params = Params::parse(&app, query.as_deref())?;
    if params.status == Status::Published {
        let mut response = params.respond(&app).await?;
        let headers = response.headers_mut();
        headers.insert(CACHE_CONTROL, app.http.cache_policy.url.clone());
        if let (Some(tags), Wanted::Document(document)) = (&app.http.cache_tags, &params.wanted) {
            tags.insert_document(headers, params.site, &document.uid, &document.document_id);
        }
        return Ok(response.map(Body::new));
    }
    let respond = async || Ok(params.respond(&app).await?.map(Body::new));
    Ok(frontend_url::draft_response(&app, &headers, respond()).await)
}

impl<'a> Params<'a> {
    fn parse(app: &'a App, query: Option<&'a str>) -> Result<Self, ApiError> {
        let [site, pathname, locale, status, uid, document_id, host] = parse(query, &PARAMS)?;
        if uid.is_some() || document_id.is_some() {
            if pathname.is_some() {
                let (uid, id) = (UID.name, DOCUMENT_ID.name);
                let message = format!("`pathname` and `{uid}` with `{id}` exclude each other");
                return Err(ApiError::validation(message));
            }
            let document = frontend_url::Params::parse(app, query)?;
            let site = document.site_with_rule(app)?;
            // The document decides about the host; a malformed one is refused all the same.
            parse_host(site, host.as_deref())?;
            return Ok(Self { site, status: document.status, wanted: Wanted::Document(document) });
        }
        let site = known_site(app, &required("site", site)?)?;
        let pathname = parse_pathname(pathname)?;
        let locale = parse_locale(locale.as_deref())?;
        let status = frontend_url::parse_status(status.as_deref())?;
        let host = parse_host(site, host.as_deref())?;
        Ok(Self { site, status, wanted: Wanted::Pathname { pathname, locale, host } })
    }

    async fn respond(&self, app: &App) -> Result<HttpResponse, ApiError> {
        let site = self.site;
        let state = path_index(app, site).ok_or_else(|| without_path_index(site))?;
        let entries = site.redirects.as_ref().and_then(|site| path_index(app, site));
        let paths = site_paths(app, site, &state, entries.as_ref());
        if let Wanted::Pathname { pathname, locale, host } = &self.wanted
            && let Some(page) = resolve::page(site, &Pathname::parse(pathname), *host)
        {
            let requested = Requested { pathname, locale: locale.as_ref(), host: *host };
            let mut response = success(ResolvedPath::of_page(paths, requested, page));
            insert_resolved_by(ResolvedByHeader::Pages, &mut response);
            return Ok(response);
        }
        let known = Known { app, paths };
        let mut response = match &self.wanted {
            Wanted::Pathname { pathname, locale, host } => {
                known.by_pathname(pathname, locale.as_ref(), *host).await?
            }
            Wanted::Document(document) => known.by_id(document).await?,
        };
        insert_resolved_by(ResolvedByHeader::Cms, &mut response);
        Ok(response)
    }
}

impl Known<'_> {
    async fn by_id(&self, params: &frontend_url::Params<'_>) -> Result<HttpResponse, ApiError> {
        let site = self.paths.site;
        let locale = params.locale_of(site)?;
        let rules = &site.rules;
        let own = rules.of_type(&params.uid).next();
        let uid =
            &own.expect("the site was chosen because it has a rule for the type").content_type;
        let versions = self.versions(uid, &params.document_id, params.status).await?;
        let version = versions.iter().find(|version| version.locale.is_in(locale.as_str()));
        if params.status == Status::Published {
            let (uid, id) = (&*params.uid, &*params.document_id);
            frontend_url::update_if_different(self.app, site, uid, id, locale, version).await;
        }
        let version = version.ok_or_else(|| frontend_url::no_version(params.status, locale))?;
        let version = version.clone();
        // First, because an absent key is no reason for a document without a URL (D32).
        let snapshot = self.snapshot(uid, versions).await?;
        let (path, at) = frontend_url::path(self.app, site, params, &version)?;
        let host = site.hosts.host_if_several(at);
        let parsed = Pathname::parse(&path);
        let matches = rules.matches_of_type(&parsed, uid.as_str());
        let url = snapshot.owner_on(&path, host);
        let own_path = url.filter(|url| url.has_own_path());
        let own_path = own_path.map(|url| rules.own_path_match(&parsed, url.rule(), url.locale()));
        let by_rule =
            url.and_then(|url| rules.search_match_of_rule(&parsed, url.rule(), url.locale()));
        let Some(found) = own_path.or(by_rule).or_else(|| matches.first().cloned()) else {
            return Err(no_match(site, &path, &parsed, false));
        };
        let found = site.rules.with_locale_of_host(found, host);
        let requested = Requested { pathname: &path, locale: Some(locale), host };
        let mut answer = self.answer(PathMatch::new(site, requested, &found), url, host);
        if params.status == Status::Published {
            let url = url.filter(|url| url.is_localized());
            let (uid, document_id) = (&*params.uid, &*params.document_id);
            let version = VersionId { uid, document_id, locale: locale.as_str() };
            let index = Some(self.paths.index);
            answer.former_paths = Some(former_paths(self.app, site, index, version, url.is_some()));
        }
        answer.shared_path = shared_path(self.app, site, params.version(&path, at));
        Ok(success(answer))
    }

    /// All versions of a document in the locales of the site.
    pub(super) async fn versions(
        &self,
        uid: &ContentTypeUid,
        id: &str,
        status: Status,
    ) -> Result<Vec<Document<'static>>, ApiError> {
        let found = self.app.documents.versions(self.paths.site, uid, id, status).await;
        Ok(found
            .inspect_err(|error| log_unread_documents(self.app, uid.as_str(), error))?
            .documents)
    }

    /// The URLs of these versions, as if they were published.
    pub(super) async fn snapshot(
        &self,
        uid: &ContentTypeUid,
        documents: Vec<Document<'static>>,
    ) -> Result<Snapshot, ContentError> {
        let Site { rules, hosts, .. } = self.paths.site;
        let mut part = Listing { rules, hosts, uid: uid.as_str() }.part();
        for document in documents {
            part.add(&Document { unpublished: false, ..document });
        }
        match (Builder { path_table: true }).finish(vec![part]) {
            Ok(snapshot) => Ok(snapshot),
            Err(why) => Err(no_snapshot(self.app.snapshots.content(), uid, why).await),
        }
    }

    /// The answer about a document, or none, at a path that a rule matches. `host` is the position of the
    /// requested host, if the site has several.
    pub(super) fn answer<'a>(
        &'a self,
        found: PathMatch<'a>,
        document: Option<PublicUrl<'a>>,
        host: Option<usize>,
    ) -> ResolvedPath<'a> {
        let mut answer = ResolvedPath::of_rule(found, ResolvedBy::Cms);
        if let Some(url) = document {
            answer.set_document(self.paths, url, host, resource(self.app, self.paths.site, url));
        }
        answer
    }
}

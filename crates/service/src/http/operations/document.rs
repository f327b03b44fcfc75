//! `GET /api/document`: the public URL of a document in each locale of the site, or why it has none,
//! with what an editor has to know beside it. Read from the CMS.

use std::sync::Arc;

use axum::response::Response;

use super::frontend_url::{self, NO_VERSION};
use super::resolve::{DOCUMENT_ID, UID};
use super::resolved_by::path_index;
use super::tables::validations::last_checks;
use super::version_paths::{former_paths, shared_path};
use crate::app::{App, log_unread_documents};
use crate::http::request::bearer::require_bearer;
use crate::http::request::call::Call;
use crate::http::request::params::SITE;
use crate::http::request::query::{Param, parse};
use crate::http::response::envelope::success;
use crate::http::response::error::ApiError;
use crate::http::response::no_store;
use crate::http::responses::{DocumentUrls, LocaleUrl, UrlState};
use frontend_map_catalog::path_index::{PathIndex, VersionId, VersionPath};
use frontend_map_catalog::site::Site;
use frontend_map_cms::{Document, Status};
use frontend_map_outbound::checks::runs::LastRun;
use frontend_map_rules::frontend_url::{FrontendPath, NoUrl, NoUrlReason, frontend_path};
use frontend_map_rules::{ContentTypeUid, DocumentLocale, Locale};

/// The query parameters.
pub(in crate::http) const PARAMS: [Param; 3] = [UID, DOCUMENT_ID, SITE];

/// A document, and what is known of its site.
struct Request<'a> {
    app: &'a App,
    site: &'a Site,
    uid: &'a ContentTypeUid,
    document_id: &'a str,
    index: Option<&'a PathIndex>,
    /// Empty for a request without the token for reports.
    runs: Vec<Arc<LastRun>>,
}

/// The response.
pub(in crate::http) async fn get(Call { app, query, headers }: Call) -> Result<Response, ApiError> {
    let [uid, document_id, site] = parse(query.as_deref(), &PARAMS)?;
    let params = frontend_url::Params::of_version(&app, [uid, document_id, None, None, site])?;
    let site = params.site_with_rule(&app)?;
    let rule = site.rules.of_type(&params.uid).next();
    let uid = &rule.expect("the site was chosen because it has a rule for the type").content_type;
    let runs = match require_bearer(app.http.validate_token.as_ref(), &headers) {
        Ok(()) => app.last_validations(site, &[uid.as_str()]).await,
        Err(_) => Vec::new(),
    };
    let state = path_index(&app, site);
    let index = state.as_ref().map(|state| &*state.index);
    let request = Request { app: &app, site, uid, document_id: &params.document_id, index, runs };
    let locales = request.locales().await?;
    let (site, content_type) = (site.key.as_str(), uid.as_str());
    let data = DocumentUrls { site, content_type, document_id: &params.document_id, locales };
    Ok(no_store(success(data)))
}

impl<'a> Request<'a> {
    async fn locales(&self) -> Result<Vec<LocaleUrl<'a>>, ApiError> {
        let Self { app, site, uid, document_id, .. } = self;
        let found = app.documents.versions(site, uid, document_id, Status::Published).await;
        let versions =
            found.inspect_err(|error| log_unread_documents(app, uid.as_str(), error))?.documents;
        let mut locales = Vec::new();
        for locale in site.rules.locales().codes() {
            let version = versions.iter().find(|version| version.locale.is_in(locale.as_str()));
            frontend_url::update_if_different(
                app,
                site,
                uid.as_str(),
                document_id,
                locale,
                version,
            )
            .await;
            locales.push(LocaleUrl {
                locale: locale.as_str(),
                state: self.state(locale, version).await?,
            });
            if version.is_some_and(|version| version.locale == DocumentLocale::None) {
                break;
            }
        }
        Ok(locales)
    }

    async fn state(
        &self,
        locale: &Locale,
        version: Option<&Document<'_>>,
    ) -> Result<UrlState<'a>, ApiError> {
        let Self { app, site, uid, .. } = self;
        let Some(document) = version else {
            return Ok(UrlState::NoUrl { reason: NO_VERSION.to_owned(), rule: None });
        };
        let found = frontend_path(&site.rules, &site.hosts, uid.as_str(), document, false);
        match found.expect("the site was chosen because it has a rule for the content type") {
            Ok(found) => Ok(self.url(locale, document, found)),
            // No reason for a document without a URL (D32).
            Err(NoUrl { reason: NoUrlReason::Absent(key), .. }) => {
                Err(app.snapshots.content().absent_key(uid, &key).await.into())
            }
            Err(NoUrl { reason, template, .. }) => {
                Ok(UrlState::NoUrl { reason: reason.to_string(), rule: Some(template.as_str()) })
            }
        }
    }

    fn url(
        &self,
        locale: &Locale,
        document: &Document<'_>,
        FrontendPath { path, locale: at, .. }: FrontendPath<'_>,
    ) -> UrlState<'a> {
        let Self { app, site, uid, document_id, index, runs } = self;
        let at =
            site.rules.locales().position(at.code().as_str()).expect("it is one of the site's");
        let is_localized = document.locale != DocumentLocale::None;
        let version = VersionPath { uid: uid.as_str(), document_id, path: &path, locale: at };
        let former = VersionId { uid: uid.as_str(), document_id, locale: locale.as_str() };
        UrlState::Url {
            url: site.hosts.url(at, &path),
            former_paths: former_paths(app, site, *index, former, is_localized),
            shared_path: shared_path(app, site, version),
            last_check: runs
                .iter()
                .flat_map(|run| last_checks(run, document_id))
                .find(|check| check.locale == locale.as_str())
                .map(Box::new),
            path,
        }
    }
}

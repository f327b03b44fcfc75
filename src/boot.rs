//! The composition root: builds an app from settings, at the start and at a reload.

use std::sync::Arc;

use crate::config::{Cms, Config};
use frontend_map_cache::{DocumentCache, DocumentLimits, ProcessState, Settings, SnapshotCache};
use frontend_map_cms::{Content, Strapi, StrapiError};
use frontend_map_platform::HourlyWarnings;
use frontend_map_platform::outgoing::BuildError;
use frontend_map_service::app::{
    App, CachePolicy, HttpSettings, Imports, SharedPathsCache, SimilarTypes,
};
use frontend_map_service::shared::{Backends, SharedState};

/// Why an app cannot be built although its settings are valid.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The client of the CMS.
    #[error(transparent)]
    Strapi(#[from] StrapiError),
    /// The client of the validator.
    #[error(transparent)]
    Validator(#[from] BuildError),
}

/// The app that these settings describe, with a shared state of its own. No request is sent to the
/// CMS yet.
///
/// # Errors
/// [`BootError`] when an HTTP client cannot be built.
pub fn build_alone(config: Config) -> Result<App, BootError> {
    let (metrics, requests) = (Arc::default(), config.limits.cms_requests);
    let shared = SharedState::new(metrics, requests, Backends::default())?;
    build(config, Arc::new(shared), None)
}

/// The app that these settings describe, in a process whose settings may change. It takes over the
/// caches of `previous` that do not depend on a changed setting.
///
/// # Errors
/// As [`build_alone`].
pub fn build(
    config: Config,
    shared: Arc<SharedState>,
    previous: Option<&App>,
) -> Result<App, BootError> {
    let content_fingerprint = config.content_fingerprint;
    let same_content =
        previous.filter(|previous| previous.content_fingerprint == content_fingerprint);
    let content = match same_content {
        Some(previous) => Arc::clone(previous.snapshots.content()),
        None => Arc::new(build_content(config.cms, &shared)?),
    };
    let (sites, limits, server) = (config.sites, config.limits, config.server);
    let cache_settings = Settings {
        freshness: config.freshness,
        refresh_deadline: limits.walk_deadline,
        expects_events: config.webhook_secret.is_some(),
    };
    let document_limits =
        DocumentLimits { deadline: limits.document_deadline, last_good: limits.last_good };
    shared.path_history.set_limits(config.moved.limits);
    shared.change_log.set_keep(config.changes.keep);
    shared.notifier.set_targets(config.notify.into_iter().map(Arc::new).collect());
    Ok(App {
        snapshots: Arc::new(SnapshotCache::new(
            &sites,
            Arc::clone(&content),
            cache_settings,
            ProcessState {
                metrics: &shared.metrics,
                triggers: Arc::clone(&shared.triggers),
                store: &shared.store,
                history: &shared.path_history,
                fleet: &shared.fleet,
            },
            previous.map(|previous| &*previous.snapshots),
        )),
        documents: DocumentCache::new(
            &sites,
            content,
            document_limits,
            Arc::clone(&shared.last_good),
            Arc::clone(&shared.metrics),
        ),
        files: shared.files.clone(),
        shared_paths: SharedPathsCache::default(),
        similar_types: SimilarTypes::default(),
        unread_documents: HourlyWarnings::default(),
        imports: Imports::new(config.imports, &sites),
        admin_url: config.admin_url,
        sites,
        http: HttpSettings {
            max_requests: limits.requests,
            cors_origins: HttpSettings::origins(&server.cors_origins),
            cache_policy: CachePolicy::new([
                &server.cache_control,
                &server.cache_control_404,
                &server.cache_control_url,
                &server.cache_control_sitemap,
            ]),
            access_log: config.log.access,
            redirect_status: config.moved.status,
            webhook_secret: config.webhook_secret,
            validate_token: config.auth.validate,
            draft_token: config.auth.draft,
        },
        run_times: config.validation,
        drain_delay: server.drain_delay,
        content_fingerprint,
        shared,
    })
}

fn build_content(cms: Cms, shared: &SharedState) -> Result<Content, StrapiError> {
    Ok(match cms {
        Cms::Strapi(settings) => {
            let metrics = Arc::clone(&shared.metrics);
            Content::Strapi(Box::new(Strapi::new(settings, metrics, &shared.limiters)?))
        }
        Cms::Files { content, .. } => Content::File(content),
    })
}

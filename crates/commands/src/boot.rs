//! The composition root: builds everything from settings, at the start and at a reload. `serve` and the
//! demo call [`build_app`]; commands that read documents, and the fuzz target of the router, call
//! [`build_alone`].

pub mod fd_limit;

use std::sync::Arc;

use crate::config::{Cms, Config};
use frontend_map_cache::{DocumentCache, DocumentLimits, ProcessState, Settings, SnapshotCache};
use frontend_map_cms::{Content, Strapi, StrapiError};
use frontend_map_platform::HourlyWarnings;
use frontend_map_platform::http_client::BuildError;
use frontend_map_platform::metrics::Metrics;
use frontend_map_platform::traces;
use frontend_map_service::app::{
    App, CachePolicy, HttpSettings, Imports, SharedPathsCache, SimilarTypes,
};
use frontend_map_service::http::Service;
use frontend_map_service::server::ConnectionSettings;
use frontend_map_service::shared::{Backends, SharedState};

/// Why an app cannot be built although its settings are valid.
#[derive(Debug, thiserror::Error)]
pub enum BootError {
    /// The client of the CMS.
    #[error(transparent)]
    Strapi(#[from] StrapiError),
    /// The HTTP client of URL checks.
    #[error(transparent)]
    Checks(#[from] BuildError),
    /// The export of traces.
    #[error(transparent)]
    Traces(#[from] traces::StartError),
}

/// Builds the app that these settings describe, and the settings of its connections. Starts the export of
/// traces. `metrics` are those that the log counts in.
///
/// # Errors
/// [`BootError`] when an HTTP client cannot be built or the export of traces cannot start.
pub fn build_app(
    mut config: Config,
    metrics: Arc<Metrics>,
) -> Result<(App, ConnectionSettings), BootError> {
    if let Some(traces) = &config.traces {
        traces::start(traces, &metrics)?;
    }
    let limits = &mut config.limits;
    let max_connections = fd_limit::max_connections(config.server.connections, limits.cms_requests);
    limits.requests = fd_limit::max_requests(limits.requests, max_connections);
    let counters = Arc::clone(&metrics.connections);
    let connections =
        ConnectionSettings { timeouts: limits.timeouts, max_connections, metrics: counters };
    let backends = Backends { redis: config.shared.take(), store: config.store.take() };
    let shared = SharedState::new(metrics, config.limits.cms_requests, backends)?;
    Ok((build(config, Arc::new(shared), None)?, connections))
}

/// Applies new settings to a running service.
///
/// # Errors
/// [`BootError::Strapi`] when the client of the CMS cannot be built; the settings in use stay.
pub fn reload(service: &Service, config: Config) -> Result<(), BootError> {
    let previous = service.app();
    let app = Arc::new(build(config, Arc::clone(&previous.shared), Some(&previous))?);
    service.replace(Arc::clone(&app));
    app.snapshots.take_over_from(&previous.snapshots);
    let fingerprints: Vec<u128> = app.sites.iter().map(|site| site.fingerprint).collect();
    app.shared.runs.retain_last_runs(&fingerprints);
    Ok(())
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
fn build(
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
    shared.misses.set_keep(config.moved.limits.keep);
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
        misses: shared.misses.set_sites(&sites, &shared.store),
        links: shared.links.set_sites(&sites, &shared.store, limits.links),
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
            cache_tags: server.cache_tag_header,
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

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::{TcpListener, TcpStream};
    use tokio::time::Instant;

    use super::*;
    use crate::config::{Environment, parse};
    use frontend_map_service::run::{Listeners, run};

    #[tokio::test(flavor = "multi_thread")]
    async fn run_serves_until_it_is_closed() {
        let text = include_str!("../../../config/demo/settings.toml");
        let config = parse(Some(text), Path::new("settings.toml"), &Environment::new()).unwrap();
        let public = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = public.local_addr().unwrap();
        let listeners = Listeners { public, admin: None };
        let (app, connections) = build_app(config, Arc::default()).unwrap();
        let handle = run(app, listeners, connections);
        let mut stream = TcpStream::connect(address).await.unwrap();
        let request = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut response = String::new();
        stream.read_to_string(&mut response).await.unwrap();
        assert!(response.starts_with("HTTP/1.1 200"), "{response}");
        handle.close(Instant::now()).await;
        assert!(TcpStream::connect(address).await.is_err(), "the socket is closed");
    }
}

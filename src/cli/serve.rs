//! `frontend-map serve` and `frontend-map demo`: what runs until a signal.

mod fd_limit;
mod file_watch;
mod reload;

use std::future::pending;
use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock, mpsc};
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use self::reload::Reloader;
use super::shutdown::{Signals, until_stopped};
use super::{Failure, check, logging};
use crate::config::{Config, DEFAULT_CMS_REQUESTS, Problems};
use crate::http::{AdminService, Service};
use crate::server::ConnectionSettings;
use crate::shared::SharedState;
use crate::site::Sites;
use crate::snapshot_cache::{follow_invalidations, keep_fresh};
use crate::{boot, demo, server, traces};

/// Serves until a signal. The settings are read by `load`, at the start and whenever they change.
///
/// # Errors
/// When the settings are wrong, the service cannot be set up or the address cannot be bound.
pub(super) fn run(
    file: Option<&Path>,
    load: impl Fn() -> Result<Config, Problems> + Send + Sync + 'static,
) -> Result<(), Failure> {
    block_on(serve(file.map(Path::to_owned), load))?
}

/// Shows the demo; without `once` it serves on until a signal.
///
/// # Errors
/// As [`demo::run`].
pub(super) fn run_demo(once: bool) -> Result<(), Failure> {
    block_on(async {
        let signals = Signals::new().map_err(Box::from)?;
        let shared = Arc::new(SharedState::new(DEFAULT_CMS_REQUESTS).map_err(Box::from)?);
        let own = Arc::clone(&shared);
        let demo =
            |closing| demo::run(once, logging::start, own, super::shutdown::Closing::wait(closing));
        // Nobody balances between demos.
        let shown = until_stopped(signals, shared, || Duration::ZERO, demo).await;
        Ok(shown.unwrap_or(Ok(()))?)
    })?
}

/// Runs a service to its end. What is still at work then in a thread of its own is left behind: the
/// look-up of a name may take longer than anybody waits for us.
fn block_on<T>(service: impl Future<Output = T>) -> Result<T, Failure> {
    let runtime = tokio::runtime::Runtime::new().map_err(Box::from)?;
    let ended = runtime.block_on(service);
    runtime.shutdown_background();
    Ok(ended)
}

async fn serve(
    file: Option<PathBuf>,
    load: impl Fn() -> Result<Config, Problems> + Send + Sync + 'static,
) -> Result<(), Failure> {
    // Before anything else: a signal that comes early ends nothing, and is not lost.
    let hangups = signal(SignalKind::hangup()).map_err(Box::from)?;
    let signals = Signals::new().map_err(Box::from)?;
    let mut config = load()?;
    let (listen, admin_listen) = (config.server.listen, config.server.admin_listen);
    let shared = Arc::new(SharedState::new(config.limits.cms_requests).map_err(Box::from)?);
    let _lines = logging::start_serving(&config.log, &shared.metrics).map_err(Box::from)?;
    if let Some(traces) = &config.traces {
        traces::start(traces, &shared.metrics).map_err(Box::from)?;
    }
    let most = fd_limit::connections(config.server.connections, config.limits.cms_requests);
    let overlaps = overlaps();
    let reloader = Reloader::new(&config, file, Box::new(load), overlaps.clone());
    config.limits.requests = fd_limit::requests(config.limits.requests, most);
    let callers = ConnectionSettings {
        timeouts: config.limits.timeouts,
        max_connections: most,
        metrics: Arc::clone(&shared.metrics.connections),
    };
    let app = boot::build(config, Arc::clone(&shared), None).map_err(Box::from)?;
    let (listener, address) = bind("server.listen", listen)?;
    let admin = admin_listen.map(|listen| bind("server.admin_listen", listen)).transpose()?;
    print(address, admin.as_ref().map(|(_, address)| *address));
    tracing::info!(%address, sites = app.sites.iter().count(), "serving");
    let _ = overlaps.send(app.sites.clone());
    let service = Service::new(Arc::new(app));
    if let Some((listener, address)) = admin {
        tracing::info!(%address, "who watches is answered");
        let (admin, watchers) =
            (AdminService::new(service.clone()), callers.uncounted(fd_limit::ADMIN_CONNECTIONS));
        // It ends with the process: the stop is there to be seen as well.
        tokio::spawn(server::serve(listener, admin, watchers, pending()));
    }
    let snapshots = |service: &Service| {
        let service = service.clone();
        move || Arc::clone(&service.app().snapshots)
    };
    let tasks = [
        tokio::spawn(keep_fresh(snapshots(&service))),
        tokio::spawn(follow_invalidations(snapshots(&service))),
        tokio::spawn(reloader.run(service.clone(), hangups)),
    ];
    let current = service.clone();
    let served = until_stopped(
        signals,
        shared,
        || current.app().drain_delay,
        async |closing| {
            let end = OnceLock::new();
            let closing = async {
                let by = closing.wait().await;
                let _ = end.set(by);
                tasks.iter().for_each(tokio::task::JoinHandle::abort);
                by
            };
            server::serve(listener, service, callers, closing).await;
            traces::shutdown(end.get().copied().unwrap_or_else(Instant::now)).await;
            tracing::info!("stopped");
        },
    );
    served.await;
    Ok(())
}

/// Tells which rules of the sites that are sent overlap, in a thread of its own, which neither the
/// first answer nor the stop waits for. What was sent meanwhile counts by its last.
fn overlaps() -> mpsc::Sender<Sites> {
    let (sender, sent) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(sites) = sent.recv() {
            check::warn(&sent.try_iter().last().unwrap_or(sites));
        }
    });
    sender
}

fn bind(setting: &str, listen: SocketAddr) -> Result<(TcpListener, SocketAddr), Failure> {
    let listener = server::listen(listen)
        .map_err(|error| Box::from(format!("cannot listen on {listen} ({setting}): {error}")))?;
    let address = listener.local_addr().map_err(Box::from)?;
    Ok((listener, address))
}

/// Tells where the service is, in one go: whoever reads the first line alone takes both.
fn print(address: SocketAddr, admin: Option<SocketAddr>) {
    let admin = admin.map_or_else(String::new, |admin| format!("admin {admin}\n"));
    // A reader that has gone is no reason not to serve.
    let _ = write!(std::io::stdout(), "{address}\n{admin}");
}

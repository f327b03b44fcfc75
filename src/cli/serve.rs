//! `frontend-map serve`, which runs until a signal.

mod background;
mod fd_limit;
mod file_watch;
mod fleet;
mod reload;
pub(super) mod service_manager;

use std::future::pending;
use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, OnceLock, mpsc};

use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};
use tokio::time::Instant;

use self::background::{
    copy_history, copy_history_at_stop, import_lists, probe_changes, restart_on_panic,
};
use self::reload::Reloader;
use super::output::logging;
use super::shutdown::{Signals, until_stopped};
use super::{CommandError, check, print_settings_file};
use crate::boot;
use crate::config::{Config, Problems, SettingsFile};
use frontend_map_cache::{apply_invalidations, follow_store, keep_fresh};
use frontend_map_catalog::site::Sites;
use frontend_map_outbound::webhooks::{Notifier, Positions, Timing};
use frontend_map_platform::metrics::Metrics;
use frontend_map_platform::outgoing::system_look_up;
use frontend_map_platform::traces;
use frontend_map_service::http::{AdminService, Service};
use frontend_map_service::server;
use frontend_map_service::server::ConnectionSettings;
use frontend_map_service::shared::{Backends, SharedState};

/// Serves until a signal. `load` reads the settings file, at the start and at each reload.
///
/// # Errors
/// When the settings are invalid, the service cannot be set up or an address cannot be bound.
pub(super) fn run(
    file: SettingsFile,
    load: impl Fn(&SettingsFile) -> Result<Config, Problems> + Send + Sync + 'static,
) -> Result<(), CommandError> {
    fd_limit::check().map_err(Box::from)?;
    block_on(serve(file, load))?
}

/// Runs a service to its end, without waiting for blocking threads: a name look-up may take longer than
/// the grace period.
pub(super) fn block_on<T>(service: impl Future<Output = T>) -> Result<T, CommandError> {
    let runtime = tokio::runtime::Runtime::new().map_err(Box::from)?;
    let ended = runtime.block_on(service);
    runtime.shutdown_background();
    Ok(ended)
}

async fn serve(
    file: SettingsFile,
    load: impl Fn(&SettingsFile) -> Result<Config, Problems> + Send + Sync + 'static,
) -> Result<(), CommandError> {
    // First of all, so that a signal during the start is not lost and does not kill the process.
    let hangups = signal(SignalKind::hangup()).map_err(Box::from)?;
    let signals = Signals::new().map_err(Box::from)?;
    // Without a handler it ends the process; with one, a write beyond the limit of file sizes fails.
    let beyond_limit = SignalKind::from_raw(Signal::XFSZ.as_raw());
    drop(signal(beyond_limit).map_err(Box::from)?);
    // The log starts with the settings, and says which file they are from.
    let mut config = load(&file).inspect_err(|_| print_settings_file(&file))?;
    let (listen, admin_listen) = (config.server.listen, config.server.admin_listen);
    let metrics: Arc<Metrics> = Arc::default();
    let _log_writer = logging::start_serving(&config.log, &metrics).map_err(Box::from)?;
    if let Some(traces) = &config.traces {
        traces::start(traces, &metrics).map_err(Box::from)?;
    }
    tracing::info!(%file, "settings read");
    config.log_warnings();
    let ambiguous_rules = ambiguous_rules_logger();
    let path = file.path().to_owned();
    let load = Box::new(move || load(&file));
    let reloader = Reloader::new(&config, path, load, ambiguous_rules.clone());
    let backends = Backends { redis: config.shared.take(), store: config.store.take() };
    let shared = SharedState::new(metrics, config.limits.cms_requests, backends);
    let shared = Arc::new(shared.map_err(Box::from)?);
    let connections = apply_fd_limit(&mut config, &shared);
    let app = boot::build(config, Arc::clone(&shared), None).map_err(Box::from)?;
    let (listener, address) = bind("server.listen", listen)?;
    let admin = admin_listen.map(|listen| bind("server.admin_listen", listen)).transpose()?;
    print_addresses(address, admin.as_ref().map(|(_, address)| *address));
    tracing::info!(%address, sites = app.sites.iter().count(), "serving");
    let _ = ambiguous_rules.send(app.sites.clone());
    let app = Arc::new(app);
    let service = Service::new(Arc::clone(&app));
    if let Some((listener, address)) = admin {
        tracing::info!(%address, "serving admin routes");
        let admin = AdminService::new(service.clone());
        let connections = connections.uncounted(fd_limit::ADMIN_CONNECTIONS);
        // Until the process ends: the metrics of the shutdown are of interest too.
        tokio::spawn(server::serve(listener, admin, connections, pending()));
    }
    let (refreshed, invalidated, stored) = (service.clone(), service.clone(), service.clone());
    let probed = service.clone();
    let snapshots = |service: &Service| {
        let service = service.clone();
        move || Arc::clone(&service.app().snapshots)
    };
    let (importing, copying) = (service.clone(), service.clone());
    let tasks = [
        tokio::spawn(restart_on_panic(move || keep_fresh(snapshots(&refreshed)))),
        tokio::spawn(restart_on_panic(move || {
            let probed = probed.clone();
            probe_changes(move || probed.app())
        })),
        tokio::spawn(restart_on_panic(move || apply_invalidations(snapshots(&invalidated)))),
        tokio::spawn(restart_on_panic(move || {
            let importing = importing.clone();
            import_lists(move || importing.app())
        })),
        tokio::spawn(restart_on_panic(move || {
            let copying = copying.clone();
            copy_history(move || copying.app())
        })),
        tokio::spawn(restart_on_panic(move || follow_store(snapshots(&stored)))),
        fleet::follow(&service, snapshots(&service)),
        tokio::spawn(send_webhooks(Arc::clone(&shared))),
        tokio::spawn(shared.runs.clone().follow_store()),
        tokio::spawn(reloader.run(service.clone(), hangups)),
    ];
    service_manager::ready(&app, address);
    drop(app);
    let (current, store) = (service.clone(), Arc::clone(&shared.store));
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
            server::serve(listener, service, connections, closing).await;
            copy_history_at_stop(current.app()).await;
            store.close();
            traces::shutdown(end.get().copied().unwrap_or_else(Instant::now)).await;
            tracing::info!("stopped");
        },
    );
    served.await;
    Ok(())
}

async fn send_webhooks(shared: Arc<SharedState>) {
    restart_on_panic(async || {
        let notifier = Arc::clone(&shared.notifier);
        let positions = match shared.fleet.positions() {
            Some(positions) => Positions::Shared(positions),
            None => Positions::Store(Arc::clone(&shared.store)),
        };
        let sent = Notifier::run(notifier, positions, system_look_up(), Timing::default()).await;
        if let Err(error) = sent {
            tracing::error!(%error, "no webhooks can be sent");
        }
    })
    .await;
}

/// The limits of connections to the public address. Both the limit of connections and the in-flight
/// limit are lowered to what the limit of file descriptors allows.
fn apply_fd_limit(config: &mut Config, shared: &SharedState) -> ConnectionSettings {
    let limits = &mut config.limits;
    let max_connections = fd_limit::max_connections(config.server.connections, limits.cms_requests);
    limits.requests = fd_limit::max_requests(limits.requests, max_connections);
    let metrics = Arc::clone(&shared.metrics.connections);
    ConnectionSettings { timeouts: limits.timeouts, max_connections, metrics }
}

/// Takes the sites whose ambiguous rules are logged. The search for them takes long, so it runs in a
/// thread of its own, which neither the start nor the shutdown waits for. Of several sites sent
/// during one search, only the last are searched.
fn ambiguous_rules_logger() -> mpsc::Sender<Sites> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        while let Ok(sites) = receiver.recv() {
            check::log_ambiguous_rules(&receiver.try_iter().last().unwrap_or(sites));
        }
    });
    sender
}

fn bind(setting: &str, listen: SocketAddr) -> Result<(TcpListener, SocketAddr), CommandError> {
    let listener = server::listen(listen)
        .map_err(|error| Box::from(format!("cannot listen on {listen} ({setting}): {error}")))?;
    let address = listener.local_addr().map_err(Box::from)?;
    Ok((listener, address))
}

/// Prints the bound addresses to stdout, in one write: a reader may close stdout after the first line.
fn print_addresses(address: SocketAddr, admin: Option<SocketAddr>) {
    let admin = admin.map_or_else(String::new, |admin| format!("admin {admin}\n"));
    // The service also runs if stdout is closed.
    let _ = write!(std::io::stdout(), "{address}\n{admin}");
}

//! `frontend-map serve`, which runs until a signal.

mod file_watch;
mod reload;
pub(super) mod service_manager;

use std::io::Write;
use std::net::SocketAddr;
use std::sync::{Arc, mpsc};

use rustix::process::Signal;
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use self::reload::Reloader;
use super::error::CommandError;
use super::output::logging;
use super::shutdown::{Signals, stop};
use super::{check, settings};
use crate::boot::{self, fd_limit};
use crate::config::{Config, Problems, SettingsFile};
use frontend_map_catalog::site::Sites;
use frontend_map_platform::metrics::Metrics;
use frontend_map_service::run::{self, Listeners};
use frontend_map_service::server;

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
    let mut signals = Signals::new().map_err(Box::from)?;
    // Without a handler it ends the process; with one, a write beyond the limit of file sizes fails.
    let beyond_limit = SignalKind::from_raw(Signal::XFSZ.as_raw());
    drop(signal(beyond_limit).map_err(Box::from)?);
    // The log starts with the settings, and says which file they are from.
    let config = load(&file).inspect_err(|_| settings::print_file(&file))?;
    let metrics: Arc<Metrics> = Arc::default();
    let _log_writer = logging::start_serving(&config.log, &metrics).map_err(Box::from)?;
    tracing::info!(%file, "settings read");
    config.log_warnings();
    let ambiguous_rules = ambiguous_rules_logger();
    let path = file.path().to_owned();
    let load = Box::new(move || load(&file));
    let reloader = Reloader::new(&config, path, load, ambiguous_rules.clone());
    let (public, address) = bind("server.listen", config.server.listen)?;
    let admin = config.server.admin_listen.map(|listen| bind("server.admin_listen", listen));
    let (admin, admin_address) = admin.transpose()?.unzip();
    let listeners = Listeners { public, admin };
    let (app, connections) = boot::build_app(config, metrics).map_err(Box::from)?;
    let mut handle = run::run(app, listeners, connections);
    print_addresses(address, admin_address);
    let app = handle.service().app();
    tracing::info!(%address, sites = app.sites.iter().count(), "serving");
    if let Some(address) = admin_address {
        tracing::info!(%address, "serving admin routes");
    }
    let _ = ambiguous_rules.send(app.sites.clone());
    handle.spawn(reloader.run(handle.service().clone(), hangups));
    service_manager::ready(&app, address);
    drop(app);
    let first = signals.next().await;
    stop(first, signals, handle).await;
    Ok(())
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

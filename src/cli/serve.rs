//! `frontend-map serve` and `frontend-map demo`: what runs until a signal.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use tokio::net::TcpListener;

use super::stop::stop_signal;
use super::{check, log};
use crate::app::{App, Lasting};
use crate::config::Config;
use crate::http::Service;
use crate::{demo, server};

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// When the service cannot be set up or the address cannot be bound.
#[tokio::main]
pub(super) async fn run(config: Config) -> Result<(), Box<dyn Error>> {
    log::start(&config.log);
    let listen = config.server.listen;
    let timeouts = config.limits.callers;
    let lasting = Arc::new(Lasting::default());
    let app = Arc::new(App::build_with(config, Arc::clone(&lasting))?);
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let address = listener.local_addr()?;
    // Before the address is told: who knows it may also stop the service.
    let stop = stop_signal()?;
    // A reader that has gone is no reason not to serve.
    let _ = writeln!(std::io::stdout(), "{address}");
    tracing::info!(%address, sites = app.sites.iter().count(), "serving");
    // A thread of its own, which neither the first answer nor the stop waits for.
    let warned = Arc::clone(&app);
    std::thread::spawn(move || check::warn(&warned.sites));
    let refreshing = tokio::spawn(Arc::clone(&app).keep_snapshots());
    let following = tokio::spawn(Arc::clone(&app).follow_hints());
    let shutdown = async move {
        let _ = stop.await;
        lasting.drain();
        refreshing.abort();
        following.abort();
        tracing::info!("stopping");
    };
    let counts = Arc::clone(&app.lasting().metrics.connections);
    server::serve(listener, Service::new(app), (timeouts, counts), shutdown).await;
    tracing::info!("stopped");
    Ok(())
}

/// Shows the demo; without `once` it serves on until SIGTERM or SIGINT.
///
/// # Errors
/// As [`demo::run`].
#[tokio::main]
pub(super) async fn run_demo(once: bool) -> Result<(), Box<dyn Error>> {
    let stop = stop_signal()?;
    let stop = async move {
        let _ = stop.await;
    };
    demo::run(once, log::start, stop).await
}

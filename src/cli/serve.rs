//! `frontend-map serve`.

use std::error::Error;
use std::io::Write;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

use super::log;
use crate::app::App;
use crate::config::Config;
use crate::http::router;
use crate::server;

/// Serves until SIGTERM or SIGINT.
///
/// # Errors
/// When the service cannot be set up or the address cannot be bound.
#[tokio::main]
pub(super) async fn run(config: Config) -> Result<(), Box<dyn Error>> {
    log::start(&config.log);
    let listen = config.server.listen;
    let app = Arc::new(App::build(config)?);
    let listener = TcpListener::bind(listen)
        .await
        .map_err(|error| format!("cannot listen on {listen}: {error}"))?;
    let address = listener.local_addr()?;
    // A reader that has gone is no reason not to serve.
    let _ = writeln!(std::io::stdout(), "{address}");
    tracing::info!(%address, sites = app.sites.iter().count(), "serving");
    let shutdown = stop_signal(Arc::clone(&app))?;
    server::serve(listener, router(app), shutdown).await;
    tracing::info!("stopped");
    Ok(())
}

/// Ready at the first SIGTERM or SIGINT.
fn stop_signal(app: Arc<App>) -> std::io::Result<impl Future<Output = ()>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
        app.drain();
        tracing::info!("stopping");
    })
}

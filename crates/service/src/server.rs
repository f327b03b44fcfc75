//! The public port: an accept loop on hyper's own HTTP/1 connections.
//!
//! `axum::serve` is not used: it has no header timer, so a silent client keeps its connection for
//! ever and blocks a graceful shutdown, and it accepts HTTP/2 with prior knowledge.

mod conn_state;
mod connection;
mod connection_limit;
mod framing;
mod io;
mod listener;
mod request_body;
mod service;
mod timeouts;

use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::RequestHandler;
use crate::metrics::Connections;
use connection_limit::{ConnectionLimit, SlotPermit};
pub use listener::listen;
pub use timeouts::Timeouts;

/// How long requests in flight may go on after the stop signal. Orchestrators kill after 30 s.
pub const GRACE_PERIOD: Duration = Duration::from_secs(25);
/// The pause after a failed accept: without a free file descriptor the next accept fails as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// The limits of a listener's connections, and the metrics that count them.
#[derive(Clone)]
pub struct ConnectionSettings {
    /// How long a connection may wait for its client.
    pub timeouts: Timeouts,
    /// The most connections that are open at a time.
    pub max_connections: usize,
    /// Counts accepted, failed and ended connections.
    pub metrics: Arc<Connections>,
}

impl ConnectionSettings {
    /// The same timeouts for another listener, whose connections are not counted in the metrics.
    #[must_use]
    pub fn uncounted(&self, max_connections: usize) -> Self {
        Self { timeouts: self.timeouts, max_connections, metrics: Arc::default() }
    }
}

/// Serves until `closing` is ready, then lets requests in flight finish until the instant that
/// `closing` returns.
///
/// When `settings.max_connections` connections are open, a new one evicts the connection that has
/// waited longest for its client.
pub async fn serve(
    listener: TcpListener,
    service: impl RequestHandler,
    settings: ConnectionSettings,
    closing: impl Future<Output = Instant>,
) {
    // Each connection keeps a receiver for as long as it is open: `stop.closed()` waits for all.
    let (stop, stopped) = watch::channel(());
    let ConnectionSettings { timeouts, max_connections, metrics } = settings;
    let limit = ConnectionLimit::new(max_connections);
    let mut closing = std::pin::pin!(closing);
    let serve = |stream, permit: SlotPermit| {
        let limits = (timeouts, permit.slot());
        let served = connection::serve(stream, service.clone(), limits, stopped.clone());
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            let reason = served.await;
            metrics.closed.inc(reason);
            // Only now, when the socket is closed, may another connection be accepted.
            drop(permit);
        });
    };
    let end = loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    metrics.accepted.inc();
                    let permit = tokio::select! {
                        permit = limit.acquire() => permit,
                        end = &mut closing => break end,
                    };
                    serve(stream, permit);
                }
                Err(error) => {
                    metrics.accept_failures.inc();
                    limit.evict_longest_idle();
                    tracing::warn!(%error, "a connection could not be accepted");
                    sleep(ACCEPT_PAUSE).await;
                }
            },
            end = &mut closing => break end,
        }
    };
    // Those that only the system has accepted may have sent a request: closed now, they would be reset.
    for stream in listener::unaccepted(listener) {
        metrics.accepted.inc();
        if let Some(permit) = limit.acquire().now_or_never() {
            serve(stream, permit);
        }
    }
    drop(stopped);
    stop.send_replace(());
    if timeout_at(end, stop.closed()).await.is_err() {
        tracing::warn!("requests are still in flight at the end of the stop; they are aborted");
    }
}

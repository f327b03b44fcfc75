//! The public port: an accept loop on hyper's own HTTP/1 connections.
//!
//! Not `axum::serve`: that has no timers, so that a silent client stays for ever and holds up the
//! shutdown, and it speaks HTTP/2 to those who begin with it.

mod answers;
mod connection;
mod framing;
mod progress;
mod stream;
mod watchdog;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::Answerer;
use crate::metrics::Connections;
pub use watchdog::Timeouts;

/// The largest request head, in bytes (D3).
const MAX_HEAD: usize = 32 * 1024;
/// The most header fields of a request (D3).
const MAX_HEADERS: usize = 64;
/// How long after the signal to stop requests in flight may go on; orchestrators kill after 30 s.
pub const GRACE: Duration = Duration::from_secs(25);
/// The pause after a failed accept: without file descriptors the next one fails as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `closing` is ready, then lets requests in flight finish until the time that it gives.
/// Counts what becomes of the connections.
pub async fn serve(
    listener: TcpListener,
    service: impl Answerer,
    (timeouts, counts): (Timeouts, Arc<Connections>),
    closing: impl Future<Output = Instant>,
) {
    // Told by sending, and each connection keeps a receiver for as long as it lasts.
    let (stop, stopped) = watch::channel(());
    let mut closing = std::pin::pin!(closing);
    let end = loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    counts.accepted.one();
                    let (service, stopped) = (service.clone(), stopped.clone());
                    let (counts, served) =
                        (Arc::clone(&counts), connection::serve(stream, service, timeouts, stopped));
                    tokio::spawn(async move { counts.ended.of(served.await).one() });
                }
                Err(error) => {
                    counts.refused.one();
                    pause(&error).await;
                }
            },
            end = &mut closing => break end,
        }
    };
    drop((listener, stopped));
    stop.send_replace(());
    if timeout_at(end, stop.closed()).await.is_err() {
        tracing::warn!("requests were still in flight at the end of the grace period");
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    sleep(ACCEPT_PAUSE).await;
}

//! The public port: an accept loop on hyper's own HTTP/1 connections.
//!
//! Not `axum::serve`: that has no timers, so that a silent client stays for ever and holds up the
//! shutdown, and it speaks HTTP/2 to those who begin with it.

mod answers;
mod connection;
mod crowd;
mod framing;
mod listen;
mod progress;
mod stream;
mod upload;
mod watchdog;

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::Answerer;
use crate::metrics::Connections;
use crowd::Crowd;
pub use listen::listen;
pub use watchdog::Timeouts;

/// The largest request head, in bytes (D3).
const MAX_HEAD: usize = 32 * 1024;
/// The most header fields of a request (D3).
const MAX_HEADERS: usize = 64;
/// How long after the signal to stop requests in flight may go on; orchestrators kill after 30 s.
pub const GRACE: Duration = Duration::from_secs(25);
/// The pause after a failed accept: without file descriptors the next one fails as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// What callers may do, and what is counted of it.
#[derive(Clone)]
pub struct Callers {
    /// How long they may let us wait.
    pub timeouts: Timeouts,
    /// How many connections there may be at a time.
    pub most: usize,
    /// What becomes of them.
    pub counts: Arc<Connections>,
}

impl Callers {
    /// Others, under the same time-outs, who are not counted.
    #[must_use]
    pub fn few(&self, most: usize) -> Self {
        Self { timeouts: self.timeouts, most, counts: Arc::default() }
    }
}

/// Serves until `closing` is ready, then lets requests in flight finish until the time that it gives.
/// Counts what becomes of the connections.
///
/// While `callers.most` connections are open, the one that has waited for its client for longest
/// gives way to the next.
pub async fn serve(
    listener: TcpListener,
    service: impl Answerer,
    callers: Callers,
    closing: impl Future<Output = Instant>,
) {
    // Told by sending, and each connection keeps a receiver for as long as it lasts.
    let (stop, stopped) = watch::channel(());
    let Callers { timeouts, most, counts } = callers;
    let crowd = Crowd::new(most);
    let mut closing = std::pin::pin!(closing);
    let end = loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    counts.accepted.one();
                    let taken = tokio::select! {
                        taken = crowd.seat() => taken,
                        end = &mut closing => break end,
                    };
                    let (service, callers) = (service.clone(), (timeouts, taken.seat()));
                    let served = connection::serve(stream, service, callers, stopped.clone());
                    let counts = Arc::clone(&counts);
                    tokio::spawn(async move {
                        let ended = served.await;
                        counts.ended.of(ended).one();
                        // By now its socket is closed.
                        drop(taken);
                    });
                }
                Err(error) => {
                    counts.refused.one();
                    crowd.make_room();
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

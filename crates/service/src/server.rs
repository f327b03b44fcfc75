//! The public port: an accept loop on hyper's own HTTP/1 connections.
//!
//! `axum::serve` is not used: it has no header timer, so a silent client keeps its connection for
//! ever and blocks a graceful shutdown, and it accepts HTTP/2 with prior knowledge.
//!
//! # Design
//!
//! - **Framing check.** hyper removes `Content-Length` from a head that also has
//!   `Transfer-Encoding` before the handler can see it, but such a request must be a 400 (D6).
//!   `server` therefore checks the bytes as they are read from the socket.
//! - **Timeouts.** hyper's header timer is created and dropped for every request, counts while a
//!   connection idles, and does not cover writing. Ours uses one timer per connection and checks
//!   the connection's state when it fires. The connection waits for the rest of a head (10 s from
//!   its first byte), for the next request (75 s), for the client to read (30 s since it last
//!   read something), or for the service (no timeout here).
//! - **Unsent bytes.** The kernel buffers at most 128 KiB of unsent response per client
//!   (`TCP_NOTSENT_LOWAT`); without this bound it would buffer megabytes for each client that
//!   never reads.
//! - **Connection limit.** Running out of file descriptors would block accepting, CMS requests
//!   and URL checks alike. So `server.connections` stays below that limit. When all slots are
//!   taken, the connection that has waited longest for its client is evicted; one that waits for
//!   the service never is. Eviction scans all slots once per 64 evictions.
//! - **Disconnected clients** are noticed by hyper, which reads ahead, unless unread bytes are
//!   buffered behind the request. While a response takes long, the connection's timer therefore
//!   checks twice a second whether the peer has closed the socket.
//!
//! At the stop, idle connections are closed at once, and connections with a request in flight after
//! its response. A webhook whose body is still arriving keeps its five seconds. Deployment has the
//! sequence.

mod conn_state;
mod connection;
mod connection_limit;
mod framing;
mod io;
mod request_body;
mod service;
mod timeouts;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use socket2::{Domain, Socket, Type};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use crate::http::RequestHandler;
use connection_limit::{ConnectionLimit, SlotPermit};
use frontend_map_platform::metrics::Connections;

pub use timeouts::Timeouts;

/// How long requests in flight may go on after the stop signal. Orchestrators kill after 30 s.
pub const GRACE_PERIOD: Duration = Duration::from_secs(25);
/// The pause after a failed accept: without a free file descriptor the next accept fails as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
/// The most connections that wait to be accepted; the system may allow fewer.
const BACKLOG: i32 = 1024;
/// The most unsent bytes that the system buffers for a connection (`TCP_NOTSENT_LOWAT`). Without a
/// bound it buffers megabytes for each client that never reads.
#[cfg(target_os = "linux")]
const MAX_UNSENT: u32 = 128 << 10;

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
    /// These timeouts for another listener, whose connections are not counted in the metrics.
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
        let (service, stopped) = (service.clone(), stopped.clone());
        let served = connection::serve(stream, service, timeouts, permit.slot(), stopped);
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
                        // First: what has been accepted is served, also if the stop comes now.
                        biased;
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
    // Connections that only the system has accepted may have sent a request: closed now, they would
    // be reset.
    for stream in unaccepted(listener) {
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

/// Listens on an address; `[::]` accepts IPv4 as well, whatever the system's default is.
///
/// # Errors
/// The errors of the system, such as an address in use.
pub fn listen(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    if address.is_ipv6() {
        socket.set_only_v6(!address.ip().is_unspecified())?;
    }
    // A restarted service need not wait until the connections of the last process have expired.
    socket.set_reuse_address(true)?;
    // Accepted connections inherit it. Where it is not supported, the service only needs more memory.
    #[cfg(target_os = "linux")]
    let _ = socket.set_tcp_notsent_lowat(MAX_UNSENT);
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}

/// Closes the socket; yields the connections that wait to be accepted.
fn unaccepted(listener: TcpListener) -> impl Iterator<Item = TcpStream> {
    let listener = listener.into_std().ok();
    std::iter::from_fn(move || {
        let (stream, _) = listener.as_ref()?.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        TcpStream::from_std(stream).ok()
    })
}

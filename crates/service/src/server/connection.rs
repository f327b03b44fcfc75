//! One connection: hyper's HTTP/1 connection with its timeouts, eviction and the stop.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;
use tokio::time::{Sleep, sleep};

use super::conn_state::{ConnState, Phase};
use super::connection_limit::Slot;
use super::io::ClientIo;
use super::service::HttpService;
use super::timeouts::{PhaseTimer, Timeouts};
use crate::http::RequestHandler;
use frontend_map_platform::metrics::CloseReason;

/// The largest request head, in bytes (D3).
const MAX_HEAD: usize = 32 * 1024;
/// The most header fields of a request (D3).
const MAX_HEADERS: usize = 64;

type Connection<S> = http1::Connection<TokioIo<ClientIo>, HttpService<S>>;

/// Serves a connection until the client disconnects, a timeout expires, it is evicted, or its last
/// response after `stop` has been sent; returns which.
pub(super) async fn serve(
    stream: TcpStream,
    service: impl RequestHandler,
    timeouts: Timeouts,
    slot: Slot,
    stop: watch::Receiver<()>,
) -> CloseReason {
    // Responses are written as a whole: Nagle's algorithm would only delay them.
    let _ = stream.set_nodelay(true);
    let state = Arc::new(ConnState::default());
    let io = ClientIo::new(stream, Arc::clone(&state));
    let service = HttpService::new(service, Arc::clone(&state));
    let mut connection = pin!(
        http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD)
            .max_header_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .writev(false)
            .serve_connection(TokioIo::new(io), service)
    );
    let mut timer = PhaseTimer::new(timeouts, slot.clone());
    let mut shutdown = GracefulShutdown::new(stop.clone());
    let mut stop_signal = stop;
    let mut stopped = pin!(stop_signal.changed());
    // A connection is one task for its whole life, so that one registration of its waker is enough
    // for the eviction and for the stop.
    let _ = poll_fn(|cx| {
        slot.register(cx.waker());
        Poll::Ready(stopped.as_mut().poll(cx))
    })
    .await;
    poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            log(&ended);
            return Poll::Ready(shutdown.reason(&ended));
        }
        let phase = state.phase(timer.phase());
        if shutdown.poll(connection.as_mut(), &state, phase, cx).is_ready() {
            return Poll::Ready(CloseReason::Shutdown);
        }
        if shutdown.begun {
            timer.shorten_write_timeout();
        }
        if timer.is_hang_up_check_due(phase, cx) {
            state.request_hang_up_check();
            cx.waker().wake_by_ref();
        }
        if timer.poll(phase, cx).is_ready() {
            return Poll::Ready(timed_out(phase));
        }
        // After the timer, which has reported the phase to the slot.
        if slot.is_evicted() { Poll::Ready(CloseReason::Evicted) } else { Poll::Pending }
    })
    .await
}

/// Which timeout ends the connection in this phase.
fn timed_out(phase: Phase) -> CloseReason {
    match phase {
        Phase::Head(_) => CloseReason::HeadTimeout,
        Phase::Idle(_) | Phase::Busy | Phase::Body(_) => CloseReason::IdleTimeout,
        Phase::Stalled(_) => CloseReason::WriteTimeout,
    }
}

/// At the level `debug`: a client that disconnects early or does not speak HTTP is not a fault of
/// the service.
fn log(ended: &hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// How long a stop waits for the rest of a request's head, and for the first request of a connection:
/// what the client has sent by then may be on its way.
const HEAD_GRACE: Duration = Duration::from_secs(1);

/// The graceful shutdown of one connection.
struct GracefulShutdown {
    stop: watch::Receiver<()>,
    begun: bool,
    /// The end of the wait for a request; `None` before the stop.
    grace: Option<Pin<Box<Sleep>>>,
    /// The wait for a request in which the system was asked for bytes that are not read yet.
    looked: Option<Phase>,
}

impl GracefulShutdown {
    fn new(stop: watch::Receiver<()>) -> Self {
        Self { stop, begun: false, grace: None, looked: None }
    }

    /// Why hyper has ended the connection.
    fn reason(&self, ended: &hyper::Result<()>) -> CloseReason {
        match ended {
            Err(_) => CloseReason::Error,
            Ok(()) if self.begun => CloseReason::Shutdown,
            Ok(()) => CloseReason::Client,
        }
    }

    /// Ready when the connection may be dropped: the stop has begun and no response is outstanding.
    fn poll<S: RequestHandler>(
        &mut self,
        connection: Pin<&mut Connection<S>>,
        state: &ConnState,
        phase: Phase,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        // An error means that the sender is gone, which is a stop as well.
        if matches!(self.stop.has_changed(), Ok(false)) {
            return Poll::Pending;
        }
        if matches!(phase, Phase::Head(_) | Phase::Idle(_)) {
            let grace = self.grace.get_or_insert_with(|| Box::pin(sleep(HEAD_GRACE)));
            if grace.as_mut().poll(cx).is_ready() {
                return Poll::Ready(());
            }
            if matches!(phase, Phase::Idle(_)) {
                // A request may have arrived that nothing has read: closing now would be a reset.
                if state.takes_found_none() {
                    return Poll::Ready(());
                }
                if self.looked.replace(phase) != Some(phase) {
                    state.request_look();
                    cx.waker().wake_by_ref();
                }
            }
            return Poll::Pending;
        }
        if !std::mem::replace(&mut self.begun, true) {
            connection.graceful_shutdown();
            // hyper may be able to end the connection at once.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

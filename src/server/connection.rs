//! One connection: hyper's, the timer and the stop.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::conn_state::{ConnState, Phase};
use super::connection_limit::Slot;
use super::io::ClientIo;
use super::service::HttpService;
use super::timeouts::{Timeouts, Timer};
use crate::http::Answerer;
use crate::metrics::CloseReason;

/// The largest request head, in bytes (D3).
const MAX_HEAD: usize = 32 * 1024;
/// The most header fields of a request (D3).
const MAX_HEADERS: usize = 64;

type Connection<S> = http1::Connection<TokioIo<ClientIo>, HttpService<S>>;

/// Serves a client until it leaves, lets us wait too long, has to give way to another one, or has its
/// last answer after `stop`; says which.
pub(super) async fn serve(
    stream: TcpStream,
    service: impl Answerer,
    (timeouts, slot): (Timeouts, Slot),
    stop: watch::Receiver<()>,
) -> CloseReason {
    // HttpService are written whole: waiting for more only delays them.
    let _ = stream.set_nodelay(true);
    let state = Arc::new(ConnState::default());
    let stream = ClientIo::new(stream, Arc::clone(&state));
    let answers = HttpService::new(service, Arc::clone(&state));
    let mut connection = pin!(
        http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD)
            .max_header_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .writev(false)
            .serve_connection(TokioIo::new(stream), answers)
    );
    let mut timer = Timer::new(timeouts, slot.clone());
    let mut stopping = Stopping::new(stop.clone());
    let mut stop_signal = stop;
    let mut stopped = pin!(stop_signal.changed());
    // Once is enough for both: a connection is one task.
    let _ = poll_fn(|cx| {
        slot.register(cx.waker());
        Poll::Ready(stopped.as_mut().poll(cx))
    })
    .await;
    poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            log(&ended);
            return Poll::Ready(stopping.reason(&ended));
        }
        let phase = state.phase(timer.phase());
        if stopping.poll(connection.as_mut(), phase, cx).is_ready() {
            return Poll::Ready(CloseReason::Shutdown);
        }
        if stopping.told {
            timer.hurry();
        }
        if timer.is_time_to_look(phase, cx) {
            state.doubt();
            cx.waker().wake_by_ref();
        }
        if timer.poll(phase, cx).is_ready() {
            return Poll::Ready(overdue(phase));
        }
        // By now the slot knows the phase as well.
        if slot.is_evicted() { Poll::Ready(CloseReason::Evicted) } else { Poll::Pending }
    })
    .await
}

/// What the client let us wait for.
fn overdue(phase: Phase) -> CloseReason {
    match phase {
        Phase::Head(_) => CloseReason::HeadTimeout,
        Phase::Idle(_) | Phase::Busy | Phase::Body(_) => CloseReason::IdleTimeout,
        Phase::Stalled(_) => CloseReason::WriteTimeout,
    }
}

/// A client that leaves or talks nonsense is its own affair.
fn log(ended: &hyper::Result<()>) {
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
}

/// What the stop means to a connection.
struct Stopping {
    signal: watch::Receiver<()>,
    told: bool,
}

impl Stopping {
    fn new(signal: watch::Receiver<()>) -> Self {
        Self { signal, told: false }
    }

    /// Why a connection that hyper has ended did so.
    fn reason(&self, ended: &hyper::Result<()>) -> CloseReason {
        match ended {
            Err(_) => CloseReason::Error,
            Ok(()) if self.told => CloseReason::Shutdown,
            Ok(()) => CloseReason::Client,
        }
    }

    /// Ready when the connection may be dropped: nobody waits for anything on it.
    fn poll<S: Answerer>(
        &mut self,
        connection: Pin<&mut Connection<S>>,
        phase: Phase,
        cx: &mut Context<'_>,
    ) -> Poll<()> {
        // An error: whoever could stop us is gone.
        if matches!(self.signal.has_changed(), Ok(false)) {
            return Poll::Pending;
        }
        if matches!(phase, Phase::Head(_) | Phase::Idle(_)) {
            return Poll::Ready(());
        }
        if !std::mem::replace(&mut self.told, true) {
            connection.graceful_shutdown();
            // It may have nothing left to wait for.
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }
}

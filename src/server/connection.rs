//! One connection: hyper's, the watchdog and the stop.

use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::{Context, Poll};

use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio::sync::watch;

use super::answers::Answers;
use super::crowd::Seat;
use super::progress::{Phase, Progress};
use super::stream::Watched;
use super::watchdog::{Timeouts, Watchdog};
use super::{MAX_HEAD, MAX_HEADERS};
use crate::http::Answerer;
use crate::metrics::Ended;

type Connection<S> = http1::Connection<TokioIo<Watched>, Answers<S>>;

/// Serves a client until it leaves, lets us wait too long, has to give way to another one, or has its
/// last answer after `stop`; says which.
pub(super) async fn serve(
    stream: TcpStream,
    service: impl Answerer,
    (timeouts, seat): (Timeouts, Seat),
    stop: watch::Receiver<()>,
) -> Ended {
    // Answers are written whole: waiting for more only delays them.
    let _ = stream.set_nodelay(true);
    let progress = Arc::new(Progress::default());
    let stream = Watched::new(stream, Arc::clone(&progress));
    let answers = Answers::new(service, Arc::clone(&progress));
    let mut connection = pin!(
        http1::Builder::new()
            .header_read_timeout(None)
            .max_buf_size(MAX_HEAD)
            .max_header_size(MAX_HEAD)
            .max_headers(MAX_HEADERS)
            .writev(false)
            .serve_connection(TokioIo::new(stream), answers)
    );
    let mut watchdog = Watchdog::new(timeouts, seat.clone());
    let mut stopping = Stopping::new(stop.clone());
    let mut stop_signal = stop;
    let mut stopped = pin!(stop_signal.changed());
    // Once is enough for both: a connection is one task.
    let _ = poll_fn(|cx| {
        seat.register(cx.waker());
        Poll::Ready(stopped.as_mut().poll(cx))
    })
    .await;
    poll_fn(|cx| {
        if let Poll::Ready(ended) = connection.as_mut().poll(cx) {
            log(&ended);
            return Poll::Ready(stopping.reason(&ended));
        }
        let phase = progress.phase(watchdog.phase());
        if stopping.poll(connection.as_mut(), phase, cx).is_ready() {
            return Poll::Ready(Ended::Stop);
        }
        if stopping.told {
            watchdog.hurry();
        }
        if watchdog.is_time_to_look(phase, cx) {
            progress.doubt();
            cx.waker().wake_by_ref();
        }
        if watchdog.poll(phase, cx).is_ready() {
            return Poll::Ready(overdue(phase));
        }
        // By now the seat knows the phase as well.
        if seat.gives_way() { Poll::Ready(Ended::Crowded) } else { Poll::Pending }
    })
    .await
}

/// What the client let us wait for.
fn overdue(phase: Phase) -> Ended {
    match phase {
        Phase::Head(_) => Ended::Head,
        Phase::Idle(_) | Phase::Busy | Phase::Body(_) => Ended::Idle,
        Phase::Stalled(_) => Ended::Write,
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
    fn reason(&self, ended: &hyper::Result<()>) -> Ended {
        match ended {
            Err(_) => Ended::Error,
            Ok(()) if self.told => Ended::Stop,
            Ok(()) => Ended::Client,
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

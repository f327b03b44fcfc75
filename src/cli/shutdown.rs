//! The signals that end a command, and how a service comes to its end after them.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

use crate::server::GRACE_PERIOD;
use crate::shared::SharedState;

/// The signal that came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// SIGINT: somebody pressed Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Stop {
    /// The exit status by which shells know that a command was stopped: 128 and the signal's number.
    pub(super) fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// SIGTERM and SIGINT, which do nothing by themselves from now on.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    /// The next one.
    pub(super) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}

/// Ready at the first SIGTERM or SIGINT, which do nothing by themselves from now on.
pub(super) fn stop_signal() -> io::Result<impl Future<Output = Stop> + Send> {
    let mut signals = Signals::new()?;
    Ok(async move { signals.next().await })
}

/// Runs `serve` until it ends after the first signal; `None`: the second one came before that.
///
/// `serve` gets what is ready when it has to take no more connections, with the time at which it
/// has to be at its end. SIGTERM is followed by `delay`, in which balancers learn that the service
/// is not ready and go elsewhere; SIGINT is not, because a person waits at a terminal.
pub(super) async fn until_stopped<T, S>(
    mut signals: Signals,
    shared: Arc<SharedState>,
    delay: impl Fn() -> Duration,
    serve: impl FnOnce(Closing) -> S,
) -> Option<T>
where
    S: Future<Output = T>,
{
    let (close, closing) = tokio::sync::oneshot::channel();
    let winding_down = async {
        let first = signals.next().await;
        let end = Instant::now() + GRACE_PERIOD;
        shared.drain();
        let delay = if first == Stop::Terminate { delay() } else { Duration::ZERO };
        tracing::info!(signal = ?first, delay_ms = delay.as_millis(), "stopping");
        tokio::select! {
            () = sleep(delay) => {}
            second = signals.next() => return second,
        }
        tracing::info!("no more connections are accepted");
        let _ = close.send(end);
        signals.next().await
    };
    tokio::select! {
        served = serve(Closing(closing)) => Some(served),
        second = winding_down => {
            tracing::warn!(signal = ?second, "a second signal: requests in flight are cut off");
            None
        }
    }
}

/// Ready when no more connections are to be accepted.
pub(super) struct Closing(tokio::sync::oneshot::Receiver<Instant>);

impl Closing {
    /// Waits for it; gives the time at which the service has to be at its end.
    pub(super) async fn wait(self) -> Instant {
        self.0.await.unwrap_or_else(|_| Instant::now())
    }
}

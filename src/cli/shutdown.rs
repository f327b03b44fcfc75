//! The signals that end a command, and the graceful shutdown of a service.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::serve::service_manager;
use frontend_map_service::server::GRACE_PERIOD;
use frontend_map_service::shared::SharedState;

/// The signal that was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stop {
    /// SIGINT, as from Ctrl-C.
    Interrupt,
    /// SIGTERM.
    Terminate,
}

impl Stop {
    /// The exit status by which shells recognize a command that a signal ended: 128 and its number.
    pub(super) fn status(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate => 143,
        }
    }
}

/// Receives SIGTERM and SIGINT, which no longer end the process by themselves.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(super) fn new() -> io::Result<Self> {
        let (terminate, interrupt) = (SignalKind::terminate(), SignalKind::interrupt());
        Ok(Self { terminate: signal(terminate)?, interrupt: signal(interrupt)? })
    }

    /// Waits for the next signal.
    pub(super) async fn next(&mut self) -> Stop {
        tokio::select! {
            _ = self.terminate.recv() => Stop::Terminate,
            _ = self.interrupt.recv() => Stop::Interrupt,
        }
    }
}

/// Ready at the first SIGTERM or SIGINT, which no longer end the process by themselves.
pub(super) fn stop_signal() -> io::Result<impl Future<Output = Stop> + Send> {
    let mut signals = Signals::new()?;
    Ok(async move { signals.next().await })
}

/// Runs `serve` until it ends after the first signal; `None`: a second signal came first.
///
/// `serve` gets a future that is ready when it must accept no more connections, with the end of the
/// grace period. After SIGTERM that is `delay` later, so that load balancers notice that the service
/// is not ready; after SIGINT at once, because a person waits at a terminal.
pub(super) async fn until_stopped<T, S>(
    mut signals: Signals,
    shared: Arc<SharedState>,
    delay: impl Fn() -> Duration,
    serve: impl FnOnce(Closing) -> S,
) -> Option<T>
where
    S: Future<Output = T>,
{
    let (sender, receiver) = tokio::sync::oneshot::channel();
    let shutdown = async {
        let first = signals.next().await;
        let end = Instant::now() + GRACE_PERIOD;
        shared.drain();
        service_manager::stopping();
        let fleet = Arc::clone(&shared.fleet);
        tokio::spawn(async move { fleet.release().await });
        let delay = if first == Stop::Terminate { delay() } else { Duration::ZERO };
        tracing::info!(signal = ?first, delay_ms = delay.as_millis(), "stopping");
        tokio::select! {
            () = sleep(delay) => {}
            second = signals.next() => return second,
        }
        tracing::info!("no more connections are accepted");
        shared.close();
        let _ = sender.send(end);
        signals.next().await
    };
    tokio::select! {
        served = serve(Closing(receiver)) => {
            shared.runs.release().await;
            Some(served)
        }
        second = shutdown => {
            tracing::warn!(signal = ?second, "a second signal: requests in flight are aborted");
            None
        }
    }
}

/// Ready when no more connections must be accepted.
pub(super) struct Closing(tokio::sync::oneshot::Receiver<Instant>);

impl Closing {
    /// Waits; returns the end of the grace period.
    pub(super) async fn wait(self) -> Instant {
        self.0.await.unwrap_or_else(|_| Instant::now())
    }
}

//! The signals that end a command, and the graceful shutdown of a service.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::{Instant, sleep};

use super::serve::service_manager;
use frontend_map_service::run::Handle;
use frontend_map_service::server::GRACE_PERIOD;

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

/// Stops a service after the first signal; a second one aborts the requests in flight.
///
/// After SIGTERM connections are accepted for a while, so that load balancers notice that the service is
/// not ready; after SIGINT no longer, because a person waits at a terminal.
pub(super) async fn stop(first: Stop, mut signals: Signals, handle: Handle) {
    let end = Instant::now() + GRACE_PERIOD;
    handle.drain();
    service_manager::stopping();
    let delay = match first {
        Stop::Terminate => handle.service().app().drain_delay,
        Stop::Interrupt => Duration::ZERO,
    };
    tracing::info!(signal = ?first, delay_ms = delay.as_millis(), "stopping");
    let stopped = async {
        sleep(delay).await;
        tracing::info!("no more connections are accepted");
        handle.close(end).await;
    };
    tokio::select! {
        () = stopped => {}
        second = signals.next() => {
            tracing::warn!(signal = ?second, "a second signal: requests in flight are aborted");
        }
    }
}

//! The signals that end a command.

use tokio::signal::unix::{SignalKind, signal};

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

/// Ready at the first SIGTERM or SIGINT, which do nothing by themselves from now on.
pub(super) fn stop_signal() -> std::io::Result<impl Future<Output = Stop> + Send> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => Stop::Terminate,
            _ = interrupt.recv() => Stop::Interrupt,
        }
    })
}

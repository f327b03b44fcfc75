//! Whether the engine can be used.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::EngineError;

/// Whether the engine can be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum EngineState {
    /// The first heartbeat has not ended yet.
    Connecting,
    /// It answers and takes writes.
    Here {
        /// Counts up at each return, and when the engine turns out to be another one or empty:
        /// what was read before may be gone.
        session: u64,
    },
    /// It does not answer, or takes no writes.
    Away {
        /// Why the last heartbeat failed.
        reason: EngineError,
        /// When it was found to be away.
        since: Instant,
    },
}

/// The state, which watchers see change.
pub(super) struct Availability {
    state: watch::Sender<EngineState>,
    sessions: AtomicU64,
    /// When the engine last became usable, or ceased to be.
    changed: Mutex<Instant>,
}

impl Default for Availability {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(EngineState::Connecting),
            sessions: AtomicU64::new(0),
            changed: Mutex::new(Instant::now()),
        }
    }
}

impl Availability {
    pub(super) fn state(&self) -> EngineState {
        self.state.borrow().clone()
    }

    /// How long the engine has been usable, or not.
    pub(super) fn age(&self) -> Duration {
        self.changed.lock().elapsed()
    }

    pub(super) fn watch(&self) -> watch::Receiver<EngineState> {
        self.state.subscribe()
    }

    /// Records that a heartbeat was answered. Returns whether a new session begins.
    pub(super) fn here(&self, is_other_engine: bool) -> bool {
        let is_here = matches!(*self.state.borrow(), EngineState::Here { .. });
        if is_here && !is_other_engine {
            return false;
        }
        if !is_here {
            *self.changed.lock() = Instant::now();
        }
        let session = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::info!(session, "the shared engine is here");
        self.state.send_replace(EngineState::Here { session });
        true
    }

    /// Records that heartbeats fail.
    pub(super) fn away(&self, reason: EngineError) {
        let before = self.state();
        let since = match before {
            EngineState::Away { reason: ref last, .. } if *last == reason => return,
            EngineState::Away { since, .. } => since,
            _ => Instant::now(),
        };
        if matches!(before, EngineState::Here { .. }) {
            *self.changed.lock() = since;
        }
        tracing::warn!(reason = %reason, "the shared engine is away: this instance works by itself");
        self.state.send_replace(EngineState::Away { reason, since });
    }
}

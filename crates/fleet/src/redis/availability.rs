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
    /// It answers and accepts writes.
    Here {
        /// Grows by one at each return, and when the engine is found to have been flushed or
        /// replaced: what was read before may be gone.
        session: u64,
    },
    /// It does not answer, or accepts no writes.
    Away {
        /// Why the last heartbeat failed.
        reason: EngineError,
        /// When it was found to be away.
        since: Instant,
    },
}

/// The state of the engine, and the number of sessions so far.
pub(super) struct Availability {
    state: watch::Sender<EngineState>,
    sessions: AtomicU64,
    /// When the engine last became usable or ceased to be; before that, the start.
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

    /// The time since the engine became usable, or ceased to be.
    pub(super) fn age(&self) -> Duration {
        self.changed.lock().elapsed()
    }

    pub(super) fn watch(&self) -> watch::Receiver<EngineState> {
        self.state.subscribe()
    }

    /// Records that a heartbeat was answered; `is_other_engine`: the incarnation has changed.
    /// Returns whether a new session begins.
    pub(super) fn here(&self, is_other_engine: bool) -> bool {
        let is_here = matches!(*self.state.borrow(), EngineState::Here { .. });
        if is_here && !is_other_engine {
            return false;
        }
        if !is_here {
            *self.changed.lock() = Instant::now();
        }
        let session = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::info!(session, "the shared engine can be used");
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

//! Whether Redis is available.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::sync::watch;

use super::Error;

/// An outage ends once Redis has been available for so long. A shorter time only interrupts it.
const SETTLED: Duration = Duration::from_secs(5);

/// Whether Redis is available, and since when.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Availability {
    /// No heartbeat has failed yet, and no two in a row have succeeded.
    Connecting,
    /// It answers and accepts writes.
    Available {
        /// Grows by one at each return, and when Redis is found to have been flushed or
        /// replaced: what was read before may be gone.
        session: u64,
    },
    /// Heartbeats, which write, are not answered or refused, or no two in a row have succeeded since.
    Unavailable {
        /// Why the last heartbeat failed of those that did.
        reason: Error,
        /// When it was found to be unavailable.
        since: Instant,
    },
}

/// The availability of Redis, and the number of sessions so far.
pub(super) struct AvailabilityWatch {
    state: watch::Sender<Availability>,
    sessions: AtomicU64,
    /// When Redis last became usable or ceased to be; before that, the start.
    changed: Mutex<Instant>,
    /// When the last outage began, plus the times by which it was interrupted.
    outage: Mutex<Option<Instant>>,
}

impl Default for AvailabilityWatch {
    fn default() -> Self {
        Self {
            state: watch::Sender::new(Availability::Connecting),
            sessions: AtomicU64::new(0),
            changed: Mutex::new(Instant::now()),
            outage: Mutex::default(),
        }
    }
}

impl AvailabilityWatch {
    pub(super) fn get(&self) -> Availability {
        self.state.borrow().clone()
    }

    /// The time since Redis became usable, or ceased to be.
    pub(super) fn age(&self) -> Duration {
        self.changed.lock().elapsed()
    }

    /// The time without Redis in this outage. Less than five seconds with Redis do not end it, and do not
    /// count. `None`: Redis is not unavailable.
    pub(super) fn outage_age(&self) -> Option<Duration> {
        let is_unavailable = matches!(*self.state.borrow(), Availability::Unavailable { .. });
        self.outage.lock().filter(|_| is_unavailable).map(|since| since.elapsed())
    }

    pub(super) fn watch(&self) -> watch::Receiver<Availability> {
        self.state.subscribe()
    }

    /// Records that heartbeats are answered; `is_other_server`: the incarnation has changed.
    /// Returns whether a new session begins.
    pub(super) fn set_available(&self, is_other_server: bool) -> bool {
        let is_available = matches!(*self.state.borrow(), Availability::Available { .. });
        if is_available && !is_other_server {
            return false;
        }
        if !is_available {
            *self.changed.lock() = Instant::now();
        }
        let session = self.sessions.fetch_add(1, Ordering::Relaxed) + 1;
        tracing::info!(session, "Redis is available");
        self.state.send_replace(Availability::Available { session });
        true
    }

    /// Records that heartbeats fail.
    pub(super) fn set_unavailable(&self, reason: Error) {
        let before = self.get();
        let since = match before {
            Availability::Unavailable { reason: ref last, .. } if *last == reason => return,
            Availability::Unavailable { since, .. } => since,
            Availability::Available { .. } => {
                let now = Instant::now();
                let available_since = std::mem::replace(&mut *self.changed.lock(), now);
                let mut outage = self.outage.lock();
                *outage = Some(outage_since(*outage, available_since, now));
                now
            }
            Availability::Connecting => *self.outage.lock().insert(Instant::now()),
        };
        tracing::warn!(reason = %reason, "Redis is unavailable: this instance works by itself");
        self.state.send_replace(Availability::Unavailable { reason, since });
    }
}

/// When the outage that is found now began, plus the times by which it was interrupted; `last`: that of
/// the last outage.
fn outage_since(last: Option<Instant>, available_since: Instant, now: Instant) -> Instant {
    let available_for = now.saturating_duration_since(available_since);
    last.filter(|_| available_for < SETTLED).map_or(now, |last| last + available_for)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outage_goes_on_after_a_short_time_with_redis() {
        let begun = Instant::now();
        let at = |seconds: u64| begun + Duration::from_secs(seconds);
        assert_eq!(outage_since(None, begun, at(1)), at(1), "it is the first one");
        assert_eq!(outage_since(Some(begun), at(10), at(14)), at(4), "ten seconds without Redis");
        assert_eq!(outage_since(Some(begun), at(10), at(15)), at(15), "another one");
    }
}

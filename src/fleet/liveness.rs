//! Whether another instance keeps the lists that this one follows.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// After so long without a publication, the leader is asked for a response.
const GRACE: Duration = Duration::from_secs(2);
/// After so long without a response, an instance walks for itself.
const SILENCE: Duration = Duration::from_secs(10);
/// Up to so much longer, at random: all followers of a leader would begin at once.
const SPREAD: Duration = Duration::from_secs(4);

/// The responses of the leader of a group. Unless a refresh is wanted or documents have changed, none
/// is expected.
pub(super) struct Liveness {
    /// Since when a response is expected.
    expected: Mutex<Option<Instant>>,
    patience: Duration,
}

impl Liveness {
    pub(super) fn new() -> Self {
        let patience = SILENCE + SPREAD.mul_f64(fastrand::f64());
        Self { expected: Mutex::default(), patience }
    }

    /// Records that a response is expected.
    pub(super) fn expect(&self) {
        self.expected.lock().get_or_insert_with(Instant::now);
    }

    /// Records a response.
    pub(super) fn respond(&self) {
        *self.expected.lock() = None;
    }

    /// Whether the leader is to be asked for a response.
    pub(super) fn lacks_response(&self) -> bool {
        self.waits_for(GRACE)
    }

    /// Whether the leader has not responded for so long that this instance has to walk for itself.
    pub(super) fn is_silent(&self) -> bool {
        self.waits_for(self.patience)
    }

    fn waits_for(&self, time: Duration) -> bool {
        self.expected.lock().is_some_and(|since| since.elapsed() >= time)
    }
}

//! Whether the leader of a group of snapshots responds to this follower.

use std::time::{Duration, Instant};

use parking_lot::Mutex;

/// The follower asks the leader for a refresh if it has not responded for so long.
const GRACE: Duration = Duration::from_secs(2);
/// The follower walks by itself if the leader has not responded for so long.
const SILENCE: Duration = Duration::from_secs(10);
/// The longest random time that is added to it, so that not all followers begin at once.
const SPREAD: Duration = Duration::from_secs(4);

/// Whether a response of the leader is expected, and since when. Responses are acknowledgements,
/// publications and reports of failed walks. One is expected after a request for a refresh, and
/// after an event of the CMS about the snapshots of the group.
pub(super) struct Liveness {
    /// Since when a response is expected; `None`: no response is expected.
    expected: Mutex<Option<Instant>>,
    /// The time without a response after which this instance walks by itself.
    silence: Duration,
}

impl Liveness {
    pub(super) fn new() -> Self {
        let silence = SILENCE + SPREAD.mul_f64(fastrand::f64());
        Self { expected: Mutex::default(), silence }
    }

    /// Records that a response is expected from now on, if none was before.
    pub(super) fn expect(&self) {
        self.expected.lock().get_or_insert_with(Instant::now);
    }

    /// Records a response: none is expected any more.
    pub(super) fn respond(&self) {
        *self.expected.lock() = None;
    }

    /// Whether a response has been expected for so long that this instance asks the leader for a
    /// refresh.
    pub(super) fn lacks_response(&self) -> bool {
        self.is_expected_for(GRACE)
    }

    /// Whether a response has been expected for so long that this instance walks by itself.
    pub(super) fn is_silent(&self) -> bool {
        self.is_expected_for(self.silence)
    }

    fn is_expected_for(&self, time: Duration) -> bool {
        self.expected.lock().is_some_and(|since| since.elapsed() >= time)
    }
}

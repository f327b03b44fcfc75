//! The queue of publish requests: the latest one of each snapshot.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::SharedSnapshotId;
use super::walked_snapshot::PublishRequest;

/// The pause after the first failed publication of a snapshot; it doubles with each further
/// failure.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// The requests that wait, each with the time of its next attempt: a snapshot that cannot be
/// published does not delay the others.
#[derive(Default)]
pub(super) struct PublishQueue(BTreeMap<SharedSnapshotId, Waiting>);

struct Waiting {
    request: PublishRequest,
    due: Instant,
    pauses: Pauses,
}

/// The last pause after a failure of a snapshot; zero before the first one.
#[derive(Clone, Copy, Default)]
pub(super) struct Pauses(Duration);

impl PublishQueue {
    /// Adds a request, in place of an earlier one for the snapshot.
    pub(super) fn put(&mut self, id: SharedSnapshotId, request: PublishRequest) {
        match self.0.get_mut(&id) {
            // The time of the attempt stays the same.
            Some(waiting) => waiting.request = request,
            None => self.add(id, request, Instant::now(), Pauses::default()),
        }
    }

    /// Adds a request, unless a newer one waits.
    pub(super) fn put_older(&mut self, id: &SharedSnapshotId, request: PublishRequest) {
        if !self.0.contains_key(id) {
            self.put(id.clone(), request);
        }
    }

    /// Takes the request that has been due for the longest time, if one is.
    pub(super) fn take_due(&mut self) -> Option<(SharedSnapshotId, PublishRequest, Pauses)> {
        let first = self.0.iter().min_by_key(|(_, waiting)| waiting.due);
        let id = first.filter(|(_, waiting)| waiting.due <= Instant::now())?.0.clone();
        let waiting = self.0.remove(&id)?;
        Some((id, waiting.request, waiting.pauses))
    }

    /// The time until the next request is due; `None` without one.
    pub(super) fn pause(&self) -> Option<Duration> {
        let due = self.0.values().map(|waiting| waiting.due).min();
        due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Adds a request again that could not be met; if a newer one waits, that stays. The request
    /// is due after a pause. `is_brief`: the pause does not double, because nothing was sent.
    pub(super) fn put_back(
        &mut self,
        id: SharedSnapshotId,
        request: PublishRequest,
        Pauses(before): Pauses,
        is_brief: bool,
    ) {
        let pause =
            if is_brief { FIRST_PAUSE } else { (before * 2).clamp(FIRST_PAUSE, LAST_PAUSE) };
        let (due, pauses) = (Instant::now() + pause, Pauses(pause));
        match self.0.get_mut(&id) {
            Some(waiting) => (waiting.due, waiting.pauses) = (due, pauses),
            None => self.add(id, request, due, pauses),
        }
    }

    fn add(&mut self, id: SharedSnapshotId, request: PublishRequest, due: Instant, pauses: Pauses) {
        self.0.insert(id, Waiting { request, due, pauses });
    }
}

//! Events that this instance has received and not read back from the stream. It appends them again,
//! and applies them by itself while Redis is unavailable or if they are overdue.

use std::collections::VecDeque;
use std::time::{Duration, Instant};

use super::{CmsChange, CmsEvent};

/// The most events. If there are more, one event that says that anything may have changed replaces
/// them.
const MAX_EVENTS: usize = 20_000;
/// The most events that are appended in one round.
const BATCH: usize = 500;

/// Events in the order in which they were received.
#[derive(Default)]
pub(super) struct Unconfirmed {
    events: VecDeque<Received>,
    last: u64,
}

struct Received {
    number: u64,
    event: CmsEvent,
    /// The beginning of the wait for it: when it was received, or first appended after Redis's
    /// return.
    expected: Instant,
    /// Whether this instance has applied it because it was overdue.
    is_overdue: bool,
    /// When it was last appended.
    sent: Instant,
    /// Whether this instance has applied it because Redis was unavailable.
    is_applied: bool,
}

impl Unconfirmed {
    /// Adds an event, and returns its number. If there are too many, one event that says that
    /// anything may have changed replaces all; the result is `None` then.
    pub(super) fn add(&mut self, event: CmsEvent, is_applied: bool, now: Instant) -> Option<u64> {
        if self.events.len() >= MAX_EVENTS {
            self.merge(&event, is_applied, now);
            return None;
        }
        Some(self.push(event, is_applied, now))
    }

    fn push(&mut self, event: CmsEvent, is_applied: bool, sent: Instant) -> u64 {
        self.last += 1;
        let number = self.last;
        let (expected, is_overdue) = (sent, false);
        self.events.push_back(Received { number, event, expected, is_overdue, sent, is_applied });
        self.last
    }

    fn merge(&mut self, event: &CmsEvent, is_applied: bool, now: Instant) {
        let mut withdraws = event.withdraws;
        let mut is_applied = is_applied;
        for received in self.events.drain(..) {
            withdraws |= received.event.withdraws;
            is_applied &= received.is_applied;
        }
        let change = CmsChange::Anything;
        self.push(CmsEvent { withdraws, change, is_found: false }, is_applied, now);
    }

    pub(super) fn confirm(&mut self, number: u64) {
        // It is usually the oldest one.
        if let Some(at) = self.events.iter().position(|received| received.number == number) {
            self.events.remove(at);
        }
    }

    /// Whether this event was not read back yet.
    pub(super) fn contains(&self, number: u64) -> bool {
        self.events.iter().any(|received| received.number == number)
    }

    /// The events to be appended again, with their numbers: those last appended so long ago, and
    /// those applied while Redis was unavailable. They count as appended now.
    pub(super) fn late(&mut self, now: Instant, wait: Duration) -> Vec<(u64, CmsEvent)> {
        let is_late = |received: &&mut Received| {
            received.is_applied || now.saturating_duration_since(received.sent) >= wait
        };
        let late = self.events.iter_mut().filter(is_late).take(BATCH);
        let send = |received: &mut Received| {
            if received.is_applied {
                (received.expected, received.is_overdue) = (now, false);
            }
            (received.sent, received.is_applied) = (now, false);
            (received.number, received.event.clone())
        };
        late.map(send).collect()
    }

    /// The events that this instance has to apply by itself, because it has waited so long for
    /// them. Each is returned once, and appended again until it is read back.
    pub(super) fn take_overdue(&mut self, now: Instant, wait: Duration) -> Vec<CmsEvent> {
        let is_overdue = |received: &&mut Received| {
            let waited = now.saturating_duration_since(received.expected);
            !received.is_applied && !received.is_overdue && waited >= wait
        };
        let overdue = self.events.iter_mut().filter(is_overdue);
        let apply = |received: &mut Received| {
            received.is_overdue = true;
            received.event.clone()
        };
        overdue.map(apply).collect()
    }

    /// Whether an event is overdue and was not read back since.
    pub(super) fn has_overdue(&self) -> bool {
        self.events.iter().any(|received| received.is_overdue)
    }

    /// The events that this instance has to apply by itself, because Redis became unavailable
    /// before they were read back. Each is returned once.
    pub(super) fn take_unapplied(&mut self) -> Vec<CmsEvent> {
        let unapplied = self.events.iter_mut().filter(|received| !received.is_applied);
        let apply = |received: &mut Received| {
            received.is_applied = true;
            received.event.clone()
        };
        unapplied.map(apply).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    fn event(withdraws: bool) -> CmsEvent {
        CmsEvent { withdraws, change: CmsChange::Nothing, is_found: false }
    }

    #[test]
    fn event_that_does_not_come_back_is_sent_again_until_it_is_confirmed() {
        let (mut events, start) = (Unconfirmed::default(), Instant::now());
        let number = events.add(event(false), false, start).unwrap();
        assert_eq!(events.late(start, SECOND), []);
        assert_eq!(events.late(start + SECOND, SECOND), [(number, event(false))]);
        assert_eq!(events.late(start + SECOND, SECOND), [], "it was just sent");
        assert!(events.contains(number));
        events.confirm(number);
        assert!(!events.contains(number));
        assert_eq!(events.late(start + 9 * SECOND, SECOND), []);
    }

    #[test]
    fn event_is_applied_once_while_redis_is_unavailable_and_sent_at_its_return() {
        let (mut events, start) = (Unconfirmed::default(), Instant::now());
        events.add(event(false), false, start);
        events.add(event(true), true, start);
        assert_eq!(events.take_unapplied(), [event(false)], "the other one was applied at once");
        assert_eq!(events.take_unapplied(), []);
        assert_eq!(events.late(start, SECOND).len(), 2, "without a wait");
        assert_eq!(events.late(start, SECOND), []);
    }

    #[test]
    fn event_that_does_not_come_back_for_long_is_overdue_once() {
        let (mut events, start) = (Unconfirmed::default(), Instant::now());
        let number = events.add(event(true), false, start).unwrap();
        assert_eq!(events.late(start + SECOND, SECOND).len(), 1);
        assert_eq!(events.take_overdue(start + 4 * SECOND, 5 * SECOND), []);
        assert_eq!(events.take_overdue(start + 5 * SECOND, 5 * SECOND), [event(true)]);
        assert_eq!(events.take_overdue(start + 9 * SECOND, 5 * SECOND), []);
        assert!(events.has_overdue());
        assert_eq!(events.late(start + 9 * SECOND, SECOND).len(), 1, "it is still sent");
        events.confirm(number);
        assert!(!events.has_overdue());
    }

    #[test]
    fn event_from_before_the_return_of_redis_is_expected_as_of_the_return() {
        let (mut events, start) = (Unconfirmed::default(), Instant::now());
        events.add(event(false), true, start);
        let returned = start + 60 * SECOND;
        assert_eq!(events.take_overdue(returned, 5 * SECOND), [], "it was applied");
        assert_eq!(events.late(returned, SECOND).len(), 1);
        assert_eq!(events.take_overdue(returned + 4 * SECOND, 5 * SECOND), []);
        assert_eq!(events.take_overdue(returned + 5 * SECOND, 5 * SECOND), [event(false)]);
    }

    #[test]
    fn too_many_events_become_one_that_says_that_anything_has_changed() {
        let (mut events, start) = (Unconfirmed::default(), Instant::now());
        for n in 0..MAX_EVENTS {
            assert!(events.add(event(n == 7), true, start).is_some());
        }
        assert_eq!(events.add(event(false), true, start), None);
        let change = CmsChange::Anything;
        let anything = CmsEvent { withdraws: true, change, is_found: false };
        assert_eq!(events.late(start, SECOND), [(1 + MAX_EVENTS as u64, anything)]);
    }
}

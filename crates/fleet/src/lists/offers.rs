//! The copies that wait to be published: the latest one of each list.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::{Offer, SharedListId};

/// The pause after the first failed publication of a list; it doubles with each further failure.
const FIRST_PAUSE: Duration = Duration::from_millis(200);
/// The longest pause.
const LAST_PAUSE: Duration = Duration::from_secs(10);

/// The offers that wait, each with the time of its next attempt: a list that cannot be published
/// does not delay the others.
#[derive(Default)]
pub(super) struct Offers(BTreeMap<SharedListId, Waiting>);

struct Waiting {
    offer: Offer,
    due: Instant,
    pauses: Pauses,
}

/// The last pause after a failure of a list; zero before the first one.
#[derive(Clone, Copy, Default)]
pub(super) struct Pauses(Duration);

impl Offers {
    /// Adds the present copy of a list, in place of an earlier one.
    pub(super) fn put(&mut self, list: SharedListId, offer: Offer) {
        match self.0.get_mut(&list) {
            // The time of the attempt stays the same.
            Some(waiting) => waiting.offer = offer,
            None => self.add(list, offer, (Instant::now(), Pauses::default())),
        }
    }

    /// Adds a copy, unless a newer one waits.
    pub(super) fn put_older(&mut self, list: &SharedListId, offer: Offer) {
        if !self.0.contains_key(list) {
            self.put(list.clone(), offer);
        }
    }

    /// Takes the offer that has been due for the longest time, if one is.
    pub(super) fn take_due(&mut self) -> Option<(SharedListId, Offer, Pauses)> {
        let first = self.0.iter().min_by_key(|(_, waiting)| waiting.due);
        let list = first.filter(|(_, waiting)| waiting.due <= Instant::now())?.0.clone();
        let waiting = self.0.remove(&list)?;
        Some((list, waiting.offer, waiting.pauses))
    }

    /// The time until the next offer is due; `None` without an offer.
    pub(super) fn pause(&self) -> Option<Duration> {
        let due = self.0.values().map(|waiting| waiting.due).min();
        due.map(|due| due.saturating_duration_since(Instant::now()))
    }

    /// Adds an offer again that could not be published; if a newer one waits, that stays. The offer
    /// is due after a pause. `is_brief`: the pause does not double, because nothing was sent.
    pub(super) fn put_back(
        &mut self,
        list: SharedListId,
        offer: Offer,
        Pauses(before): Pauses,
        is_brief: bool,
    ) {
        let pause =
            if is_brief { FIRST_PAUSE } else { (before * 2).clamp(FIRST_PAUSE, LAST_PAUSE) };
        let next = (Instant::now() + pause, Pauses(pause));
        match self.0.get_mut(&list) {
            Some(waiting) => (waiting.due, waiting.pauses) = next,
            None => self.add(list, offer, next),
        }
    }

    fn add(&mut self, list: SharedListId, offer: Offer, (due, pauses): (Instant, Pauses)) {
        self.0.insert(list, Waiting { offer, due, pauses });
    }
}

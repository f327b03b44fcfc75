//! Load shedding: a fixed number of requests that wait for the CMS or send long bodies may be in
//! flight; further ones get a 503 at once.

use std::sync::Arc;

use axum::body::{Body, HttpBody};
use axum::http::Method;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::http::response::guard_body;

/// The limit of batches is that of requests divided by this: by default 256, with bodies of 64 MiB
/// in all.
const BATCHES: usize = 8;

/// How a route counts toward the in-flight limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LimitClass {
    /// Not at all: the response comes from memory, or the request must not be refused.
    None,
    /// As a request for a single document.
    Single,
    /// As a request for a list of URLs. Lists may take three quarters of the limit: a request that
    /// waits for a walk waits for minutes, and must not keep editors from a single document.
    List,
    /// As a batch of documents, with a limit of its own: batches are served from memory as a rule, and
    /// must not be refused because requests for documents and lists wait for a slow CMS. They need a
    /// limit because they hold their bodies in memory, and wait where there is no snapshot yet.
    Batch,
}

/// The in-flight limit: `limits.requests`, fixed for the life of the process.
#[derive(Clone)]
pub(super) struct InFlightLimit {
    requests: Arc<Semaphore>,
    /// The part that lists may take.
    lists: Arc<Semaphore>,
    /// For batches, in addition to `requests`.
    batches: Arc<Semaphore>,
}

/// The permit of one request, released on drop.
pub(super) struct InFlightPermit(
    #[expect(dead_code, reason = "an RAII guard")] [Option<OwnedSemaphorePermit>; 2],
);

impl InFlightLimit {
    /// A limit of this many requests, at least one.
    pub(super) fn new(requests: usize) -> Self {
        let semaphore = |permits: usize| Arc::new(Semaphore::new(permits.max(1)));
        Self {
            requests: semaphore(requests),
            lists: semaphore(requests - requests / 4),
            batches: semaphore(requests / BATCHES),
        }
    }

    /// Takes a permit for a request; `None`: the limit is reached. Only GET and HEAD count, and for
    /// batches POST.
    pub(super) fn try_acquire(&self, class: LimitClass, method: &Method) -> Option<InFlightPermit> {
        let take = |semaphore: &Arc<Semaphore>| Arc::clone(semaphore).try_acquire_owned().ok();
        let counts = matches!(*method, Method::GET | Method::HEAD)
            || class == LimitClass::Batch && *method == Method::POST;
        Some(InFlightPermit(match class {
            LimitClass::Single if counts => [Some(take(&self.requests)?), None],
            LimitClass::List if counts => [Some(take(&self.lists)?), Some(take(&self.requests)?)],
            LimitClass::Batch if counts => [Some(take(&self.batches)?), None],
            _ => [None, None],
        }))
    }
}

impl InFlightPermit {
    /// The body, which holds the permit until it has been sent.
    pub(super) fn guard(self, body: Body) -> Body {
        if body.is_end_stream() { body } else { guard_body(body, self) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn try_acquire_lists_take_three_quarters_and_the_class_none_nothing() {
        let limit = InFlightLimit::new(8);
        let lists: Vec<Option<InFlightPermit>> =
            (0..7).map(|_| limit.try_acquire(LimitClass::List, &Method::GET)).collect();
        assert_eq!(lists.iter().flatten().count(), 6);
        let singles: Vec<Option<InFlightPermit>> =
            (0..3).map(|_| limit.try_acquire(LimitClass::Single, &Method::HEAD)).collect();
        assert_eq!(singles.iter().flatten().count(), 2);
        assert!(limit.try_acquire(LimitClass::None, &Method::GET).is_some());
        assert!(limit.try_acquire(LimitClass::Single, &Method::OPTIONS).is_some());
        drop(lists);
        assert!(limit.try_acquire(LimitClass::Single, &Method::GET).is_some());
    }

    #[test]
    fn try_acquire_batches_have_permits_of_their_own_for_get_and_post() {
        let limit = InFlightLimit::new(16);
        let singles: Vec<Option<InFlightPermit>> =
            (0..16).map(|_| limit.try_acquire(LimitClass::Single, &Method::GET)).collect();
        assert_eq!(singles.iter().flatten().count(), 16);
        let of = |method| limit.try_acquire(LimitClass::Batch, method);
        let batches: Vec<Option<InFlightPermit>> =
            [Method::POST, Method::GET, Method::POST].iter().map(of).collect();
        assert_eq!(batches.iter().flatten().count(), 2);
        assert!(of(&Method::OPTIONS).is_some());
        assert!(limit.try_acquire(LimitClass::Single, &Method::POST).is_some());
    }

    #[test]
    fn try_acquire_with_a_limit_of_one_admits_one_request_of_each_class() {
        let limit = InFlightLimit::new(1);
        drop(limit.try_acquire(LimitClass::List, &Method::GET).expect("a permit"));
        let _single = limit.try_acquire(LimitClass::Single, &Method::GET).expect("a permit");
        assert!(limit.try_acquire(LimitClass::Single, &Method::GET).is_none());
    }
}

//! The in-flight limit toward the CMS (D28), shared by all clients of a process.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The limiters of a process, one for each address of a CMS.
///
/// Successive clients of one address share a limiter, because requests of a client that a reload
/// has replaced may still be in flight. A CMS at another address has its own limiter, so requests to
/// it do not wait for these.
pub struct RequestLimiters {
    max_in_flight: usize,
    by_address: Mutex<HashMap<String, Weak<Limiter>>>,
}

/// The limiter of one CMS.
pub(super) struct Limiter {
    all: Arc<Semaphore>,
    /// The part of `all` that lists may use, so that walks leave permits for single documents,
    /// which editors wait for.
    lists: Arc<Semaphore>,
}

/// The right to have one request in flight.
pub(super) struct Permit {
    _list: Option<OwnedSemaphorePermit>,
    _any: OwnedSemaphorePermit,
    /// Keeps the limiter registered for its address.
    _limiter: Arc<Limiter>,
}

impl RequestLimiters {
    /// For the life of the process, each CMS gets at most `max_in_flight` requests at a time.
    pub fn new(max_in_flight: usize) -> Self {
        Self { max_in_flight, by_address: Mutex::default() }
    }

    pub(super) fn of(&self, address: &str) -> Arc<Limiter> {
        let mut by_address = self.by_address.lock();
        by_address.retain(|_, limiter| limiter.strong_count() > 0);
        by_address.get(address).and_then(Weak::upgrade).unwrap_or_else(|| {
            let limiter = Arc::new(Limiter::new(self.max_in_flight));
            by_address.insert(address.to_owned(), Arc::downgrade(&limiter));
            limiter
        })
    }
}

impl Limiter {
    /// Lists get three quarters of the permits, and at least one.
    fn new(max_in_flight: usize) -> Self {
        let lists = (max_in_flight - max_in_flight / 4).max(1);
        Self {
            all: Arc::new(Semaphore::new(max_in_flight)),
            lists: Arc::new(Semaphore::new(lists)),
        }
    }

    /// Waits for a permit, first come, first served.
    pub(super) async fn acquire(self: &Arc<Self>, is_list: bool) -> Permit {
        let list = if is_list { Some(acquire(&self.lists).await) } else { None };
        Permit { _list: list, _any: acquire(&self.all).await, _limiter: Arc::clone(self) }
    }
}

async fn acquire(semaphore: &Arc<Semaphore>) -> OwnedSemaphorePermit {
    Arc::clone(semaphore).acquire_owned().await.expect("the semaphore is never closed")
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn acquire_all(limiter: &Arc<Limiter>, is_list: bool) -> Vec<Permit> {
        std::iter::from_fn(|| limiter.acquire(is_list).now_or_never()).collect()
    }

    #[test]
    fn lists_get_three_quarters_of_the_permits_and_at_least_one() {
        for (size, lists) in [(1, 1), (2, 2), (4, 3), (16, 12)] {
            let limiter = Arc::new(Limiter::new(size));
            let acquired = acquire_all(&limiter, true);
            let left = acquire_all(&limiter, false).len();
            assert_eq!((acquired.len(), left), (lists, size - lists));
        }
    }

    #[test]
    fn address_keeps_its_limiter_while_a_permit_is_held() {
        let limiters = RequestLimiters::new(2);
        let first = limiters.of("http://a");
        let held = acquire_all(&first, false);
        assert_eq!(held.len(), 2);
        drop(first);
        assert_eq!(acquire_all(&limiters.of("http://b"), false).len(), 2);
        let again = limiters.of("http://a");
        assert!(acquire_all(&again, false).is_empty(), "both permits are held");
        drop(held);
        assert_eq!(acquire_all(&again, false).len(), 2);
    }

    #[test]
    fn cancelled_waiter_returns_its_permit() {
        let limiter = Arc::new(Limiter::new(1));
        let held = limiter.acquire(true).now_or_never();
        let mut waiter = Box::pin(limiter.acquire(true));
        assert!(waiter.as_mut().now_or_never().is_none());
        drop(held);
        drop(waiter);
        assert_eq!(acquire_all(&limiter, true).len(), 1);
    }
}

//! Permits for so many things at a time, a number that may change while they are taken.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Semaphore;

/// So many permits, given out in the order in which they are asked for; who was next when the number
/// fell stands in line again.
pub struct Permits {
    free: Semaphore,
    count: Mutex<Count>,
}

struct Count {
    size: usize,
    /// Taken beyond the size: what comes back is not given out again.
    surplus: usize,
}

/// One of them, until it is dropped.
pub struct Permit(Arc<Permits>);

impl Permits {
    /// So many.
    #[must_use]
    pub fn new(size: usize) -> Self {
        Self { free: Semaphore::new(size), count: Mutex::new(Count { size, surplus: 0 }) }
    }

    /// From now on there are so many, and those that are taken count among them.
    pub fn resize(&self, size: usize) {
        let mut count = self.count();
        if size < count.size {
            let fewer = count.size - size;
            count.surplus += fewer - self.free.forget_permits(fewer);
        } else {
            let more = size - count.size;
            let taken = more.min(count.surplus);
            count.surplus -= taken;
            self.free.add_permits(more - taken);
        }
        count.size = size;
    }

    /// Waits for one.
    ///
    /// # Panics
    /// Never: the semaphore is not closed.
    pub async fn next(self: &Arc<Self>) -> Permit {
        loop {
            self.free.acquire().await.expect("the semaphore is never closed").forget();
            if !self.is_surplus() {
                return Permit(Arc::clone(self));
            }
        }
    }

    /// One at once; `None`: all are taken.
    #[must_use]
    pub fn next_now(self: &Arc<Self>) -> Option<Permit> {
        self.free.try_acquire().ok()?.forget();
        (!self.is_surplus()).then(|| Permit(Arc::clone(self)))
    }

    /// Whether one that is nobody's now is one too many. Who leaves the line just as it is his turn
    /// gives his back to the line, so it is asked of those that come from there as well.
    fn is_surplus(&self) -> bool {
        let mut count = self.count();
        let surplus = count.surplus > 0;
        count.surplus -= usize::from(surplus);
        surplus
    }

    /// Nothing here panics half-way.
    fn count(&self) -> MutexGuard<'_, Count> {
        self.count.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut count = self.0.count();
        if count.surplus > 0 {
            count.surplus -= 1;
        } else {
            self.0.free.add_permits(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::join_all;

    use super::*;

    /// Takes all that are free.
    fn take_all(permits: &Arc<Permits>) -> Vec<Permit> {
        std::iter::from_fn(|| permits.next_now()).collect()
    }

    #[test]
    fn those_that_are_taken_count_when_there_are_fewer_or_more() {
        let permits = Arc::new(Permits::new(4));
        let mut taken = take_all(&permits);
        assert_eq!(taken.len(), 4);
        permits.resize(2);
        taken.truncate(2);
        assert!(permits.next_now().is_none(), "two are still taken");
        taken.clear();
        taken = take_all(&permits);
        assert_eq!(taken.len(), 2);
        permits.resize(1);
        permits.resize(3);
        taken.extend(take_all(&permits));
        assert_eq!(taken.len(), 3);
        taken.clear();
        permits.resize(1);
        assert_eq!(take_all(&permits).len(), 1, "at once where they are free");
    }

    #[test]
    fn who_waits_gets_none_that_is_too_many() {
        let permits = Arc::new(Permits::new(16));
        let mut taken = take_all(&permits);
        let mut line: Vec<_> = (0..100).map(|_| Box::pin(permits.next())).collect();
        let mut served = |taken: &mut Vec<Permit>| {
            line.retain_mut(|next| {
                next.as_mut().now_or_never().map(|got| taken.push(got)).is_none()
            });
        };
        served(&mut taken);
        for size in [1, 16, 1, 16] {
            permits.resize(size);
            served(&mut taken);
            assert_eq!(taken.len(), 16, "at {size}");
        }
        permits.resize(1);
        for left in (1..16).rev() {
            taken.pop();
            served(&mut taken);
            assert_eq!(taken.len(), left);
        }
        taken.pop();
        served(&mut taken);
        assert_eq!(taken.len(), 1, "the next one's turn");
    }

    #[test]
    fn one_that_a_leaver_gives_back_is_not_too_many() {
        let permits = Arc::new(Permits::new(1));
        let taken = permits.next_now();
        let mut leaver = Box::pin(permits.next());
        assert!(leaver.as_mut().now_or_never().is_none());
        drop(taken);
        permits.resize(0);
        drop(leaver);
        assert!(permits.next_now().is_none());
        permits.resize(1);
        assert!(permits.next_now().is_some());
    }

    #[test]
    fn all_who_wait_are_served_in_the_end() {
        let permits = Arc::new(Permits::new(2));
        let served = join_all((0..100).map(|_| async { drop(permits.next().await) }));
        assert!(served.now_or_never().is_some());
    }
}

//! How many requests to the CMS are under way at a time (D28), whichever client sends them.

use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// The turns of a process. Clients that follow one another share them: one that was replaced may
/// still be asking.
pub struct Turns {
    all: Pool,
    /// Of these, what lists may take: walks come in crowds, and an editor waits for one document.
    lists: Pool,
}

/// The right to send a request.
pub(super) struct Turn {
    _list: Option<OwnedSemaphorePermit>,
    _permit: OwnedSemaphorePermit,
}

struct Pool {
    permits: Arc<Semaphore>,
    size: Mutex<usize>,
}

impl Default for Turns {
    fn default() -> Self {
        Self { all: Pool::empty(), lists: Pool::empty() }
    }
}

impl Turns {
    /// From now on there are so many. Where they become fewer, and all are taken, those that come
    /// free are not given out again. Needs a runtime for that.
    pub(super) fn resize(&self, size: usize) {
        self.all.resize(size);
        self.lists.resize((size - size / 4).max(1));
    }

    pub(super) async fn next(&self, list: bool) -> Turn {
        let list = if list { Some(self.lists.next().await) } else { None };
        Turn { _list: list, _permit: self.all.next().await }
    }
}

impl Pool {
    fn empty() -> Self {
        Self { permits: Arc::new(Semaphore::new(0)), size: Mutex::new(0) }
    }

    fn resize(&self, size: usize) {
        let mut before = self.size.lock().unwrap_or_else(PoisonError::into_inner);
        if size >= *before {
            self.permits.add_permits(size - *before);
        } else {
            let surplus = *before - size;
            let left = surplus - self.permits.forget_permits(surplus);
            for _ in 0..left {
                let permits = Arc::clone(&self.permits);
                tokio::spawn(async move {
                    if let Ok(permit) = permits.acquire_owned().await {
                        permit.forget();
                    }
                });
            }
        }
        *before = size;
    }

    async fn next(&self) -> OwnedSemaphorePermit {
        let permit = Arc::clone(&self.permits).acquire_owned().await;
        permit.expect("the semaphore is never closed")
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use tokio::task::yield_now;

    use super::*;

    /// Takes turns for single documents until there is none.
    fn take_all(turns: &Turns) -> Vec<Turn> {
        std::iter::from_fn(|| turns.next(false).now_or_never()).collect()
    }

    #[tokio::test]
    async fn lists_take_three_quarters_and_one_at_least() {
        for (size, lists) in [(1, 1), (2, 2), (4, 3), (16, 12)] {
            let turns = Turns::default();
            turns.resize(size);
            let taken: Vec<Turn> = std::iter::from_fn(|| turns.next(true).now_or_never()).collect();
            assert_eq!((taken.len(), take_all(&turns).len()), (lists, size - lists));
        }
    }

    #[tokio::test]
    async fn turns_that_are_taken_count_when_there_are_fewer_or_more() {
        let turns = Turns::default();
        turns.resize(4);
        let mut taken = take_all(&turns);
        assert_eq!(taken.len(), 4);
        turns.resize(2);
        yield_now().await;
        taken.truncate(2);
        yield_now().await;
        assert!(take_all(&turns).is_empty(), "two are still taken");
        taken.clear();
        taken = take_all(&turns);
        assert_eq!(taken.len(), 2);
        turns.resize(1);
        turns.resize(3);
        yield_now().await;
        taken.extend(take_all(&turns));
        assert_eq!(taken.len(), 3);
        taken.clear();
        turns.resize(1);
        assert_eq!(take_all(&turns).len(), 1, "at once where they are free");
    }
}

//! How many requests to the CMS are under way at a time (D28), whichever client sends them.

use std::collections::HashMap;
use std::sync::{Arc, Weak};

use parking_lot::Mutex;

use crate::permits::{Permit, Permits};

/// The turns of a process, by the address of the CMS. Clients that follow one another share those
/// of one address, since one that was replaced may still be asking. Another CMS waits for none of
/// what the one before it has not answered.
#[derive(Default)]
pub struct TurnsByAddress(Mutex<HashMap<String, Weak<Turns>>>);

/// The turns at one CMS.
pub(super) struct Turns {
    all: Arc<Permits>,
    /// Of these, what lists may take: walks come in crowds, and an editor waits for one document.
    lists: Arc<Permits>,
}

/// The right to send a request.
pub(super) struct Turn {
    _list: Option<Permit>,
    _permit: Permit,
    /// They are there as long as one of them is taken.
    _of: Arc<Turns>,
}

impl TurnsByAddress {
    pub(super) fn of(&self, address: &str) -> Arc<Turns> {
        let mut all = self.0.lock();
        all.retain(|_, turns| turns.strong_count() > 0);
        all.get(address).and_then(Weak::upgrade).unwrap_or_else(|| {
            let turns = Arc::new(Turns::new());
            all.insert(address.to_owned(), Arc::downgrade(&turns));
            turns
        })
    }
}

impl Turns {
    /// None yet.
    fn new() -> Self {
        Self { all: Arc::new(Permits::new(0)), lists: Arc::new(Permits::new(0)) }
    }

    /// From now on there are so many.
    pub(super) fn resize(&self, size: usize) {
        self.all.resize(size);
        self.lists.resize((size - size / 4).max(1));
    }

    pub(super) async fn next(self: &Arc<Self>, list: bool) -> Turn {
        let list = if list { Some(self.lists.next().await) } else { None };
        Turn { _list: list, _permit: self.all.next().await, _of: Arc::clone(self) }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    fn take_all(turns: &Arc<Turns>, list: bool) -> Vec<Turn> {
        std::iter::from_fn(|| turns.next(list).now_or_never()).collect()
    }

    #[test]
    fn lists_take_three_quarters_and_one_at_least() {
        for (size, lists) in [(1, 1), (2, 2), (4, 3), (16, 12)] {
            let turns = Arc::new(Turns::new());
            turns.resize(size);
            let taken = take_all(&turns, true);
            assert_eq!((taken.len(), take_all(&turns, false).len()), (lists, size - lists));
        }
    }

    #[test]
    fn an_address_has_its_own_as_long_as_one_is_taken() {
        let all = TurnsByAddress::default();
        let first = all.of("http://a");
        first.resize(2);
        let taken = take_all(&first, false);
        assert_eq!(taken.len(), 2);
        drop(first);
        let other = all.of("http://b");
        other.resize(2);
        assert_eq!(take_all(&other, false).len(), 2);
        let again = all.of("http://a");
        again.resize(2);
        assert!(take_all(&again, false).is_empty(), "both are taken");
    }
}

//! The product of automata: searches a text that some of them accept and others refuse.

use std::cell::RefCell;
use std::rc::Rc;

use rustc_hash::FxHashSet;
use smallvec::SmallVec;

use super::budget::Budget;
use super::classes::Classes;
use super::table::{DEAD, Table};

/// The most states of one product that are visited.
const MAX_STATES: usize = 10_000;

/// The cost of a product and of each of its states, in comparisons.
const START_COST: usize = 30;
const STATE_COST: usize = 3;

/// The product has more than 10,000 states.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooManyStates;

/// A table that several products share, and extend.
pub(super) type SharedTable<'r> = Rc<RefCell<Table<'r>>>;

/// The states of all automata after some bytes.
type States = SmallVec<[u32; 4]>;

/// A shortest text that all of `accepting` accept and none of `refusing`, by a breadth-first search.
pub(super) fn shortest_text<'r>(
    accepting: &[SharedTable<'r>],
    refusing: &[SharedTable<'r>],
    budget: &Budget,
) -> Result<Option<String>, TooManyStates> {
    budget.spend(START_COST);
    let tables = || accepting.iter().chain(refusing);
    let accepted = |states: &States| {
        let ends = |(table, state): (&SharedTable<'r>, &u32)| table.borrow().accepts(*state);
        let (own, others) = states.split_at(accepting.len());
        accepting.iter().zip(own).all(ends) && !refusing.iter().zip(others).any(ends)
    };
    let mut classes = Classes::default();
    for table in tables() {
        classes.split(|byte| table.borrow().class(byte));
    }
    let alphabet = classes.representatives(plainest_first());
    let start: States = tables().map(|_| Table::start()).collect();
    let mut seen = FxHashSet::from_iter([start.clone()]);
    // Each state with the index of its predecessor and the byte that leads from there.
    let mut found = vec![(start, 0, 0)];
    let mut at = 0;
    while at < found.len() {
        if at > MAX_STATES {
            return Err(TooManyStates);
        }
        budget.spend(STATE_COST);
        if accepted(&found[at].0) {
            let text = String::from_utf8(bytes_up_to(&found, at));
            return Ok(Some(text.expect("the automaton of pathnames accepts only UTF-8")));
        }
        for byte in &alphabet {
            let next =
                |(table, state): (&SharedTable<'r>, &u32)| table.borrow_mut().next(*state, *byte);
            let states: States = tables().zip(&found[at].0).map(next).collect();
            let alive = states[..accepting.len()].iter().all(|state| *state != DEAD);
            if alive && seen.insert(states.clone()) {
                found.push((states, at, *byte));
            }
        }
        at += 1;
    }
    Ok(None)
}

fn bytes_up_to(found: &[(States, usize, u8)], mut at: usize) -> Vec<u8> {
    let mut bytes = Vec::new();
    while at > 0 {
        bytes.push(found[at].2);
        at = found[at].1;
    }
    bytes.reverse();
    bytes
}

/// The bytes that a path can contain, in the order in which an example should prefer them.
fn plainest_first() -> impl Iterator<Item = u8> {
    let plain = (*b"x2a0X-").into_iter().chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"_");
    plain.chain(b'A'..=b'Z').chain(b' '..=b'~').chain(0x80..=0xFF)
}

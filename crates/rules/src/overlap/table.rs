//! The transition table of an automaton, computed lazily.

use rustc_hash::FxHashMap;

use super::automaton::{Automaton, State};
use super::classes::Classes;

/// The states of an automaton, numbered as they are found, with the transitions between them.
pub(super) struct Table<'r> {
    automaton: Automaton<'r>,
    classes: Classes,
    states: Vec<State>,
    numbers: FxHashMap<State, u32>,
    accepting: Vec<bool>,
    /// For each state and class.
    next: Vec<u32>,
}

/// The state from which nothing is accepted.
pub(super) const DEAD: u32 = u32::MAX;
/// A transition that has not been computed.
const UNKNOWN: u32 = u32::MAX - 1;

impl<'r> Table<'r> {
    pub(super) fn new(automaton: Automaton<'r>) -> Self {
        let classes = automaton.classes();
        let start = automaton.start_of(0);
        let mut table = Self {
            automaton,
            classes,
            states: Vec::new(),
            numbers: FxHashMap::default(),
            accepting: Vec::new(),
            next: Vec::new(),
        };
        table.number(start);
        table
    }

    /// The start state.
    pub(super) fn start() -> u32 {
        0
    }

    /// The class of a byte: bytes of one class lead from each state to the same state.
    pub(super) fn class(&self, byte: u8) -> u8 {
        self.classes.of[usize::from(byte)]
    }

    /// The state after one more byte, or [`DEAD`].
    pub(super) fn next(&mut self, state: u32, byte: u8) -> u32 {
        if state == DEAD {
            return DEAD;
        }
        let at = state as usize * self.classes.count + usize::from(self.class(byte));
        if self.next[at] == UNKNOWN {
            let next = self.automaton.next(&self.states[state as usize], byte);
            self.next[at] = next.map_or(DEAD, |next| self.number(next));
        }
        self.next[at]
    }

    pub(super) fn accepts(&self, state: u32) -> bool {
        state != DEAD && self.accepting[state as usize]
    }

    fn number(&mut self, state: State) -> u32 {
        if let Some(number) = self.numbers.get(&state) {
            return *number;
        }
        let number = u32::try_from(self.states.len()).expect("a product has fewer states");
        self.accepting.push(self.automaton.accepts(&state));
        self.next.extend(std::iter::repeat_n(UNKNOWN, self.classes.count));
        self.states.push(state.clone());
        self.numbers.insert(state, number);
        number
    }
}

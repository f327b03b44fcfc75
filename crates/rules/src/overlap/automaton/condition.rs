//! Conditions on the text of one segment, and how far each has read.

use std::borrow::Cow;

use regex_automata::dfa::Automaton as _;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};
use smallvec::SmallVec;

use crate::constraint::ValuePattern;

#[derive(Clone)]
pub(in crate::overlap) enum TextCondition<'r> {
    /// A value with text before and after it.
    Value { around: [&'r str; 2], pattern: Option<&'r ValuePattern> },
    /// One of these texts, which are sorted.
    OneOf(Vec<Cow<'r, str>>),
    /// None of these texts up to the first `/`.
    NoneOf(Vec<Cow<'r, str>>),
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum ConditionState {
    Value {
        /// The number of bytes read of the text before the value.
        before: usize,
        value: ValueState,
        /// The number of bytes read of the text after the value, for each position at which the
        /// value may have ended.
        after: SmallVec<[usize; 2]>,
    },
    /// The range of the sorted texts that begin with the bytes read.
    Texts { from: usize, to: usize, read: usize },
    /// The condition holds whatever follows.
    Done,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum ValueState {
    /// Without a value pattern.
    Any { empty: bool },
    /// A state of the value pattern.
    Table { state: StateID, empty: bool },
    /// No value begins with the bytes read.
    Dead,
}

impl TextCondition<'_> {
    pub(super) fn start(&self) -> ConditionState {
        match self {
            Self::Value { pattern, .. } => {
                let value = match pattern.map(start_state) {
                    Some(state) => ValueState::Table { state, empty: true },
                    None => ValueState::Any { empty: true },
                };
                ConditionState::Value { before: 0, value, after: SmallVec::new() }
            }
            Self::OneOf(texts) | Self::NoneOf(texts) => {
                ConditionState::Texts { from: 0, to: texts.len(), read: 0 }
            }
        }
    }

    pub(super) fn next(&self, state: &ConditionState, byte: u8) -> Option<ConditionState> {
        match (self, state) {
            (Self::Value { around, pattern }, ConditionState::Value { before, value, after }) => {
                let [prefix, suffix] = around.map(str::as_bytes);
                if *before < prefix.len() {
                    let value = *value;
                    return (prefix[*before] == byte).then(|| ConditionState::Value {
                        before: before + 1,
                        value,
                        after: SmallVec::new(),
                    });
                }
                let ended = value.is_value(*pattern).then_some(0);
                let behind = after.iter().copied().chain(ended);
                let after: SmallVec<_> =
                    behind.filter(|at| suffix.get(*at) == Some(&byte)).map(|at| at + 1).collect();
                let value = value.next(*pattern, byte);
                let dead = value == ValueState::Dead && after.is_empty();
                (!dead).then_some(ConditionState::Value { before: *before, value, after })
            }
            (Self::OneOf(texts), ConditionState::Texts { from, to, read }) => {
                let (from, to) = narrowed(texts, *from..*to, *read, byte);
                (from < to).then_some(ConditionState::Texts { from, to, read: read + 1 })
            }
            (Self::NoneOf(texts), ConditionState::Texts { from, to, read }) => {
                if byte == b'/' {
                    return self.accepts(state).then_some(ConditionState::Done);
                }
                let (from, to) = narrowed(texts, *from..*to, *read, byte);
                let possible = ConditionState::Texts { from, to, read: read + 1 };
                Some(if from < to { possible } else { ConditionState::Done })
            }
            _ => Some(ConditionState::Done),
        }
    }

    pub(super) fn accepts(&self, state: &ConditionState) -> bool {
        match (self, state) {
            (Self::Value { around, pattern }, ConditionState::Value { before, value, after }) => {
                let [prefix, suffix] = around.map(str::len);
                let ended = suffix == 0 && value.is_value(*pattern);
                *before == prefix && (ended || (suffix > 0 && after.contains(&suffix)))
            }
            (Self::OneOf(texts), ConditionState::Texts { from, to, read }) => {
                from < to && texts[*from].len() == *read
            }
            (Self::NoneOf(texts), ConditionState::Texts { from, to, read }) => {
                from >= to || texts[*from].len() != *read
            }
            (_, ConditionState::Done) => true,
            _ => false,
        }
    }
}

impl ValueState {
    fn next(self, pattern: Option<&ValuePattern>, byte: u8) -> Self {
        match (self, pattern) {
            (Self::Any { .. }, _) => Self::Any { empty: false },
            (Self::Table { state, .. }, Some(pattern)) => {
                let state = pattern.dfa().next_state(state, byte);
                let dead = pattern.dfa().is_dead_state(state);
                if dead { Self::Dead } else { Self::Table { state, empty: false } }
            }
            _ => Self::Dead,
        }
    }

    /// Whether the bytes so far are a value; an empty text is none.
    fn is_value(self, pattern: Option<&ValuePattern>) -> bool {
        match (self, pattern) {
            (Self::Any { empty }, _) => !empty,
            (Self::Table { state, empty }, Some(pattern)) => {
                let dfa = pattern.dfa();
                !empty && dfa.is_match_state(dfa.next_eoi_state(state))
            }
            _ => false,
        }
    }
}

fn start_state(pattern: &ValuePattern) -> StateID {
    let config = start::Config::new().anchored(Anchored::Yes);
    pattern.dfa().start_state(&config).expect("a table for anchored searches, without quit bytes")
}

/// The texts of a range whose byte at position `read` is this one.
fn narrowed(
    texts: &[Cow<'_, str>],
    range: std::ops::Range<usize>,
    read: usize,
    byte: u8,
) -> (usize, usize) {
    let start = range.start;
    let at = |text: &Cow<'_, str>| text.as_bytes().get(read).copied();
    let from = texts[range.clone()].partition_point(|text| at(text) < Some(byte));
    let to = texts[range].partition_point(|text| at(text) <= Some(byte));
    (start + from, start + to)
}

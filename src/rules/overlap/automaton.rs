//! Automata that read the text of one or more path segments byte by byte.
//!
//! A [`ValuePattern`] is compiled to a DFA. The other parts of a template need no compilation: the
//! state of static text is a position in it, and that of a list of texts is a range of the sorted
//! list. A [`Table`] numbers the states that are reached and remembers the transitions.

use std::borrow::Cow;
use std::sync::LazyLock;

use regex_automata::dfa::Automaton as _;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};
use rustc_hash::FxHashMap;
use smallvec::SmallVec;

use crate::rules::constraint::ValuePattern;

/// Segments that a pathname can have (D7), joined by `/`: not empty, no `\`, no control characters,
/// no dot segments.
static SEGMENTS: LazyLock<ValuePattern> = LazyLock::new(|| {
    let one = r"(?:[^./\\\p{Cc}]|\.[^./\\\p{Cc}]|\.\.[^/\\\p{Cc}])[^/\\\p{Cc}]*";
    ValuePattern::new(&format!("{one}(?:/{one})*")).expect("a valid pattern")
});

/// Accepts segments joined by `/`.
#[derive(Clone)]
pub(super) struct Automaton<'r> {
    segments: Vec<Segment<'r>>,
    /// Whether the last segment is a catch-all, which contains `/`.
    open: bool,
}

/// Accepts one segment: all conditions have to hold.
#[derive(Clone, Default)]
pub(super) struct Segment<'r> {
    pub(super) conditions: SmallVec<[TextCondition<'r>; 2]>,
    /// The fewest and the most characters.
    pub(super) chars: Option<[u32; 2]>,
}

#[derive(Clone)]
pub(super) enum TextCondition<'r> {
    /// A value with text before and after it.
    Value { around: [&'r str; 2], pattern: Option<&'r ValuePattern> },
    /// One of these texts, which are sorted.
    OneOf(Vec<Cow<'r, str>>),
    /// None of these texts up to the first `/`.
    NoneOf(Vec<Cow<'r, str>>),
}

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

/// Where an automaton is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    segment: usize,
    /// The number of characters read in the segment, as far as it matters.
    chars: u32,
    conditions: SmallVec<[ConditionState; 2]>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
enum ConditionState {
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
enum ValueState {
    /// Without a value pattern.
    Any { empty: bool },
    /// A state of the value pattern.
    Table { state: StateID, empty: bool },
    /// No value begins with the bytes read.
    Dead,
}

impl<'r> Automaton<'r> {
    pub(super) fn new(segments: Vec<Segment<'r>>, open: bool) -> Self {
        Self { segments, open }
    }

    /// Accepts all segments that a pathname can have, joined by `/`.
    pub(super) fn of_pathnames() -> Self {
        let condition = TextCondition::Value { around: ["", ""], pattern: Some(&SEGMENTS) };
        let segment = Segment { conditions: SmallVec::from_iter([condition]), chars: None };
        Self { segments: vec![segment], open: true }
    }

    fn start_of(&self, segment: usize) -> State {
        let conditions =
            self.segments[segment].conditions.iter().map(TextCondition::start).collect();
        State { segment, chars: 0, conditions }
    }

    /// The state after one more byte; `None` when no text with this beginning is accepted.
    fn next(&self, state: &State, byte: u8) -> Option<State> {
        let last = state.segment + 1 == self.segments.len();
        if byte == b'/' && !(last && self.open) {
            let go_on = !last && self.segments[state.segment].accepts(state);
            return go_on.then(|| self.start_of(state.segment + 1));
        }
        let segment = &self.segments[state.segment];
        let conditions = segment.conditions.iter().zip(&state.conditions);
        let conditions = conditions.map(|(condition, state)| condition.next(state, byte));
        let conditions = conditions.collect::<Option<SmallVec<_>>>()?;
        // A continuation byte of UTF-8 is not a new character.
        let chars = state.chars.saturating_add(u32::from(byte & 0xC0 != 0x80));
        let chars = match segment.chars {
            Some([_, most]) if chars > most => return None,
            // Without an upper bound, more than the minimum makes no difference.
            Some([fewest, u32::MAX]) => chars.min(fewest),
            Some(_) => chars,
            None => 0,
        };
        Some(State { segment: state.segment, chars, conditions })
    }

    fn accepts(&self, state: &State) -> bool {
        state.segment + 1 == self.segments.len() && self.segments[state.segment].accepts(state)
    }

    /// The class of each byte: bytes of one class lead from each state to the same state.
    fn classes(&self) -> Classes {
        let mut classes = Classes::default();
        // Continuation bytes of UTF-8 are not counted, and `/` ends a segment.
        classes.split(|byte| u8::from(byte & 0xC0 == 0x80) + 2 * u8::from(byte == b'/'));
        for condition in self.segments.iter().flat_map(|segment| &segment.conditions) {
            match condition {
                TextCondition::Value { around, pattern } => {
                    if let Some(pattern) = pattern {
                        classes.split(|byte| pattern.dfa().byte_classes().get(byte));
                    }
                    classes.split_off(around.iter().flat_map(|text| text.bytes()));
                }
                TextCondition::OneOf(texts) | TextCondition::NoneOf(texts) => {
                    classes.split_off(texts.iter().flat_map(|text| text.bytes()));
                }
            }
        }
        classes
    }
}

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

/// A partition of the bytes.
pub(super) struct Classes {
    of: Box<[u8; 256]>,
    count: usize,
}

impl Default for Classes {
    fn default() -> Self {
        Self { of: Box::new([0; 256]), count: 1 }
    }
}

impl Classes {
    /// Divides the classes by the value of a function.
    pub(super) fn split(&mut self, of: impl Fn(u8) -> u8) {
        let mut known: SmallVec<[[u8; 2]; 32]> = SmallVec::new();
        for byte in 0..=u8::MAX {
            let class = &mut self.of[usize::from(byte)];
            let pair = [*class, of(byte)];
            let at = known.iter().position(|known| *known == pair).unwrap_or_else(|| {
                known.push(pair);
                known.len() - 1
            });
            *class = u8::try_from(at).expect("there are 256 bytes");
        }
        self.count = known.len();
    }

    /// Gives each of these bytes its own class.
    fn split_off(&mut self, bytes: impl Iterator<Item = u8>) {
        let mut own = [0; 256];
        let mut any = false;
        for byte in bytes {
            own[usize::from(byte)] = byte;
            any = true;
        }
        if any {
            self.split(|byte| own[usize::from(byte)]);
        }
    }

    /// The first byte of each class in the list.
    pub(super) fn representatives(&self, bytes: impl Iterator<Item = u8>) -> SmallVec<[u8; 32]> {
        let mut seen = [false; 256];
        let new = |byte: &u8| {
            let class = usize::from(self.of[usize::from(*byte)]);
            !std::mem::replace(&mut seen[class], true)
        };
        bytes.filter(new).collect()
    }
}

impl Segment<'_> {
    fn accepts(&self, state: &State) -> bool {
        let counted = self.chars.is_none_or(|[least, most]| (least..=most).contains(&state.chars));
        counted
            && self
                .conditions
                .iter()
                .zip(&state.conditions)
                .all(|(condition, at)| condition.accepts(at))
    }
}

impl TextCondition<'_> {
    fn start(&self) -> ConditionState {
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

    fn next(&self, state: &ConditionState, byte: u8) -> Option<ConditionState> {
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

    fn accepts(&self, state: &ConditionState) -> bool {
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

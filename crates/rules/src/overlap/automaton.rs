//! Automata that read the text of one or more path segments byte by byte.
//!
//! A [`ValuePattern`] is compiled to a DFA. The other parts of a template need no compilation: the
//! state of static text is a position in it, and that of a list of texts is a range of the sorted
//! list. A [`Table`](super::table::Table) numbers the states that are reached and remembers the
//! transitions.

mod condition;

use std::sync::LazyLock;

use smallvec::SmallVec;

use super::classes::Classes;
use crate::constraint::ValuePattern;
use condition::ConditionState;
pub(super) use condition::TextCondition;

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

/// Where an automaton is.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) struct State {
    segment: usize,
    /// The number of characters read in the segment, as far as it matters.
    chars: u32,
    conditions: SmallVec<[ConditionState; 2]>,
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

    pub(super) fn start_of(&self, segment: usize) -> State {
        let conditions =
            self.segments[segment].conditions.iter().map(TextCondition::start).collect();
        State { segment, chars: 0, conditions }
    }

    /// The state after one more byte; `None` when no text with this beginning is accepted.
    pub(super) fn next(&self, state: &State, byte: u8) -> Option<State> {
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

    pub(super) fn accepts(&self, state: &State) -> bool {
        state.segment + 1 == self.segments.len() && self.segments[state.segment].accepts(state)
    }

    /// The class of each byte: bytes of one class lead from each state to the same state.
    pub(super) fn classes(&self) -> Classes {
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

//! Automata that read the text of a span byte by byte, and the product of several: a text that some
//! accept and others refuse.

use std::sync::LazyLock;

use regex_automata::dfa::Automaton as _;
use regex_automata::util::primitives::StateID;
use regex_automata::{Anchored, util::start};
use rustc_hash::FxHashSet;
use smallvec::{SmallVec, smallvec};

use super::budget::Budget;
use super::texts::{SetId, Span, TextSets};
use crate::constraint::ValuePattern;

/// The most states of one product that are visited.
const MAX_STATES: usize = 10_000;

/// The cost of a product and of each of its states, in comparisons.
const START_COST: usize = 30;
const STATE_COST: usize = 3;

/// The largest table of a list of texts, in bytes.
const MAX_LIST: usize = 1 << 24;

/// Segments that a pathname can have (D7), joined by `/`: not empty, no `\`, no control characters,
/// no dot segments.
static SEGMENTS: LazyLock<ValuePattern> = LazyLock::new(|| {
    let one = r"(?:[^./\\\p{Cc}]|\.[^./\\\p{Cc}]|\.\.[^/\\\p{Cc}])[^/\\\p{Cc}]*";
    ValuePattern::new(&format!("{one}(?:/{one})*")).expect("a valid pattern")
});

static ANY: LazyLock<ValuePattern> =
    LazyLock::new(|| ValuePattern::new("(?s).+").expect("a valid pattern"));

/// The product has more than 10,000 states, or a list of texts is too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct TooLarge;

/// Accepts segments joined by `/`.
pub(super) struct Automaton<'r> {
    segments: SmallVec<[Segment<'r>; 1]>,
    /// Whether the last segment is a catch-all, which contains `/`.
    is_open: bool,
}

/// Accepts one segment: all conditions have to hold.
struct Segment<'r> {
    conditions: SmallVec<[Condition<'r>; 2]>,
    /// The fewest and the most characters.
    chars: [u32; 2],
}

/// A value that a pattern matches, or does not, with text before and after it.
struct Condition<'r> {
    around: [&'r str; 2],
    pattern: ValuePattern,
    is_negated: bool,
}

/// Where an automaton is.
#[derive(Clone, PartialEq, Eq, Hash)]
struct State {
    segment: usize,
    /// The number of characters read in the segment, as far as it matters.
    chars: u32,
    conditions: SmallVec<[ConditionState; 2]>,
}

#[derive(Clone, PartialEq, Eq, Hash)]
struct ConditionState {
    /// The bytes read of the text before the value, and one more when the value has begun.
    read: usize,
    /// The state of the pattern; `None` when no value begins with the bytes read.
    value: Option<StateID>,
    /// The bytes read of the text after the value, for each position at which the value may have
    /// ended.
    after: SmallVec<[usize; 2]>,
}

/// The states of all automata; `None` where no text that begins like this is accepted.
type States = SmallVec<[Option<State>; 3]>;

impl<'r> Automaton<'r> {
    pub(super) fn new(span: Span<'_>, sets: &TextSets<'r>) -> Result<Self, TooLarge> {
        let segments = span.sets.iter().map(|id| Segment::new(*id, sets));
        Ok(Self { segments: segments.collect::<Result<_, _>>()?, is_open: span.is_open })
    }

    /// Accepts all segments that a pathname can have, joined by `/`.
    fn of_pathnames() -> Self {
        let conditions = smallvec![Condition::new(["", ""], SEGMENTS.clone())];
        let segment = Segment { conditions, chars: [0, u32::MAX] };
        Self { segments: smallvec![segment], is_open: true }
    }

    fn start_of(&self, segment: usize) -> State {
        let conditions = self.segments[segment].conditions.iter().map(Condition::start).collect();
        State { segment, chars: 0, conditions }
    }

    /// The state after one more byte; `None` when no text with this beginning is accepted.
    fn next(&self, state: &State, byte: u8) -> Option<State> {
        let segment = &self.segments[state.segment];
        let is_last = state.segment + 1 == self.segments.len();
        if byte == b'/' && !(is_last && self.is_open) {
            let goes_on = !is_last && segment.accepts(state);
            return goes_on.then(|| self.start_of(state.segment + 1));
        }
        let [fewest, most] = segment.chars;
        // A continuation byte of UTF-8 is not a new character.
        let chars = state.chars.saturating_add(u32::from(byte & 0xC0 != 0x80));
        if chars > most {
            return None;
        }
        // Without an upper bound, more than the minimum makes no difference.
        let chars = if most == u32::MAX { chars.min(fewest) } else { chars };
        let conditions = segment.conditions.iter().zip(&state.conditions);
        let conditions = conditions.map(|(condition, state)| condition.next(state, byte));
        Some(State {
            segment: state.segment,
            chars,
            conditions: conditions.collect::<Option<_>>()?,
        })
    }

    fn accepts(&self, state: &State) -> bool {
        state.segment + 1 == self.segments.len() && self.segments[state.segment].accepts(state)
    }
}

impl<'r> Segment<'r> {
    fn new(id: SetId, sets: &TextSets<'r>) -> Result<Self, TooLarge> {
        let set = sets.get(id);
        let around = set.around();
        let (mut conditions, mut chars) = (SmallVec::new(), [0, u32::MAX]);
        if let Some(texts) = &set.listed {
            let texts: Vec<String> = texts.iter().map(|text| regex_syntax::escape(text)).collect();
            let pattern = ValuePattern::within(&texts.join("|"), MAX_LIST).map_err(|_| TooLarge)?;
            conditions.push(Condition::new(["", ""], pattern));
            return Ok(Self { conditions, chars });
        }
        if set.is_no_locale() {
            let segments = sets.locales.as_slice().iter();
            let segments = segments.map(|locale| regex_syntax::escape(locale.segment()));
            let segments = segments.collect::<Vec<_>>().join("|");
            let pattern = ValuePattern::within(&format!("(?s)(?:{segments})(?:/.*)?"), MAX_LIST);
            let condition = Condition::new(["", ""], pattern.map_err(|_| TooLarge)?);
            conditions.push(Condition { is_negated: true, ..condition });
        }
        for pattern in set.patterns() {
            conditions.push(Condition::new(around, pattern.clone()));
            chars = pattern.char_count().map_or(chars, |bounds| counted(bounds, around));
        }
        if around != ["", ""] && set.patterns().is_empty() {
            conditions.push(Condition::new(around, ANY.clone()));
        }
        Ok(Self { conditions, chars })
    }

    fn accepts(&self, state: &State) -> bool {
        let mut conditions = self.conditions.iter().zip(&state.conditions);
        let [fewest, most] = self.chars;
        (fewest..=most).contains(&state.chars)
            && conditions.all(|(condition, state)| condition.accepts(state))
    }
}

impl<'r> Condition<'r> {
    fn new(around: [&'r str; 2], pattern: ValuePattern) -> Self {
        Self { around, pattern, is_negated: false }
    }

    fn start(&self) -> ConditionState {
        let config = start::Config::new().anchored(Anchored::Yes);
        let state = self.pattern.dfa().start_state(&config);
        let value = Some(state.expect("a table for anchored searches, without quit bytes"));
        ConditionState { read: 0, value, after: SmallVec::new() }
    }

    fn next(&self, state: &ConditionState, byte: u8) -> Option<ConditionState> {
        let [before, behind] = self.around.map(str::as_bytes);
        if let Some(expected) = before.get(state.read) {
            let next = || ConditionState { read: state.read + 1, ..state.clone() };
            return (*expected == byte).then(next);
        }
        let ended = self.has_value(state).then_some(0);
        let after = state.after.iter().copied().chain(ended);
        let after = after.filter(|at| behind.get(*at) == Some(&byte)).map(|at| at + 1);
        let after: SmallVec<_> = after.collect();
        let dfa = self.pattern.dfa();
        let value = state.value.map(|value| dfa.next_state(value, byte));
        let value = value.filter(|value| !dfa.is_dead_state(*value));
        let is_dead = value.is_none() && after.is_empty() && !self.is_negated;
        (!is_dead).then_some(ConditionState { read: before.len() + 1, value, after })
    }

    /// Whether the bytes read after the text before it are a value; an empty text is none.
    fn has_value(&self, state: &ConditionState) -> bool {
        let dfa = self.pattern.dfa();
        state.read > self.around[0].len()
            && state.value.is_some_and(|value| dfa.is_match_state(dfa.next_eoi_state(value)))
    }

    fn accepts(&self, state: &ConditionState) -> bool {
        let behind = self.around[1].len();
        let holds = if behind == 0 { self.has_value(state) } else { state.after.contains(&behind) };
        holds != self.is_negated
    }
}

/// Converts bounds on the characters of a value to bounds on those of the segment.
fn counted([fewest, most]: [u32; 2], around: [&str; 2]) -> [u32; 2] {
    let more = around.iter().map(|text| text.chars().count()).sum::<usize>();
    let more = u32::try_from(more).unwrap_or(u32::MAX);
    [fewest.saturating_add(more), most.saturating_add(more)]
}

/// A shortest text that a pathname can have, that all of `accepting` accept and none of `refusing`,
/// by a breadth-first search.
pub(super) fn shortest_text<'r>(
    mut accepting: Vec<Automaton<'r>>,
    refusing: Vec<Automaton<'r>>,
    budget: &Budget,
) -> Result<Option<String>, TooLarge> {
    budget.spend(START_COST);
    accepting.push(Automaton::of_pathnames());
    let count = accepting.len();
    let all: Vec<Automaton<'r>> = accepting.into_iter().chain(refusing).collect();
    let ends = |states: &States| {
        let ends = all.iter().zip(states);
        let mut ends = ends.map(|(one, state)| state.as_ref().is_some_and(|at| one.accepts(at)));
        ends.by_ref().take(count).all(|ends| ends) && !ends.any(|ends| ends)
    };
    let alphabet = alphabet(&all);
    let start: States = all.iter().map(|one| Some(one.start_of(0))).collect();
    let mut seen = FxHashSet::from_iter([start.clone()]);
    // Each state with the index of its predecessor and the byte that leads from there.
    let mut found = vec![(start, 0, 0)];
    let mut at = 0;
    while at < found.len() {
        if at > MAX_STATES {
            return Err(TooLarge);
        }
        budget.spend(STATE_COST);
        if ends(&found[at].0) {
            return Ok(Some(text_up_to(&found, at)));
        }
        for byte in &alphabet {
            let next = |(one, state): (&Automaton<'r>, &Option<State>)| {
                state.as_ref().and_then(|state| one.next(state, *byte))
            };
            let states: States = all.iter().zip(&found[at].0).map(next).collect();
            if states[..count].iter().all(Option::is_some) && seen.insert(states.clone()) {
                found.push((states, at, *byte));
            }
        }
        at += 1;
    }
    Ok(None)
}

fn text_up_to(found: &[(States, usize, u8)], mut at: usize) -> String {
    let mut bytes = Vec::new();
    while at > 0 {
        bytes.push(found[at].2);
        at = found[at].1;
    }
    bytes.reverse();
    String::from_utf8(bytes).expect("the automaton of pathnames accepts only UTF-8")
}

/// The bytes that a path can contain, in the order in which an example should prefer them, one of
/// each class.
fn alphabet(all: &[Automaton<'_>]) -> Vec<u8> {
    let plain = (*b"x2a0X-").into_iter().chain(b'a'..=b'z').chain(b'0'..=b'9').chain(*b"_");
    let bytes = plain.chain(b'A'..=b'Z').chain(b' '..=b'~').chain(0x80..=0xFF);
    let conditions = all.iter().flat_map(|one| &one.segments).flat_map(|one| &one.conditions);
    let conditions: SmallVec<[&Condition<'_>; 8]> = conditions.collect();
    let around: String = conditions.iter().flat_map(|one| one.around).collect();
    let mut seen = FxHashSet::default();
    // Bytes of one class lead from each state to the same state. Continuation bytes of UTF-8 are not
    // counted, and `/` ends a segment.
    let class = |byte: u8| -> SmallVec<[u8; 16]> {
        let is_own = byte == b'/' || around.as_bytes().contains(&byte);
        let own = [u8::from(byte & 0xC0 == 0x80), if is_own { byte } else { 0 }];
        let classes = conditions.iter().map(|one| one.pattern.dfa().byte_classes().get(byte));
        own.into_iter().chain(classes).collect()
    };
    bytes.filter(|byte| seen.insert(class(*byte))).collect()
}

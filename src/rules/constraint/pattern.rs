//! Patterns for whole values, compiled.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::nfa::thompson::{self, Compiler, NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// The largest compiled pattern, in bytes, and the most memory that compiling takes: a pattern is
/// for slugs and years, not for programs.
const MAX_COMPILED: usize = 1 << 20;

const TOO_LARGE: &str = "larger than 1 MiB when compiled: use ASCII classes such as `[a-z0-9-]`, or a shorter repetition";

/// A pattern for whole values, compiled to one table look-up for each byte of a value. Engines that
/// work out their states on the way are linear in the value too, but with a factor as large as the
/// pattern: 22 ms have been seen for `(a|b)*a(a|b){2000}c`. Cheap to clone.
#[derive(Clone)]
pub struct ValuePattern(Arc<Compiled>);

struct Compiled {
    text: Box<str>,
    dfa: DFA<Vec<u32>>,
    /// How many characters there may be, where the table does not say it.
    count: Option<[u32; 2]>,
    /// The most bytes that can match: what is longer is not looked at.
    longest: Option<usize>,
}

impl ValuePattern {
    pub(in crate::rules) fn new(pattern: &str) -> Result<Self, String> {
        let hir = regex_syntax::parse(pattern).map_err(|error| where_and_what(pattern, &error))?;
        let longest = hir.properties().maximum_len();
        let (hir, count) = without_count(hir);
        let dfa = table(&nfa(hir)?)?;
        Ok(Self(Arc::new(Compiled { text: pattern.into(), dfa, count, longest })))
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The size of the table, in bytes.
    #[must_use]
    pub fn size(&self) -> usize {
        self.0.dfa.memory_usage()
    }

    /// The most bytes of a value that are looked at, if there is such a bound.
    #[must_use]
    pub fn longest(&self) -> Option<usize> {
        self.0.longest
    }

    /// The table: a value matches when the end of input leads from its last state to a match.
    pub(in crate::rules) fn dfa(&self) -> &DFA<Vec<u32>> {
        &self.0.dfa
    }

    /// The fewest and the most characters, where the table does not say it.
    pub(in crate::rules) fn char_count(&self) -> Option<[u32; 2]> {
        self.0.count
    }

    pub(super) fn is_match(&self, value: &str) -> bool {
        let Compiled { dfa, count, longest, .. } = &*self.0;
        let counted = |[least, most]: [u32; 2]| {
            u32::try_from(value.chars().count()).is_ok_and(|n| (least..=most).contains(&n))
        };
        let input = Input::new(value).anchored(Anchored::Yes);
        longest.is_none_or(|longest| value.len() <= longest)
            && count.is_none_or(counted)
            // No byte makes it give up, which is the only error there is.
            && dfa.try_search_fwd(&input).is_ok_and(|end| end.is_some())
    }
}

/// `\w{3,60}` as `\w*` and a number of characters: in a table each of the sixty costs as much as
/// the first, which for a Unicode class is 160 KiB.
fn without_count(hir: Hir) -> (Hir, Option<[u32; 2]>) {
    let HirKind::Repetition(repetition) = bare(&hir).kind() else {
        return (hir, None);
    };
    if !matches!(repetition.sub.kind(), HirKind::Class(Class::Unicode(_))) {
        return (hir, None);
    }
    let any = Repetition { min: 0, max: None, ..repetition.clone() };
    (Hir::repetition(any), Some([repetition.min, repetition.max.unwrap_or(u32::MAX)]))
}

/// Without the group and the anchors around all of it, which change nothing.
fn bare(hir: &Hir) -> &Hir {
    let is = |hir: &Hir, look| *hir.kind() == HirKind::Look(look);
    match hir.kind() {
        HirKind::Capture(capture) => bare(&capture.sub),
        HirKind::Concat(parts) => match &parts[..] {
            [start, inner, end] if is(start, Look::Start) && is(end, Look::End) => bare(inner),
            _ => hir,
        },
        _ => hir,
    }
}

/// For the expression up to the end of the value.
fn nfa(hir: Hir) -> Result<NFA, String> {
    let whole = Hir::concat(vec![hir, Hir::look(Look::End)]);
    let config = thompson::Config::new()
        .which_captures(WhichCaptures::None)
        .nfa_size_limit(Some(MAX_COMPILED));
    let nfa = Compiler::new().configure(config).build_from_hir(&whole);
    nfa.map_err(|error| error.size_limit().map_or(error.to_string(), |_| TOO_LARGE.to_owned()))
}

fn table(nfa: &NFA) -> Result<DFA<Vec<u32>>, String> {
    let config = Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(MAX_COMPILED))
        .determinize_size_limit(Some(MAX_COMPILED));
    let dfa = Builder::new().configure(config).build_from_nfa(nfa);
    dfa.map_err(|error| {
        if error.is_size_limit_exceeded() { TOO_LARGE.to_owned() } else { error.to_string() }
    })
}

/// In one line, and in words about what was written.
fn where_and_what(pattern: &str, error: &regex_syntax::Error) -> String {
    let (offset, what) = match error {
        regex_syntax::Error::Parse(error) => (error.span().start.offset, error.kind().to_string()),
        regex_syntax::Error::Translate(error) => {
            (error.span().start.offset, error.kind().to_string())
        }
        error => return error.to_string(),
    };
    let position = pattern[..offset].chars().count() + 1;
    format!("position {position}: {what}")
}

impl PartialEq for ValuePattern {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for ValuePattern {}

impl Hash for ValuePattern {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.as_str().hash(state);
    }
}

impl std::fmt::Debug for ValuePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.as_str().fmt(f)
    }
}

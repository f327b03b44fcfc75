//! Value patterns: regular expressions for whole values, compiled to DFAs.

use std::hash::{Hash, Hasher};
use std::sync::Arc;

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::nfa::thompson::{self, Compiler, NFA, WhichCaptures};
use regex_automata::{Anchored, Input, MatchKind};
use regex_syntax::hir::{Class, Hir, HirKind, Look, Repetition};

/// The largest compiled pattern, and the most memory for compiling it, in bytes. A pattern describes
/// slugs and years.
const MAX_COMPILED: usize = 1 << 20;

const TOO_LARGE: &str = "larger than 1 MiB when compiled: use ASCII classes such as `[a-z0-9-]`, or a shorter repetition";

/// A regular expression that matches whole values with one table look-up for each byte. Cheap to
/// clone.
///
/// An engine that builds its states while it matches is linear in the value too, but with a factor
/// as large as the pattern: `(a|b)*a(a|b){2000}c` took 22 ms.
#[derive(Clone)]
pub struct ValuePattern(Arc<Compiled>);

struct Compiled {
    text: Box<str>,
    dfa: DFA<Vec<u32>>,
    /// The fewest and the most characters, where the table does not count them.
    count: Option<[u32; 2]>,
    /// The most bytes of a value that can match: longer values are not read.
    longest: Option<usize>,
}

impl ValuePattern {
    pub(crate) fn new(pattern: &str) -> Result<Self, String> {
        Self::within(pattern, MAX_COMPILED)
    }

    /// A pattern that may take this many bytes when compiled.
    pub(crate) fn within(pattern: &str, most: usize) -> Result<Self, String> {
        let hir = regex_syntax::parse(pattern).map_err(|error| problem_at(pattern, &error))?;
        let longest = hir.properties().maximum_len();
        let (hir, count) = without_count(hir);
        let dfa = table(&nfa(hir, most)?, most)?;
        Ok(Self(Arc::new(Compiled { text: pattern.into(), dfa, count, longest })))
    }

    /// The pattern as written.
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The size of the table, in bytes.
    pub fn size(&self) -> usize {
        self.0.dfa.memory_usage()
    }

    /// The most bytes of a value that can match, if there is a bound.
    pub fn longest(&self) -> Option<usize> {
        self.0.longest
    }

    /// The table: a value matches when the end of input leads from its last state to a match.
    pub(crate) fn dfa(&self) -> &DFA<Vec<u32>> {
        &self.0.dfa
    }

    /// The fewest and the most characters, where the table does not count them.
    pub(crate) fn char_count(&self) -> Option<[u32; 2]> {
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
            // The only error is a quit byte, and there are none.
            && dfa.try_search_fwd(&input).is_ok_and(|end| end.is_some())
    }
}

/// Splits `\w{3,60}` into `\w*` and a number of characters. In a table, each of the 60 repetitions
/// of a Unicode class would take 160 KiB.
fn without_count(hir: Hir) -> (Hir, Option<[u32; 2]>) {
    let HirKind::Repetition(repetition) = stripped(&hir).kind() else {
        return (hir, None);
    };
    if !matches!(repetition.sub.kind(), HirKind::Class(Class::Unicode(_))) {
        return (hir, None);
    }
    let any = Repetition { min: 0, max: None, ..repetition.clone() };
    (Hir::repetition(any), Some([repetition.min, repetition.max.unwrap_or(u32::MAX)]))
}

/// Without a group and anchors around the whole expression, which change nothing.
fn stripped(hir: &Hir) -> &Hir {
    let is = |hir: &Hir, look| *hir.kind() == HirKind::Look(look);
    match hir.kind() {
        HirKind::Capture(capture) => stripped(&capture.sub),
        HirKind::Concat(parts) => match &parts[..] {
            [start, inner, end] if is(start, Look::Start) && is(end, Look::End) => stripped(inner),
            _ => hir,
        },
        _ => hir,
    }
}

/// The NFA of the expression up to the end of the value.
fn nfa(hir: Hir, most: usize) -> Result<NFA, String> {
    let whole = Hir::concat(vec![hir, Hir::look(Look::End)]);
    let config =
        thompson::Config::new().which_captures(WhichCaptures::None).nfa_size_limit(Some(most));
    let nfa = Compiler::new().configure(config).build_from_hir(&whole);
    nfa.map_err(|error| error.size_limit().map_or(error.to_string(), |_| TOO_LARGE.to_owned()))
}

fn table(nfa: &NFA, most: usize) -> Result<DFA<Vec<u32>>, String> {
    let config = Config::new()
        .start_kind(StartKind::Anchored)
        .match_kind(MatchKind::All)
        .dfa_size_limit(Some(most))
        .determinize_size_limit(Some(most));
    let dfa = Builder::new().configure(config).build_from_nfa(nfa);
    dfa.map_err(|error| {
        if error.is_size_limit_exceeded() { TOO_LARGE.to_owned() } else { error.to_string() }
    })
}

/// The position and the problem, in one line.
fn problem_at(pattern: &str, error: &regex_syntax::Error) -> String {
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

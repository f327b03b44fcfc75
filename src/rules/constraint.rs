//! Which values a placeholder takes.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex_automata::dfa::dense::{Builder, Config, DFA};
use regex_automata::dfa::{Automaton, StartKind};
use regex_automata::nfa::thompson;
use regex_automata::{Anchored, Input, MatchKind};

/// The largest compiled pattern, in bytes, and the most memory that compiling takes: a pattern is
/// for slugs and years, not for programs.
const MAX_COMPILED: usize = 1 << 20;

/// A bound on the decoded value of a placeholder, when matching and when building.
#[derive(Clone, Debug)]
pub enum Constraint {
    /// The whole value matches.
    Pattern(ValuePattern),
    /// The value is one of these.
    Values(BTreeSet<String>),
}

/// A pattern for whole values, compiled to one table look-up for each byte of a value. Engines that
/// work out their states on the way are linear in the value too, but with a factor as large as the
/// pattern: 22 ms have been seen for `(a|b)*a(a|b){2000}c`.
#[derive(Clone)]
pub struct ValuePattern {
    text: Arc<str>,
    dfa: Arc<DFA<Vec<u32>>>,
}

/// A constraint that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// The pattern does not compile, or is too large.
    #[error("`pattern`: {0}")]
    Pattern(String),
    /// No value could ever be taken.
    #[error("`values` needs at least one value")]
    NoValues,
}

impl ValuePattern {
    fn new(pattern: &str) -> Result<Self, String> {
        let config = Config::new()
            .start_kind(StartKind::Anchored)
            .match_kind(MatchKind::All)
            .dfa_size_limit(Some(MAX_COMPILED))
            .determinize_size_limit(Some(MAX_COMPILED));
        let nfa = thompson::Config::new().nfa_size_limit(Some(MAX_COMPILED));
        let build = |text: &str| {
            let dfa = Builder::new().configure(config.clone()).thompson(nfa.clone()).build(text);
            dfa.map_err(|error| with_causes(&error))
        };
        // Alone first: `a)|(b` would compile between the anchors.
        build(pattern)?;
        let dfa = build(&format!("^(?:{pattern})$"))?;
        Ok(Self { text: pattern.into(), dfa: Arc::new(dfa) })
    }

    /// The pattern as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    fn is_match(&self, value: &str) -> bool {
        let input = Input::new(value).anchored(Anchored::Yes);
        // No byte makes it give up, which is the only error there is.
        self.dfa.try_search_fwd(&input).is_ok_and(|end| end.is_some())
    }
}

impl std::fmt::Debug for ValuePattern {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.text.fmt(f)
    }
}

/// What is wrong with a pattern lies in the last cause.
fn with_causes(error: &dyn std::error::Error) -> String {
    let causes = std::iter::successors(Some(error), |error| error.source());
    causes.map(ToString::to_string).collect::<Vec<_>>().join(": ")
}

impl Constraint {
    /// A pattern that the whole value has to match (syntax of the `regex` crate, without Unicode
    /// word boundaries).
    ///
    /// # Errors
    /// [`ConstraintError::Pattern`] when it does not compile, or not within the limits.
    pub fn pattern(pattern: &str) -> Result<Self, ConstraintError> {
        ValuePattern::new(pattern).map(Self::Pattern).map_err(ConstraintError::Pattern)
    }

    /// A fixed set of values.
    ///
    /// # Errors
    /// [`ConstraintError::NoValues`] for an empty set.
    pub fn values(values: impl IntoIterator<Item = String>) -> Result<Self, ConstraintError> {
        let values: BTreeSet<String> = values.into_iter().collect();
        if values.is_empty() { Err(ConstraintError::NoValues) } else { Ok(Self::Values(values)) }
    }

    /// Whether the placeholder takes this value.
    #[must_use]
    pub fn takes(&self, value: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.is_match(value),
            Self::Values(values) => values.contains(value),
        }
    }
}

impl PartialEq for Constraint {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Pattern(one), Self::Pattern(other)) => one.as_str() == other.as_str(),
            (Self::Values(one), Self::Values(other)) => one == other,
            _ => false,
        }
    }
}

impl Eq for Constraint {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_take_whole_values() {
        for (pattern, value, expected) in [
            (r"\d{4}", "2024", true),
            (r"\d{4}", "x2024", false),
            (r"\d{4}", "2024\n", false),
            ("a|b", "ab", false),
            ("(a+)+", &"a".repeat(2048), true),
            ("a|ab|", "ab", true),
            ("a|ab|", "", true),
            ("a*?", "aa", true),
            (r"\w+", "été", true),
            (r"\d{4}", "２０２４", true),
            ("(?i)a.c", "ABC", true),
            ("[a-z0-9]+(-[a-z0-9]+)*", "a-b-1", true),
            ("[a-z0-9]+(-[a-z0-9]+)*", "a-b-", false),
        ] {
            assert_eq!(Constraint::pattern(pattern).unwrap().takes(value), expected, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for pattern in
            ["(", "a)|(b", "(a{1000}){1000}", r"(a)\1", "(?=a)", "(?x) a # b", "(a|b)*a(a|b){200}"]
        {
            assert!(Constraint::pattern(pattern).is_err(), "{pattern}");
        }
        assert_eq!(Constraint::values([]), Err(ConstraintError::NoValues));
    }
}

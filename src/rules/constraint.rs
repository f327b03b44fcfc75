//! Which values a placeholder takes.

use std::collections::BTreeSet;

use regex::{Regex, RegexBuilder};

/// The largest compiled pattern, in bytes: a pattern is for slugs and years, not for programs.
const MAX_COMPILED: usize = 1 << 20;

/// A bound on the decoded value of a placeholder, when matching and when building.
#[derive(Clone, Debug)]
pub enum Constraint {
    /// The whole value matches. The engine is linear in the value's length.
    Pattern(Regex),
    /// The value is one of these.
    Values(BTreeSet<String>),
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

impl Constraint {
    /// A pattern that the whole value has to match (syntax of the `regex` crate).
    ///
    /// # Errors
    /// [`ConstraintError::Pattern`] when it does not compile.
    pub fn pattern(pattern: &str) -> Result<Self, ConstraintError> {
        // Alone first: `a)|(b` would compile between the anchors.
        let alone = RegexBuilder::new(pattern).size_limit(MAX_COMPILED).build();
        let whole =
            || RegexBuilder::new(&format!("^(?:{pattern})$")).size_limit(MAX_COMPILED).build();
        alone
            .and_then(|_| whole())
            .map(Self::Pattern)
            .map_err(|error| ConstraintError::Pattern(error.to_string()))
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
        ] {
            assert_eq!(Constraint::pattern(pattern).unwrap().takes(value), expected, "{pattern}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_refused() {
        for pattern in ["(", "a)|(b", "(a{1000}){1000}", r"(a)\1", "(?=a)", "(?x) a # b"] {
            assert!(Constraint::pattern(pattern).is_err(), "{pattern}");
        }
        assert_eq!(Constraint::values([]), Err(ConstraintError::NoValues));
    }
}

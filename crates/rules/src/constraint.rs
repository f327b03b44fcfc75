//! Constraints on the values of placeholders.

mod pattern;
mod values;

pub use pattern::ValuePattern;
pub use values::ValueSet;

/// Restricts the decoded value of a placeholder, both in matching and in building.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Constraint {
    /// The whole value has to match.
    Pattern(ValuePattern),
    /// The value has to be one of these.
    Values(ValueSet),
}

/// A constraint that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ConstraintError {
    /// The pattern does not compile, or is too large.
    #[error("`pattern`: {0}")]
    Pattern(String),
    /// The list of values is empty.
    #[error("`values` needs at least one value")]
    NoValues,
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
        let values = ValueSet::new(values);
        if values.is_empty() { Err(ConstraintError::NoValues) } else { Ok(Self::Values(values)) }
    }

    /// Whether this value is allowed.
    pub fn allows(&self, value: &str) -> bool {
        match self {
            Self::Pattern(pattern) => pattern.is_match(value),
            Self::Values(values) => values.contains(value),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pattern_matches_whole_values_only() {
        for (pattern, value, expected) in [
            (r"\d{4}", "2024", true),
            (r"\d{4}", "x2024", false),
            (r"\d{4}", "2024\n", false),
            (r"^\d{4}$", "2024", true),
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
            ("(?x) a # a letter", "a", true),
            (r"\w{3,60}", "été", true),
            (r"\w{3,60}", "ét", false),
            (r"^([\w-]{1,100})$", &"日".repeat(100), true),
            (r"[\w-]{1,100}", &"日".repeat(101), false),
            (r"[\w-]{1,100}", "", false),
            (r"\w{2,}?", "ab", true),
            (r"\w{2,}?", "a", false),
            (r"a[0-9]{3,60}b", "a123b", true),
            (r"a[0-9]{3,60}b", "123", false),
            (r"^[0-9]{3,60}b", "123b", true),
            (r"^[0-9]{3,60}b", "123", false),
            (r"b[0-9]{3,60}$", "b123", true),
            (r"b[0-9]{3,60}$", "123", false),
            (r"^[0-9]{3,60}$", "123", true),
            (r"^[0-9]{3,60}$", "12", false),
            ("(?:ab){2,3}", "abab", true),
            ("(?:ab){2,3}", "ab", false),
            ("(?:ab){2,3}", "abababab", false),
        ] {
            assert_eq!(Constraint::pattern(pattern).unwrap().allows(value), expected, "{pattern}");
        }
    }

    #[test]
    fn unusable_pattern_or_empty_list_is_refused() {
        let large = "larger than 1 MiB when compiled: use ASCII classes such as `[a-z0-9-]`, or a shorter repetition";
        for (pattern, problem) in [
            ("(", "position 1: unclosed group"),
            ("a)|(b", "position 2: unopened group"),
            ("é(a", "position 2: unclosed group"),
            (r"\p{Nope}", "position 1: Unicode property not found"),
            (r"(a)\1", "position 4: backreferences are not supported"),
            (
                "(?=a)",
                "position 1: look-around, including look-ahead and look-behind, is not supported",
            ),
            ("(a{1000}){1000}", large),
            ("(a|b)*a(a|b){200}", large),
            (r"(\w-){3,60}", large),
        ] {
            let problem = Err(ConstraintError::Pattern(problem.to_owned()));
            assert_eq!(Constraint::pattern(pattern), problem, "{pattern}");
        }
        assert_eq!(Constraint::values([]), Err(ConstraintError::NoValues));
    }
}

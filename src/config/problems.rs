//! Everything that is wrong with the settings, told at once.

use std::fmt;

/// What is wrong, one line each. Never empty when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// A single problem.
    pub(super) fn one(place: &str, what: impl fmt::Display) -> Self {
        let mut problems = Self::default();
        problems.add(place, what);
        problems
    }

    /// Notes a problem and the place where it stands.
    pub(super) fn add(&mut self, place: &str, what: impl fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// The value, or the problem that there is none.
    pub(super) fn take<T, E: fmt::Display>(
        &mut self,
        place: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.add(place, error)).ok()
    }

    /// What is wrong, one text each.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An address as a problem shows it: what has an `@` may hold a password, and is not shown.
pub(super) fn shown_address(text: &str) -> impl fmt::Display {
    if text.contains('@') { "its value".to_owned() } else { format!("`{}`", text.escape_debug()) }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "{count} problem{plural} with the settings:")?;
        self.0.iter().try_for_each(|line| write!(f, "\n- {line}"))
    }
}

impl std::error::Error for Problems {}

//! The problems of the settings, reported all at once.

use std::fmt;

/// Problems of the settings, one line each. Not empty when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(Vec<String>);

impl Problems {
    /// A single problem.
    pub(super) fn one(place: &str, what: impl fmt::Display) -> Self {
        let mut problems = Self::default();
        problems.add(place, what);
        problems
    }

    /// Adds a problem of the setting or section `place`.
    pub(super) fn add(&mut self, place: &str, what: impl fmt::Display) {
        self.0.push(format!("{place}: {what}"));
    }

    /// The value; an error is added as a problem of `place`.
    pub(super) fn take<T, E: fmt::Display>(
        &mut self,
        place: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        result.map_err(|error| self.add(place, error)).ok()
    }

    /// The problems, each with its place.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// An address for a problem's text; one with an `@` is not shown, since it may have a password.
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

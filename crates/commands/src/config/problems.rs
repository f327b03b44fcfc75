//! The problems of the settings, reported all at once.

use std::fmt;

/// A problem of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line of the settings file, counted from 1, where the value is written there.
    pub line: Option<usize>,
    /// What is wrong, where, and with which setting.
    pub text: String,
}

/// Problems of the settings. Not empty when it is an error.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Problems(pub(super) Vec<Problem>);

impl Problems {
    /// A single problem that concerns no setting, such as an unreadable file.
    pub(super) fn one(what: impl fmt::Display) -> Self {
        Self::at_line(None, what)
    }

    /// A single problem at a line of the settings file, which the text names.
    pub(super) fn at_line(line: Option<usize>, what: impl fmt::Display) -> Self {
        Self(vec![Problem { line, text: what.to_string() }])
    }

    /// The problems, each with its place.
    pub fn iter(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let count = self.0.len();
        let plural = if count == 1 { "" } else { "s" };
        write!(f, "{count} problem{plural} with the settings:")?;
        self.0.iter().try_for_each(|problem| write!(f, "\n- {problem}"))
    }
}

impl std::error::Error for Problems {}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

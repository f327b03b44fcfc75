//! Why a row of a list of redirects is left out.

/// Why a row leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// The path or the target is empty or too long, or the path has a query or an asterisk.
    Malformed,
    /// The path or the target is on a host that the site does not have.
    OtherHost,
    /// An earlier row has the same path.
    Duplicate,
    /// A document or a page has the path now.
    Live,
    /// The targets lead back to a path that was passed.
    Loop,
    /// No document has the target.
    NotFound,
}

impl Reason {
    /// A word for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::OtherHost => "other_host",
            Self::Duplicate => "duplicate",
            Self::Live => "live",
            Self::Loop => "loop",
            Self::NotFound => "target_not_found",
        }
    }
}

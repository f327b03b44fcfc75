//! Redirects of other systems, from CSV files: each leads to the document that its target has now, and
//! enters the path history like a path that the service has seen itself (D46).

mod file;
mod resolve;
mod site_path;

pub use file::{FileError, ImportFile};
pub use resolve::{Import, LeftOut, ListedPaths, Outcome, listed_paths};

/// Why a row leads nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, strum::IntoStaticStr)]
#[strum(serialize_all = "snake_case")]
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
    #[strum(serialize = "target_not_found")]
    NotFound,
}

impl Reason {
    /// A word for it.
    pub fn word(self) -> &'static str {
        self.into()
    }
}

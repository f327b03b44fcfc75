//! Redirects of other systems, from CSV files: each leads to the document that its target has now, and
//! enters the path history like a path that the service has seen itself (D46).

mod file;
mod reason;
mod resolve;
mod site_path;

pub use file::{FileError, ImportFile};
pub use reason::Reason;
pub use resolve::{Import, LeftOut, ListedPaths, Outcome, listed_paths};

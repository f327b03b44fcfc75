//! Paths that visitors could not find: a bounded summary of them, and which page was perhaps meant.
//!
//! - [`Summary`] counts the requests for each path, within a fixed memory, whatever is requested.
//! - [`suggest`] compares paths with all public URLs when the list is read, not when a path is counted:
//!   so that a page that is published later is suggested too.
//! - [`Misses`] is the table of both.

mod new_redirect;
mod scanners;
mod stored;
mod suggestion;
mod summary;
mod table;

pub use new_redirect::NewRedirect;
pub use suggestion::{Reason, Suggestion, suggest};
pub use summary::{MAX_KEY_BYTES, MAX_ROWS, MissKey, MissedPath, Summary, Tally};
pub use table::{MissCount, MissRow, MissSuggestion, Misses};

//! Links in the content of documents: a table of the internal ones, and what each of them leads to.
//!
//! The table has addresses as a browser reads them in the content, relative ones too, because where one
//! leads depends on the URL of its document. What is at an address is decided when the table is read, by
//! the same function that `/api/resolve` uses: an edit of either end changes the verdict at once, and no
//! frontend is asked.
//!
//! - [`KnownHosts`] tells internal addresses from others, when content is read.
//! - [`LinkTable`] is compact: each address and each text once.
//! - [`judge`] gives each link its [`Verdict`]; [`LinkRows`] is the table with them.

mod address;
mod judge;
mod known_hosts;
mod rows;
mod stored;
mod table;
mod texts;
mod verdict;

pub use address::{AddressKind, MAX_ADDRESS};
pub use judge::{Judged, LinkFilter, PageLookup, judge};
pub use known_hosts::KnownHosts;
pub use rows::{ContentLink, LinkFigures, LinkRows, Linking, VerdictCounts};
pub use table::{LinkTable, Missing, NewLink, TableSummary};
pub use verdict::{Target, Verdict};

#[cfg(test)]
mod tests;

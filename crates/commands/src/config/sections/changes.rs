//! `[changes]`: how many changes of the pages of a site are kept.

pub(in crate::config) mod notify;

use crate::config::section::Section;
use crate::config::value::whole;

/// The largest value of `keep`: so many changes take up to 200 MB for each site.
const MAX_KEEP: u64 = 1_000_000;

/// What the settings say about the change log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    /// How many changes of each site are kept.
    pub keep: usize,
}

pub(in crate::config) fn read(changes: &mut Section<'_>) -> Changes {
    Changes { keep: changes.get("keep", whole(1..=MAX_KEEP)) }
}

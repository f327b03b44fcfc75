//! `[changes]`: how many changes of the pages of a site are kept.

pub(in crate::config) mod notify;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_catalog::changes::log::DEFAULT_KEEP;

/// The largest value of `keep`: so many changes take up to 200 MB for each site.
const MAX_KEEP: usize = 1_000_000;

/// What the settings say about the change log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Changes {
    /// How many changes of each site are kept.
    pub keep: usize,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct ChangesToml {
    keep: usize,
}

impl Default for ChangesToml {
    fn default() -> Self {
        Self { keep: DEFAULT_KEEP }
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Changes {
    let ChangesToml { keep } = table::read(table, "changes", problems);
    if !(1..=MAX_KEEP).contains(&keep) {
        problems.add("changes.keep", format_args!("must be between 1 and {MAX_KEEP}"));
    }
    Changes { keep }
}

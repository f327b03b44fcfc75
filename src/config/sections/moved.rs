//! `[moved]`: how paths are redirected that documents had before, and how long they are kept.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::config::Problems;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_catalog::moved::history::Limits;
use frontend_map_catalog::moved::import::ImportFile;

/// The statuses of redirects that frontends send (RFC 9110, section 15.4).
const STATUSES: [u16; 4] = [301, 302, 307, 308];

/// The most paths that can be set: they take 2 GB.
const MAX_PATHS: usize = 10_000_000;

/// The longest time that can be set: a century.
const MAX_DAYS: u32 = 36_500;

const MILLISECONDS_A_DAY: i64 = 24 * 60 * 60 * 1_000;

/// What the settings say about paths that have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The status with which a frontend redirects.
    pub status: u16,
    /// The bounds of the path history.
    pub limits: Limits,
}

#[derive(Debug, Deserialize)]
#[serde(default)]
struct MovedToml {
    status: u16,
    max_paths: usize,
    keep_days: u32,
    import: Vec<PathBuf>,
}

impl Default for MovedToml {
    fn default() -> Self {
        Self { status: 308, max_paths: 1_000_000, keep_days: 730, import: Vec::new() }
    }
}

/// The section, and the lists of redirects that it names.
pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    problems: &mut Problems,
) -> (Moved, Vec<ImportFile>) {
    let toml: MovedToml = table::read(table, "moved", problems);
    if !STATUSES.contains(&toml.status) {
        problems.add("moved.status", "must be 301, 302, 307 or 308");
    }
    if toml.max_paths > MAX_PATHS {
        problems.add("moved.max_paths", format_args!("must be at most {MAX_PATHS}"));
    }
    if !(1..=MAX_DAYS).contains(&toml.keep_days) {
        problems.add("moved.keep_days", format_args!("must be between 1 and {MAX_DAYS}"));
    }
    let keep = i64::from(toml.keep_days) * MILLISECONDS_A_DAY;
    let moved = Moved { status: toml.status, limits: Limits { max_paths: toml.max_paths, keep } };
    let files = toml
        .import
        .iter()
        .filter_map(|path| problems.take("moved.import", read_list(&context.base_dir.join(path))));
    (moved, files.collect())
}

/// A list of redirects.
fn read_list(path: &Path) -> Result<ImportFile, String> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    ImportFile::parse(&shown.to_string(), &bytes).map_err(|error| format!("{shown}: {error}"))
}

//! `[moved]`: how paths are redirected that documents had before, and how long they are kept.

use std::fs;
use std::path::Path;

use config::Value;

use crate::config::section::Section;
use crate::config::value::whole;
use frontend_map_catalog::moved::history::Limits;
use frontend_map_catalog::moved::import::ImportFile;

/// The statuses of redirects that frontends send (RFC 9110, section 15.4).
const STATUSES: [u16; 4] = [301, 302, 307, 308];

/// The most paths that can be set: they take 2 GB.
const MAX_PATHS: u64 = 10_000_000;

/// The longest time that can be set: a century.
const MAX_DAYS: u64 = 36_500;

const MILLISECONDS_A_DAY: i64 = 24 * 60 * 60 * 1_000;

/// What the settings say about paths that have moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The status with which a frontend redirects.
    pub status: u16,
    /// The bounds of the path history.
    pub limits: Limits,
}

/// The section, and the lists of redirects that it names.
pub(in crate::config) fn read(moved: &mut Section<'_>) -> (Moved, Vec<ImportFile>) {
    let base_dir = moved.reader.base_dir;
    let keep_days: i64 = moved.get("keep_days", whole(1..=MAX_DAYS));
    let limits = Limits {
        max_paths: moved.get("max_paths", whole(..=MAX_PATHS)),
        keep: keep_days * MILLISECONDS_A_DAY,
    };
    let imports = moved.each("import", |path| read_list(&base_dir.join(path)));
    (Moved { status: moved.get("status", status), limits }, imports)
}

fn status(value: &Value) -> Result<u16, String> {
    let status = whole(..)(value)?;
    if STATUSES.contains(&status) {
        return Ok(status);
    }
    Err("must be 301, 302, 307 or 308".to_owned())
}

/// A list of redirects.
fn read_list(path: &Path) -> Result<ImportFile, String> {
    let shown = path.display();
    let bytes = fs::read(path).map_err(|error| format!("{shown}: {error}"))?;
    ImportFile::parse(&shown.to_string(), &bytes).map_err(|error| format!("{shown}: {error}"))
}

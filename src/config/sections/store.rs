//! `[store]`: the file in which snapshots survive the process.

use std::path::PathBuf;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::sources::Context;
use crate::config::table;
use crate::config::value::Table;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StoreToml {
    path: Option<PathBuf>,
}

/// The path of the file; `None`: snapshots are in memory only.
pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    problems: &mut Problems,
) -> Option<PathBuf> {
    let toml: StoreToml = table::read(table, "store", problems);
    let path = toml.path.filter(|path| !path.as_os_str().is_empty())?;
    Some(context.base_dir.join(path))
}

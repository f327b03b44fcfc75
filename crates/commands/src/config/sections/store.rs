//! `[store]`: the file in which snapshots survive the process.

use std::path::PathBuf;

use crate::config::section::Section;
use crate::config::value::text;

/// The path of the file; `None`: snapshots are in memory only.
pub(in crate::config) fn read(store: &mut Section<'_>) -> Option<PathBuf> {
    let path = store.optional("path", text)?;
    (!path.is_empty()).then(|| store.reader.base_dir.join(path))
}

//! Rows beside the snapshots, each of which replaces the one before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic, writing};

/// What a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKind {
    /// By site and content type: the last run of URL checks.
    Run,
    /// By source and site: the paths that were not found.
    Misses,
    /// By target and site: how far webhooks have been sent.
    Position,
    /// By source and site: the links in content.
    Links,
}

/// The kind and the key of a row.
pub(crate) type RowKey = (RowKind, String);

/// Serializes a row, in the thread that writes it.
pub(crate) type RowBytes = Arc<dyn Fn() -> Vec<u8> + Send + Sync>;

impl RowKind {
    pub(super) const ALL: [Self; 4] = [Self::Run, Self::Misses, Self::Position, Self::Links];

    pub(super) fn table(self) -> TableDefinition<'static, &'static str, &'static [u8]> {
        TableDefinition::new(match self {
            Self::Run => "check_runs",
            Self::Misses => "misses",
            Self::Position => "positions",
            Self::Links => "links",
        })
    }
}

/// The key of the last run of a content type of a site. Neither name has a space.
pub(crate) fn run_key(site: &str, uid: &str) -> String {
    format!("{site} {uid}")
}

impl StoreFile {
    /// Writes rows in one transaction.
    pub(crate) fn write_rows(&self, rows: &BTreeMap<RowKey, RowBytes>) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            for ((kind, key), bytes) in rows {
                transaction.open_table(kind.table())?.insert(&**key, &*bytes())?;
            }
            Ok(transaction.commit()?)
        })
    }

    /// The bytes of a row.
    pub(crate) fn row(&self, kind: RowKind, key: &str) -> Result<Option<Vec<u8>>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let row = transaction.open_table(kind.table())?.get(key)?;
            Ok(row.map(|row| row.value().to_vec()))
        })
    }
}

//! Rows beside the snapshots, each of which replaces the one before it.

use std::collections::BTreeMap;
use std::sync::Arc;

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic, writing};

/// What is behind the content type in the name of a run that judged pages: runs of one content type are
/// dropped together.
pub const CONTENT_RUN: &str = "#content";

/// Names a row beside the snapshots.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct RowKey {
    pub(crate) kind: RowKind,
    /// None of the names in it has a space.
    pub(crate) key: String,
}

/// What a row has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum RowKind {
    Run,
    Misses,
    Position,
    Links,
}

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

impl RowKey {
    /// The last run of URL checks of a site. The name begins with the content type.
    pub fn run(site: &str, name: &str) -> Self {
        Self { kind: RowKind::Run, key: format!("{site} {name}") }
    }

    /// The paths that were not found on a site whose documents come from this source.
    pub fn misses(source: u128, site: &str) -> Self {
        Self { kind: RowKind::Misses, key: format!("{source:032x} {site}") }
    }

    /// How far webhooks about one site have been sent to a target: `target` names both.
    pub fn position(target: &str) -> Self {
        Self { kind: RowKind::Position, key: target.to_owned() }
    }

    /// The links in the content of a site whose documents come from this source.
    pub fn links(source: u128, site: &str) -> Self {
        Self { kind: RowKind::Links, key: format!("{source:032x} {site}") }
    }
}

impl StoreFile {
    /// Writes rows in one transaction.
    pub(crate) fn write_rows(&self, rows: &BTreeMap<RowKey, RowBytes>) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            for (RowKey { kind, key }, bytes) in rows {
                transaction.open_table(kind.table())?.insert(&**key, &*bytes())?;
            }
            Ok(transaction.commit()?)
        })
    }

    /// The bytes of a row.
    pub(crate) fn row(&self, row: &RowKey) -> Result<Option<Vec<u8>>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let row = transaction.open_table(row.kind.table())?.get(&*row.key)?;
            Ok(row.map(|row| row.value().to_vec()))
        })
    }
}

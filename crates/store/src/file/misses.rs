//! The paths that were not found, in the file.

use std::collections::BTreeMap;

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic, writing};

/// By source and site: a summary of the catalog.
pub(super) const MISSES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("misses");

impl StoreFile {
    /// Writes summaries in place of those before them.
    pub(crate) fn write_misses(&self, misses: &BTreeMap<String, Vec<u8>>) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            {
                let mut table = transaction.open_table(MISSES)?;
                for (key, bytes) in misses {
                    table.insert(&**key, &**bytes)?;
                }
            }
            Ok(transaction.commit()?)
        })
    }

    /// The bytes of a summary.
    pub(crate) fn misses(&self, key: &str) -> Result<Option<Vec<u8>>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let misses = transaction.open_table(MISSES)?.get(key)?;
            Ok(misses.map(|misses| misses.value().to_vec()))
        })
    }
}

//! The last run of URL checks of each content type in the file.

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic, writing};
use crate::queue::TypeKey;

/// By site and content type: what the validator has serialized.
pub(super) const RUNS: TableDefinition<'_, (&str, &str), &[u8]> = TableDefinition::new("runs");

impl StoreFile {
    /// Writes a run in place of the one before it.
    pub(crate) fn write_run(&self, (site, uid): &TypeKey, bytes: &[u8]) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            transaction.open_table(RUNS)?.insert((&**site, &**uid), bytes)?;
            Ok(transaction.commit()?)
        })
    }

    /// The bytes of the last run.
    pub(crate) fn run(&self, site: &str, uid: &str) -> Result<Option<Vec<u8>>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let run = transaction.open_table(RUNS)?.get((site, uid))?;
            Ok(run.map(|run| run.value().to_vec()))
        })
    }
}

//! How far webhooks have been sent, in the file.

use std::collections::BTreeMap;

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic};

/// By target and site: what the notifier has written.
pub(super) const POSITIONS: TableDefinition<'_, &str, &str> =
    TableDefinition::new("webhook_positions");

impl StoreFile {
    /// Writes positions in place of those before them.
    pub(crate) fn write_positions(
        &self,
        positions: &BTreeMap<String, String>,
    ) -> Result<(), FileError> {
        without_panic(|| {
            let transaction = self.database.begin_write()?;
            {
                let mut table = transaction.open_table(POSITIONS)?;
                for (key, position) in positions {
                    table.insert(&**key, &**position)?;
                }
            }
            Ok(transaction.commit()?)
        })
    }

    /// A position.
    pub(crate) fn position(&self, key: &str) -> Result<Option<String>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let position = transaction.open_table(POSITIONS)?.get(key)?;
            Ok(position.map(|position| position.value().to_owned()))
        })
    }
}

//! How far webhooks have been sent, in the file.

use std::collections::BTreeMap;

use redb::{ReadableDatabase, TableDefinition};

use super::{FileError, StoreFile, without_panic};

/// By target and site: what the notifier has written.
pub(super) const DELIVERIES: TableDefinition<'_, &str, &str> = TableDefinition::new("deliveries");

impl StoreFile {
    /// Writes positions in place of those before them.
    pub(in crate::store) fn write_deliveries(
        &self,
        positions: &BTreeMap<String, String>,
    ) -> Result<(), FileError> {
        without_panic(|| {
            let transaction = self.database.begin_write()?;
            {
                let mut table = transaction.open_table(DELIVERIES)?;
                for (key, position) in positions {
                    table.insert(&**key, &**position)?;
                }
            }
            Ok(transaction.commit()?)
        })
    }

    /// A position.
    pub(in crate::store) fn delivery(&self, key: &str) -> Result<Option<String>, FileError> {
        without_panic(|| {
            let transaction = self.database.begin_read()?;
            let position = transaction.open_table(DELIVERIES)?.get(key)?;
            Ok(position.map(|position| position.value().to_owned()))
        })
    }
}

//! The rows of the change logs in the file.

use std::collections::{BTreeMap, VecDeque};

use redb::{ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::{FileError, StoreFile, without_panic, writing};
use frontend_map_catalog::changes::log::{Entry, LogHead, Prepared, Recorder};

/// By site: the head of its log.
const CHANGE_LOGS: TableDefinition<'_, &str, &str> = TableDefinition::new("change_logs");
/// By site and sequence number: the bytes of a change.
const CHANGES: TableDefinition<'_, &str, &[u8]> = TableDefinition::new("change_entries");

/// A log by its site, with its entries.
type StoredLog = (String, LogHead, VecDeque<Entry>);

/// Creates the tables that the file lacks.
pub(super) fn open(transaction: &WriteTransaction) -> Result<(), FileError> {
    transaction.open_table(CHANGE_LOGS)?;
    transaction.open_table(CHANGES)?;
    Ok(())
}

/// Appends changes to the log of their site, of which the last ones are kept.
pub(super) fn write(
    transaction: &WriteTransaction,
    changes: Option<&Prepared>,
    keep: usize,
) -> Result<(), FileError> {
    let Some(prepared) = changes else { return Ok(()) };
    let (site, head) = (prepared.site(), prepared.head());
    let (mut logs, mut rows) =
        (transaction.open_table(CHANGE_LOGS)?, transaction.open_table(CHANGES)?);
    let known = logs.get(site)?.and_then(|row| head_of(row.value()));
    if known.is_none_or(|known| known.log != head.log) {
        rows.retain_in(&*key(site, 0)..=&*key(site, u64::MAX), |_, _| false)?;
    }
    for (sequence, entry) in prepared.batch().numbered(head.last) {
        rows.insert(&*key(site, sequence), entry.bytes())?;
    }
    let last = head.last + prepared.batch().len();
    let dropped = last.saturating_sub(keep as u64);
    rows.retain_in(&*key(site, 0)..=&*key(site, dropped), |_, _| false)?;
    let head = serde_json::to_string(&LogHead { last, ..head });
    logs.insert(site, &*head.expect("numbers are JSON"))?;
    Ok(())
}

impl StoreFile {
    /// Gives the change logs to the recorder, or their heads alone if `resumes`: the recorder goes on with
    /// its own after a failure of the file. One that is idle gets none, and the logs end: what follows
    /// is not in the file, and a later process must not continue them without it.
    pub(crate) fn read_change_logs(
        &self,
        recorder: &Recorder,
        resumes: bool,
    ) -> Result<(), FileError> {
        if recorder.is_idle() {
            return self.end_change_logs();
        }
        without_panic(|| {
            let logs = read(&self.database.begin_read()?)?;
            if resumes {
                recorder.resume(logs.into_iter().map(|(site, head, _)| (site, head)));
            } else {
                recorder.replace_all(logs);
            }
            Ok(())
        })
    }

    fn end_change_logs(&self) -> Result<(), FileError> {
        writing(|| {
            let transaction = self.database.begin_write()?;
            transaction.open_table(CHANGE_LOGS)?.retain(|_, _| false)?;
            transaction.open_table(CHANGES)?.retain(|_, _| false)?;
            Ok(transaction.commit()?)
        })
    }
}

/// All logs. The log of a site that lacks a row is left out, unless it has no rows at all: then it goes on
/// after its last change.
fn read(transaction: &ReadTransaction) -> Result<Vec<StoredLog>, FileError> {
    let mut logs: BTreeMap<String, (LogHead, VecDeque<Entry>)> = BTreeMap::new();
    for row in transaction.open_table(CHANGE_LOGS)?.iter()? {
        let (site, head) = row?;
        if let Some(head) = head_of(head.value()) {
            logs.insert(site.value().to_owned(), (head, VecDeque::new()));
        }
    }
    let mut next = BTreeMap::<String, u64>::new();
    for row in transaction.open_table(CHANGES)?.iter()? {
        let (key, value) = row?;
        let Some((site, sequence)) = key.value().split_once(' ') else { continue };
        let Some((_, entries)) = logs.get_mut(site) else { continue };
        let sequence = u64::from_str_radix(sequence, 16).ok();
        let expected = next.get(site).copied().or(sequence);
        match (sequence.filter(|_| sequence == expected), Entry::read(value.value())) {
            (Some(sequence), Some(entry)) => {
                entries.push_back(entry);
                next.insert(site.to_owned(), sequence + 1);
            }
            _ => _ = logs.remove(site),
        }
    }
    let is_whole = |(site, (head, entries)): &(String, (LogHead, VecDeque<Entry>))| {
        entries.is_empty() || next.get(site) == Some(&(head.last + 1))
    };
    let whole = logs.into_iter().filter(is_whole);
    Ok(whole.map(|(site, (head, entries))| (site, head, entries)).collect())
}

fn key(site: &str, sequence: u64) -> String {
    format!("{site} {sequence:016x}")
}

fn head_of(value: &str) -> Option<LogHead> {
    serde_json::from_str(value).ok()
}

//! The rows of the change logs in the file.

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::sync::Arc;

use redb::{ReadTransaction, ReadableDatabase, ReadableTable, TableDefinition, WriteTransaction};

use super::{FileError, StoreFile, without_panic, writing};
use frontend_map_catalog::changes::log::{Change, Entry, Kind, LogHead, Prepared, Recorder};

/// By site: the identity of its log, the source of its documents, and the last sequence number.
const CHANGE_LOGS: TableDefinition<'_, &str, &str> = TableDefinition::new("change_logs");
/// By site and sequence number: a change. None of the names in front of the last one has a space.
const CHANGES: TableDefinition<'_, &str, &str> = TableDefinition::new("changes");

/// A log by its site, with its entries.
type StoredLog = (String, LogHead, VecDeque<Entry>);

/// Creates the tables in a new file.
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
        rows.insert(&*key(site, sequence), &*value(entry.change()))?;
    }
    let last = head.last + prepared.batch().len();
    let dropped = last.saturating_sub(keep as u64);
    rows.retain_in(&*key(site, 0)..=&*key(site, dropped), |_, _| false)?;
    logs.insert(site, &*head_value(LogHead { last, ..head }))?;
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

/// All logs. The log of a site from which a row is missing is left out.
fn read(transaction: &ReadTransaction) -> Result<Vec<StoredLog>, FileError> {
    let mut logs: BTreeMap<String, (LogHead, VecDeque<Entry>)> = BTreeMap::new();
    for row in transaction.open_table(CHANGE_LOGS)?.iter()? {
        let (site, head) = row?;
        if let Some(head) = head_of(head.value()) {
            logs.insert(site.value().to_owned(), (head, VecDeque::new()));
        }
    }
    let (mut names, mut next) = (Names::default(), BTreeMap::<String, u64>::new());
    for row in transaction.open_table(CHANGES)?.iter()? {
        let (key, value) = row?;
        let Some((site, sequence)) = key.value().split_once(' ') else { continue };
        let Some((_, entries)) = logs.get_mut(site) else { continue };
        let sequence = u64::from_str_radix(sequence, 16).ok();
        let expected = next.get(site).copied().or(sequence);
        match (sequence.filter(|_| sequence == expected), names.entry(value.value())) {
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

fn head_value(LogHead { log, source, last }: LogHead) -> String {
    format!("{log:016x} {source:032x} {last:x}")
}

fn head_of(value: &str) -> Option<LogHead> {
    let mut parts = value.split(' ');
    Some(LogHead {
        log: u64::from_str_radix(parts.next()?, 16).ok()?,
        source: u128::from_str_radix(parts.next()?, 16).ok()?,
        last: u64::from_str_radix(parts.next()?, 16).ok()?,
    })
}

fn value(change: Change<'_>) -> String {
    let Change { kind, uid, document_id, locale, path, from, at, was_listed, is_listed } = change;
    let (kind, from) = (kind.name(), from.unwrap_or("-"));
    let listed = u8::from(was_listed) << 1 | u8::from(is_listed);
    format!("{at} {kind} {listed} {locale} {uid} {path} {from} {document_id}")
}

/// The names in entries, each of which is kept once.
#[derive(Default)]
struct Names(HashSet<Arc<str>>);

impl Names {
    fn shared(&mut self, name: &str) -> Arc<str> {
        if let Some(known) = self.0.get(name) {
            return Arc::clone(known);
        }
        let name: Arc<str> = name.into();
        self.0.insert(Arc::clone(&name));
        name
    }

    /// `None`: the row cannot be read.
    fn entry(&mut self, value: &str) -> Option<Entry> {
        let mut parts = value.splitn(8, ' ');
        let mut next = || parts.next();
        let (at, kind, listed) = (next()?.parse().ok()?, Kind::named(next()?)?, next()?);
        let (locale, uid, path, from, document_id) = (next()?, next()?, next()?, next()?, next()?);
        let listed: u8 = listed.parse().ok().filter(|listed| *listed < 4)?;
        let from = kind.has_from().then_some(from);
        let is_path = |path: &str| path.starts_with('/') && u16::try_from(path.len()).is_ok();
        if !is_path(path) || !from.is_none_or(is_path) {
            return None;
        }
        let (was_listed, is_listed) = (listed & 2 != 0, listed & 1 != 0);
        let change =
            Change { kind, uid, document_id, locale, path, from, at, was_listed, is_listed };
        Some(Entry::new(change, &self.shared(uid), &self.shared(locale)))
    }
}

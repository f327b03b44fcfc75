//! The body of a serialized snapshot: everything from which it can be built again.

use super::bytes::{write_number, write_signed};
use super::columns::{ColumnReaders, Columns};
use super::rows;
use super::{Titles, Unreadable};
use crate::snapshot::Snapshot;
use crate::snapshot::build::{Builder, Draft, OwnersFrom};
use crate::snapshot::entry::{Entry, Flags};
use crate::snapshot::hash::document_hash;

/// The bytes of a snapshot.
pub(super) fn write(snapshot: &Snapshot, titles: Titles) -> Vec<u8> {
    let mut columns = Columns::new(titles);
    write_number(&mut columns.other, snapshot.hosts.len() as u64);
    for host in &snapshot.hosts {
        write_number(&mut columns.other, u64::from(*host));
    }
    write_entries(snapshot, &mut columns);
    rows::write(snapshot, &mut columns);
    rows::write_references(snapshot, &mut columns);
    columns.other.extend(snapshot.urls_hash.to_le_bytes());
    columns.join()
}

/// The snapshot of these bytes, or some documents of one (`is_part`).
pub(super) fn read(
    bytes: &[u8],
    titles: Titles,
    builder: Builder,
    is_part: bool,
) -> Result<Snapshot, Unreadable> {
    let mut columns = ColumnReaders::split(bytes, titles)?;
    let hosts = columns.other.count()?;
    let hosts: Result<Box<[u16]>, Unreadable> =
        (0..hosts).map(|_| columns.other.narrow()).collect();
    let mut draft = Draft { hosts: hosts?, is_part, ..Draft::default() };
    let mut documents = Vec::new();
    read_entries(&mut columns, &mut draft, &mut documents)?;
    rows::read(&mut columns, &mut draft)?;
    draft.references = rows::read_references(&mut columns, documents)?;
    let hash: [u8; 16] = columns.other.bytes(16)?.try_into().expect("16 bytes");
    columns.end()?;
    let snapshot = builder.finish_draft(draft, OwnersFrom::Flags);
    let snapshot = snapshot.map_err(|_| Unreadable::Malformed("it has too much text"))?;
    if snapshot.urls_hash.to_le_bytes() != hash {
        return Err(Unreadable::Malformed("its URLs differ from those that were written"));
    }
    Ok(snapshot)
}

fn write_entries(snapshot: &Snapshot, columns: &mut Columns) {
    write_number(&mut columns.facts, snapshot.entries.len() as u64);
    let mut date = 0;
    for entry in &snapshot.entries {
        let facts = &mut columns.facts;
        facts.push(entry.flags.bits());
        write_number(facts, entry.rule.into());
        write_number(facts, entry.locale.into());
        write_number(facts, entry.path_len.into());
        // The other versions of a document follow the first one.
        if entry.flags.has(Flags::FIRST) {
            write_number(facts, entry.id_len.into());
            columns.ids.extend(entry.id(&snapshot.arena).as_bytes());
        }
        columns.paths.extend(entry.path(&snapshot.arena).as_bytes());
        columns.write_title(entry.title(&snapshot.arena));
        write_signed(&mut columns.dates, entry.modified.wrapping_sub(date));
        date = entry.modified;
    }
}

/// Adds the hash of each document to `documents`, in order.
fn read_entries(
    columns: &mut ColumnReaders<'_>,
    draft: &mut Draft,
    documents: &mut Vec<u64>,
) -> Result<(), Unreadable> {
    let count = columns.facts.count()?;
    draft.entries = Vec::with_capacity(count);
    let (mut date, mut id) = (0_i64, "");
    for _ in 0..count {
        let facts = &mut columns.facts;
        let flags = Flags::of_bits(facts.byte()?);
        let flags = flags.ok_or(Unreadable::Malformed("a flag is unknown"))?;
        let (rule, locale, path_len) = (facts.narrow()?, facts.narrow()?, facts.narrow::<u16>()?);
        if flags.has(Flags::FIRST) {
            id = columns.ids.text(facts.narrow::<u8>()?.into())?;
            documents.push(document_hash(id));
        }
        let path = columns.paths.text(path_len.into())?;
        if id.is_empty() || !is_path(path) || !has_locale(draft, locale) {
            return Err(Unreadable::Malformed("a URL is none"));
        }
        date = date.wrapping_add(columns.dates.signed()?);
        let title = columns.title()?;
        let text = draft.arena.push([path, id, title]);
        draft.entries.push(Entry {
            text: text.ok_or(Unreadable::Malformed("it has too much text"))?,
            rule,
            path_len,
            id_len: u8::try_from(id.len()).expect("it was read as one of 8 bits"),
            title_len: u16::try_from(title.len()).expect("it was read as one of 16 bits"),
            locale,
            flags,
            modified: date,
        });
    }
    Ok(())
}

/// Whether a text has the form of a path on the frontend: absolute, of printable ASCII, and not the
/// beginning of a host.
fn is_path(path: &str) -> bool {
    path.starts_with('/') && !path.starts_with("//") && path.bytes().all(|b| b.is_ascii_graphic())
}

fn has_locale(draft: &Draft, locale: u16) -> bool {
    draft.hosts.is_empty() || usize::from(locale) < draft.hosts.len()
}

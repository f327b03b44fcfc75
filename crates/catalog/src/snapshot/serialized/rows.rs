//! What a snapshot knows of versions without a URL, and which versions read which documents.

use rustc_hash::FxHashMap;

use super::Unreadable;
use super::bytes::{Reader, write_number, write_signed, write_text};
use super::columns::{ColumnReaders, Columns};
use crate::snapshot::build::Draft;
use crate::snapshot::entry::{Entry, Flags};
use crate::snapshot::hash::document_hash;
use crate::snapshot::no_url::NoUrlRow;
use crate::snapshot::references::{Reference, References};
use crate::snapshot::{Skipped, Snapshot};
use frontend_map_rules::FieldPath;

pub(super) fn write(snapshot: &Snapshot, columns: &mut Columns) {
    write_number(&mut columns.other, snapshot.no_url().len() as u64);
    for row in snapshot.no_url() {
        columns.write_title(row.title.unwrap_or_default());
        let Columns { other, ids, .. } = columns;
        write_number(other, row.rule as u64);
        // 0: its locale is not text.
        write_number(other, row.locale.map_or(0, |locale| locale as u64 + 1));
        other.push(u8::from(row.is_localized));
        write_text(other, row.reason);
        write_text(ids, row.document_id);
    }
    let other = &mut columns.other;
    write_number(other, snapshot.no_url.beyond().len() as u64);
    for key in snapshot.no_url.beyond() {
        other.extend(key.to_le_bytes());
    }
    for skipped in [&snapshot.skipped, &snapshot.without_row] {
        write_number(other, skipped.by_reason().count() as u64);
        for (reason, count) in skipped.by_reason() {
            write_text(other, reason);
            write_number(other, count);
        }
    }
}

pub(super) fn read(columns: &mut ColumnReaders<'_>, draft: &mut Draft) -> Result<(), Unreadable> {
    for _ in 0..columns.other.count()? {
        let title = columns.title()?;
        let ColumnReaders { other, ids, .. } = columns;
        let rule = other.narrow()?;
        let locale = usize::from(other.narrow::<u16>()?).checked_sub(1);
        let is_localized = other.byte()? != 0;
        let (reason, document_id) = (other.sized_text()?, ids.sized_text()?);
        let row = NoUrlRow { document_id, locale, is_localized, reason, rule, title: None };
        draft.no_url.add(row, [title, ""], &mut draft.arena);
    }
    let other = &mut columns.other;
    let beyond = other.count()?;
    let beyond: Result<Vec<u64>, Unreadable> = (0..beyond).map(|_| other.word()).collect();
    draft.no_url.add_beyond(beyond?.into_iter());
    draft.skipped = read_skipped(other)?;
    draft.without_row = read_skipped(other)?;
    Ok(())
}

fn read_skipped(other: &mut Reader<'_>) -> Result<Skipped, Unreadable> {
    let mut skipped = Skipped::default();
    for _ in 0..other.count()? {
        let reason = other.sized_text()?;
        skipped.count(reason, other.number()?);
    }
    Ok(skipped)
}

/// A reference names its document by the position among all known ones, or by its hash. It has the
/// difference from the position before, which is small where documents follow each other.
pub(super) fn write_references(snapshot: &Snapshot, columns: &mut Columns) {
    let (references, column) = (&snapshot.references, &mut columns.references);
    let ids = references.ids_without_entry();
    write_number(column, ids.len() as u64);
    for id in &ids {
        write_text(column, id);
    }
    write_number(column, references.examples().len() as u64);
    for (relation, id) in references.examples() {
        write_text(column, &relation.to_string());
        write_text(column, id);
    }
    write_number(column, references.all().len() as u64);
    if references.all().is_empty() {
        return;
    }
    let hashes = documents(snapshot).chain(ids.iter().map(|id| document_hash(id)));
    let positions: FxHashMap<u64, i64> = hashes.zip(1..).collect();
    let (mut key, mut position) = (0, 0);
    for reference in references.all() {
        write_number(column, reference.key() - key);
        key = reference.key();
        // 0: it is not among them.
        let own = positions.get(&reference.document()).copied().unwrap_or(0);
        write_signed(column, own - position);
        position = own;
        if own == 0 {
            column.extend(reference.document().to_le_bytes());
        }
    }
}

/// The hash of each document, in the order of the entries.
fn documents(snapshot: &Snapshot) -> impl Iterator<Item = u64> {
    let is_first = |entry: &&Entry| entry.flags.has(Flags::FIRST);
    let entries = snapshot.entries.iter().filter(is_first);
    entries.map(|entry| document_hash(entry.id(&snapshot.arena)))
}

/// `documents` has the hashes of the documents of all entries, in order.
pub(super) fn read_references(
    columns: &mut ColumnReaders<'_>,
    mut documents: Vec<u64>,
) -> Result<References, Unreadable> {
    let column = &mut columns.references;
    let count = column.count()?;
    let ids: Result<Vec<&str>, Unreadable> = (0..count).map(|_| column.sized_text()).collect();
    let ids = ids?;
    documents.extend(ids.iter().map(|id| document_hash(id)));
    let count = column.count()?;
    let examples: Result<Vec<_>, Unreadable> = (0..count).map(|_| read_example(column)).collect();
    let count = column.count()?;
    let mut all = Vec::with_capacity(count);
    let (mut key, mut position) = (0_u64, 0_i64);
    for _ in 0..count {
        key = key.wrapping_add(column.number()?);
        position = position.wrapping_add(column.signed()?);
        let document = match usize::try_from(position) {
            Ok(0) => column.word()?,
            Ok(at) => *documents.get(at - 1).ok_or(UNKNOWN_DOCUMENT)?,
            Err(_) => return Err(UNKNOWN_DOCUMENT),
        };
        all.push(Reference::of_key(key, document));
    }
    Ok(References::new(all, &ids, examples?))
}

/// A relation, and the id of a document behind it.
fn read_example(column: &mut Reader<'_>) -> Result<(FieldPath, Box<str>), Unreadable> {
    let relation = FieldPath::parse(column.sized_text()?).ok_or(NO_RELATION)?;
    Ok((relation, column.sized_text()?.into()))
}

const NO_RELATION: Unreadable = Unreadable::Malformed("a name is no relation");
const UNKNOWN_DOCUMENT: Unreadable = Unreadable::Malformed("a reference leads to no document");

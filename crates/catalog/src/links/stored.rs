//! A table as bytes, for the store and for other instances: complete, or refused.

use xxhash_rust::xxh3::xxh3_128;

use super::table::{DocumentKey, LinkRow, LinkTable, Missing, NOT_LOCALIZED};
use crate::site::Site;
use crate::snapshot::Unreadable;
use crate::snapshot::serialized::bytes::{Reader, write_number, write_signed, write_text};
use crate::snapshot::serialized::{deflate, inflate};

/// The first bytes.
const MAGIC: [u8; 8] = *b"FMAPLINK";
/// The format; it changes with the form of the bytes or their meaning.
const FORMAT: u8 = 2;

const MALFORMED: UnreadableLinks = UnreadableLinks::Malformed("a position is out of range");

/// Why bytes are not the table of links of a site.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum UnreadableLinks {
    /// They do not begin like one.
    #[error("not a table of links")]
    NotATable,
    /// Another version of the service has written them.
    #[error("a table of links of the unknown format {0}")]
    OtherFormat(u8),
    /// A byte has changed, or some are missing.
    #[error("the checksum of the table of links does not match")]
    Checksum,
    /// The settings had other fields, locales, hosts or another content source.
    #[error("made by other settings")]
    OtherSettings,
    /// The checksum matches, but the content contradicts itself.
    #[error("the table of links is malformed: {0}")]
    Malformed(&'static str),
}

impl From<Unreadable> for UnreadableLinks {
    fn from(error: Unreadable) -> Self {
        match error {
            Unreadable::NotASnapshot => Self::NotATable,
            Unreadable::OtherFormat(format) => Self::OtherFormat(format),
            Unreadable::Checksum => Self::Checksum,
            Unreadable::Malformed(what) => Self::Malformed(what),
        }
    }
}

impl LinkTable {
    /// The bytes of which [`LinkTable::from_bytes`] makes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut body = Vec::new();
        body.extend(self.fingerprint.to_le_bytes());
        write_signed(&mut body, self.read_at);
        write_missing(&mut body, self.missing_elsewhere);
        write_number(&mut body, self.missing.len() as u64);
        for (key, missing) in &self.missing {
            write_key(&mut body, key);
            write_missing(&mut body, *missing);
        }
        write_number(&mut body, self.texts.len() as u64);
        for number in 0..self.texts.len() {
            // There are fewer than 2³².
            write_text(&mut body, self.texts.get(u32::try_from(number).unwrap_or_default()));
        }
        write_number(&mut body, self.documents.len() as u64);
        for (key, rows) in &self.documents {
            write_key(&mut body, key);
            write_number(&mut body, rows.len() as u64);
            for row in rows {
                for number in [row.address, row.text, row.locale.into(), row.field.into()] {
                    write_number(&mut body, number.into());
                }
            }
        }
        let mut checked = vec![FORMAT];
        write_number(&mut checked, body.len() as u64);
        checked.extend(deflate(&body));
        let checksum = xxh3_128(&checked).to_le_bytes();
        [MAGIC.as_slice(), &checksum, &checked].concat()
    }

    /// The table of a site, which takes at most this much memory in bytes.
    ///
    /// # Errors
    /// [`UnreadableLinks`] if the bytes are not what was written, or of other settings.
    pub fn from_bytes(
        bytes: &[u8],
        site: &Site,
        max_bytes: usize,
    ) -> Result<Self, UnreadableLinks> {
        let rest = bytes.strip_prefix(&MAGIC).ok_or(UnreadableLinks::NotATable)?;
        let (checksum, checked) =
            rest.split_first_chunk::<16>().ok_or(UnreadableLinks::NotATable)?;
        if *checksum != xxh3_128(checked).to_le_bytes() {
            return Err(UnreadableLinks::Checksum);
        }
        let mut reader = Reader::new(checked);
        match reader.byte()? {
            FORMAT => {}
            other => return Err(UnreadableLinks::OtherFormat(other)),
        }
        // What a table takes in memory is more than its bytes.
        let length = reader.narrow::<usize>()?.min(max_bytes);
        let body = inflate(reader.rest(), length)?;
        let mut reader = Reader::new(&body);
        let fingerprint = reader.bytes(size_of::<u128>())?;
        if fingerprint != site.links_fingerprint.to_le_bytes() {
            return Err(UnreadableLinks::OtherSettings);
        }
        let mut table = Self::new(site.links_fingerprint, reader.signed()?, max_bytes);
        table.missing_elsewhere = read_missing(&mut reader)?;
        for _ in 0..reader.count()? {
            let key = read_key(&mut reader)?;
            table.missing.insert(key, read_missing(&mut reader)?);
        }
        for number in 0..reader.count()? {
            let added = table.texts.intern(reader.sized_text()?);
            if added.map(|added| added as usize) != Some(number) {
                return Err(UnreadableLinks::Malformed("a text is there twice"));
            }
        }
        for _ in 0..reader.count()? {
            let key = read_key(&mut reader)?;
            let count = reader.count()?;
            let mut rows = Vec::with_capacity(count);
            for _ in 0..count {
                rows.push(table.read_row(&mut reader, &key, site)?);
            }
            table.links += rows.len();
            table.documents.insert(key, rows);
        }
        reader.end()?;
        table.texts.shrink();
        Ok(table)
    }

    fn read_row(
        &self,
        reader: &mut Reader<'_>,
        key: &DocumentKey,
        site: &Site,
    ) -> Result<LinkRow, UnreadableLinks> {
        let row = LinkRow {
            address: reader.narrow()?,
            text: reader.narrow()?,
            locale: reader.narrow()?,
            field: reader.narrow()?,
        };
        let source = site.links.get(usize::from(key.content_type)).ok_or(MALFORMED)?;
        let locales = site.rules.locales().codes().len();
        let is_valid = (row.address as usize) < self.texts.len()
            && (row.text as usize) < self.texts.len()
            && (row.locale == NOT_LOCALIZED || usize::from(row.locale) < locales)
            && usize::from(row.field) < source.fields.len();
        if is_valid { Ok(row) } else { Err(MALFORMED) }
    }
}

fn write_key(out: &mut Vec<u8>, key: &DocumentKey) {
    write_number(out, key.content_type.into());
    write_text(out, &key.id);
}

fn read_key(reader: &mut Reader<'_>) -> Result<DocumentKey, Unreadable> {
    Ok(DocumentKey { content_type: reader.narrow()?, id: reader.sized_text()?.into() })
}

fn write_missing(out: &mut Vec<u8>, missing: Missing) {
    write_number(out, missing.left_out);
    write_number(out, missing.unreadable);
}

fn read_missing(reader: &mut Reader<'_>) -> Result<Missing, Unreadable> {
    Ok(Missing { left_out: reader.number()?, unreadable: reader.number()? })
}

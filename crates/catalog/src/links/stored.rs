//! A table as bytes, for the store and for other instances: complete, or refused.

use std::borrow::Cow;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::table::{DocumentKey, LinkRow, LinkTable, Missing, NOT_LOCALIZED};
use super::texts::Texts;
use crate::site::Site;
use crate::snapshot::Unreadable;
use crate::snapshot::serialized::{decode, inflate, open, seal};

/// The first bytes.
const MAGIC: [u8; 8] = *b"FMAPLINK";
/// The format; it changes with the form of the bytes or their meaning.
const FORMAT: u8 = 3;

#[derive(Serialize, Deserialize)]
struct Stored<'t> {
    fingerprint: u128,
    read_at: i64,
    missing_elsewhere: Missing,
    missing: Cow<'t, BTreeMap<DocumentKey, Missing>>,
    texts: Cow<'t, Texts>,
    documents: Cow<'t, BTreeMap<DocumentKey, Vec<LinkRow>>>,
}

impl LinkTable {
    /// The bytes of which [`LinkTable::from_bytes`] makes it.
    pub fn to_bytes(&self) -> Vec<u8> {
        let stored = Stored {
            fingerprint: self.fingerprint,
            read_at: self.read_at,
            missing_elsewhere: self.missing_elsewhere,
            missing: Cow::Borrowed(&self.missing),
            texts: Cow::Borrowed(&self.texts),
            documents: Cow::Borrowed(&self.documents),
        };
        seal(MAGIC, FORMAT, "", &stored)
    }

    /// The table of a site, which takes at most this much memory in bytes.
    ///
    /// # Errors
    /// [`Unreadable`] if the bytes are not what was written, or of other settings.
    pub fn from_bytes(bytes: &[u8], site: &Site, max_bytes: usize) -> Result<Self, Unreadable> {
        let (_, body) = open(MAGIC, FORMAT, bytes)?;
        // What a table takes in memory is more than its bytes.
        let body = inflate(body, max_bytes)?;
        let stored: Stored<'_> = decode(&body)?;
        if stored.fingerprint != site.links_fingerprint {
            return Err(Unreadable::OtherSettings);
        }
        let mut table = Self::new(site.links_fingerprint, stored.read_at, max_bytes);
        table.texts = stored.texts.into_owned();
        let is_valid = |(key, rows): (&DocumentKey, &Vec<LinkRow>)| {
            rows.iter().all(|row| table.has_positions(*row, key, site))
        };
        if !stored.documents.iter().all(is_valid) {
            return Err(Unreadable::Malformed("a position is out of range"));
        }
        table.missing_elsewhere = stored.missing_elsewhere;
        table.missing = stored.missing.into_owned();
        table.documents = stored.documents.into_owned();
        table.links = table.documents.values().map(Vec::len).sum();
        table.texts.shrink();
        Ok(table)
    }

    fn has_positions(&self, row: LinkRow, key: &DocumentKey, site: &Site) -> bool {
        let Some(source) = site.links.get(usize::from(key.content_type)) else { return false };
        let locales = site.rules.locales().codes().len();
        (row.address as usize) < self.texts.len()
            && (row.text as usize) < self.texts.len()
            && (row.locale == NOT_LOCALIZED || usize::from(row.locale) < locales)
            && usize::from(row.field) < source.fields.len()
    }
}

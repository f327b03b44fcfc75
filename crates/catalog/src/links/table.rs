//! The table of internal links of a site.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::texts::Texts;

/// The internal links in the content of a site's documents.
#[derive(Clone, Debug)]
pub struct LinkTable {
    /// A hash of the settings that it depends on.
    pub(super) fingerprint: u128,
    /// When the link scan began that has read all documents, in milliseconds since 1970.
    pub(super) read_at: i64,
    pub(super) documents: BTreeMap<DocumentKey, Vec<LinkRow>>,
    pub(super) texts: Texts,
    pub(super) links: usize,
    /// What is missing of each document for another reason than that the table is full.
    pub(super) missing: BTreeMap<DocumentKey, Missing>,
    /// What else is missing.
    pub(super) missing_elsewhere: Missing,
    /// The most memory, in bytes.
    max_bytes: usize,
}

/// A document: the position of its `[[site.links]]` among those of the site, and its id.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(super) struct DocumentKey {
    pub(super) content_type: u16,
    pub(super) id: Box<str>,
}

/// What a table lacks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Missing {
    /// The links that are left out, because the table is full or their addresses are too long.
    pub left_out: u64,
    /// The fields and documents that could not be read.
    pub unreadable: u64,
}

/// A link in a version of a document: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct LinkRow {
    pub(super) address: u32,
    pub(super) text: u32,
    /// The position of the locale among those of the site; [`NOT_LOCALIZED`] without one.
    pub(super) locale: u16,
    /// The position of the field among those of its content type.
    pub(super) field: u16,
}

pub(super) const NOT_LOCALIZED: u16 = u16::MAX;

/// What an entry of the map takes beside its id and its rows, in bytes: key, value, the share of a node,
/// and what the allocator adds for both.
const ENTRY_BYTES: usize = 96;

/// The most documents for which a table keeps what is missing of each.
const MAX_MISSING: usize = 100_000;

/// A link that is added.
#[derive(Clone, Copy, Debug)]
pub struct NewLink<'a> {
    /// The position of the locale among those of the site; `None`: the document is not localized.
    pub locale: Option<usize>,
    /// The position of the field among those of its content type.
    pub field: usize,
    /// As [`super::AddressKind::Internal`] has it.
    pub address: &'a str,
    /// The text.
    pub text: &'a str,
}

/// Figures about a table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableSummary {
    /// The number of links.
    pub links: usize,
    /// The number of documents with links.
    pub documents: usize,
    /// The memory, in bytes.
    pub bytes: usize,
    /// What it lacks.
    pub missing: Missing,
}

impl LinkTable {
    /// A table without links, that takes at most this much memory in bytes. `read_at` is in milliseconds
    /// since 1970.
    pub fn new(fingerprint: u128, read_at: i64, max_bytes: usize) -> Self {
        Self {
            fingerprint,
            read_at,
            documents: BTreeMap::new(),
            texts: Texts::default(),
            links: 0,
            missing: BTreeMap::new(),
            missing_elsewhere: Missing::default(),
            max_bytes,
        }
    }

    /// The hash of the settings that it was made by.
    pub fn fingerprint(&self) -> u128 {
        self.fingerprint
    }

    /// When the link scan began that has read all documents, in milliseconds since 1970.
    pub fn read_at(&self) -> i64 {
        self.read_at
    }

    /// Figures about it.
    pub fn summary(&self) -> TableSummary {
        TableSummary {
            links: self.links,
            documents: self.documents.len(),
            bytes: self.bytes(),
            missing: self.missing.values().fold(self.missing_elsewhere, |sum, own| sum.and(*own)),
        }
    }

    /// Adds links of a document, whose content type has this position, behind those that it has.
    pub fn add<'a>(
        &mut self,
        content_type: usize,
        id: &str,
        links: impl IntoIterator<Item = NewLink<'a>>,
    ) {
        let links = links.into_iter();
        let mut rows: Vec<LinkRow> = Vec::new();
        for link in links {
            // Its length, so that one that does not fit is not added first.
            let needed = link.address.len() + link.text.len() + size_of::<LinkRow>();
            let is_full =
                self.bytes() + rows.len() * size_of::<LinkRow>() + needed > self.max_bytes;
            let row = if is_full { None } else { self.row(link) };
            // A full table has no room for the id either.
            self.missing_elsewhere.left_out += u64::from(row.is_none());
            rows.extend(row);
        }
        let Some(key) = DocumentKey::new(content_type, id).filter(|_| !rows.is_empty()) else {
            return;
        };
        self.links += rows.len();
        let own = self.documents.entry(key).or_default();
        own.reserve_exact(rows.len());
        own.extend(rows);
    }

    /// Puts links in place of those that a document has.
    pub fn replace<'a>(
        &mut self,
        content_type: usize,
        id: &str,
        links: impl IntoIterator<Item = NewLink<'a>>,
    ) {
        self.remove(content_type, id);
        self.add(content_type, id, links);
    }

    /// Takes the links of a document as another table has them.
    pub fn copy_document(&mut self, content_type: usize, id: &str, from: &Self) {
        self.remove(content_type, id);
        let Some(key) = DocumentKey::new(content_type, id) else { return };
        let rows = from.documents.get(&key).map(Vec::as_slice).unwrap_or_default();
        self.add(content_type, id, rows.iter().map(|row| from.link(*row)));
        let missing = from.missing.get(&key).copied().unwrap_or_default();
        self.count(content_type, Some(id), missing);
    }

    /// Removes the links of a document.
    pub fn remove(&mut self, content_type: usize, id: &str) {
        let Some(key) = DocumentKey::new(content_type, id) else { return };
        self.missing.remove(&key);
        let rows = self.documents.remove(&key).unwrap_or_default();
        self.links -= rows.len();
    }

    /// Counts what is missing of a document; `None`: its id is not known.
    pub fn count(&mut self, content_type: usize, id: Option<&str>, missing: Missing) {
        if missing == Missing::default() {
            return;
        }
        let key = id.and_then(|id| DocumentKey::new(content_type, id));
        let key = key.filter(|_| self.missing.len() < MAX_MISSING);
        let sum = match key {
            Some(key) => self.missing.entry(key).or_default(),
            None => &mut self.missing_elsewhere,
        };
        *sum = sum.and(missing);
    }

    /// Adds all links of another table, with its figures.
    pub fn append(&mut self, other: &Self) {
        for (key, rows) in &other.documents {
            let links = rows.iter().map(|row| other.link(*row));
            self.add(key.content_type.into(), &key.id, links);
        }
        for (key, missing) in &other.missing {
            self.count(key.content_type.into(), Some(&key.id), *missing);
        }
        self.missing_elsewhere = self.missing_elsewhere.and(other.missing_elsewhere);
    }

    /// Gives back the memory that is not used.
    pub fn shrink(&mut self) {
        self.texts.shrink();
    }

    /// Without the texts of links that were replaced.
    pub fn compacted(&self) -> Self {
        let mut compact = Self::new(self.fingerprint, self.read_at, self.max_bytes);
        compact.append(self);
        compact.shrink();
        compact
    }

    /// Sets the most memory that it takes, in bytes. What is in it stays.
    pub fn set_max_bytes(&mut self, max_bytes: usize) {
        self.max_bytes = max_bytes;
    }

    pub(super) fn link(&self, row: LinkRow) -> NewLink<'_> {
        NewLink {
            locale: (row.locale != NOT_LOCALIZED).then_some(row.locale.into()),
            field: row.field.into(),
            address: self.texts.get(row.address),
            text: self.texts.get(row.text),
        }
    }

    fn row(&mut self, link: NewLink<'_>) -> Option<LinkRow> {
        let locale = link.locale.map_or(Ok(NOT_LOCALIZED), u16::try_from).ok()?;
        let field = u16::try_from(link.field).ok()?;
        let [address, text] = [self.texts.intern(link.address)?, self.texts.intern(link.text)?];
        Some(LinkRow { address, text, locale, field })
    }

    fn bytes(&self) -> usize {
        let ids = (self.documents.len() + self.missing.len()) * (ENTRY_BYTES + 24);
        self.texts.bytes() + ids + self.links * size_of::<LinkRow>()
    }
}

impl Missing {
    fn and(self, other: Self) -> Self {
        let left_out = self.left_out + other.left_out;
        Self { left_out, unreadable: self.unreadable + other.unreadable }
    }
}

impl DocumentKey {
    pub(super) fn new(content_type: usize, id: &str) -> Option<Self> {
        Some(Self { content_type: u16::try_from(content_type).ok()?, id: id.into() })
    }
}

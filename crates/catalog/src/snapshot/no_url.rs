//! The versions of documents that have no URL: why, and by which rule.

use serde::{Deserialize, Serialize};

use super::arena::{Arena, Offset};
use super::hash::document_hash;

/// At most this many rows of a content type are kept; of the other versions there are hashes.
pub const MAX_ROWS: usize = 10_000;

/// The locale of a version whose locale is not text.
const NO_LOCALE: u16 = u16::MAX;
/// The place of a document that is not localized in a [`key`].
const NOT_LOCALIZED: u16 = u16::MAX - 1;

/// A published version without a URL. Not among them are versions that the conditions leave to other
/// sites, and those in locales that the site does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NoUrlRow<'s> {
    /// The `documentId`.
    pub document_id: &'s str,
    /// The position of its locale in the site's locales; `None` if its locale is not text.
    pub locale: Option<usize>,
    /// Whether the document has a locale. One that is not localized counts as one in the site's
    /// default locale (D19).
    pub is_localized: bool,
    /// The reason, as in `details.reason` of `/api/frontend-url` (D13).
    pub reason: &'s str,
    /// The position in the settings of the rule that was tried.
    pub rule: usize,
    /// The title of the version, if its rule has a title field.
    #[serde(borrow)]
    pub title: Option<&'s str>,
}

/// The rows of a snapshot, in the order of locales and ids; the texts are in its arena.
#[derive(Debug, Default)]
pub(super) struct NoUrlRows {
    rows: Box<[Row]>,
    reasons: Box<[Box<str>]>,
    /// The keys of the versions that have no row, in order.
    beyond: Box<[u64]>,
}

/// Documents without a URL, under construction.
#[derive(Debug, Default)]
pub(super) struct NoUrlDraft {
    rows: Vec<Row>,
    reasons: Vec<Box<str>>,
    beyond: Vec<u64>,
}

#[derive(Clone, Copy, Debug)]
struct Row {
    /// Where the `documentId` begins in the arena; the title follows right behind.
    text: Offset,
    rule: u32,
    /// The position of the reason.
    reason: u16,
    /// The position of the locale in the site's locales, or [`NO_LOCALE`].
    locale: u16,
    id_len: u16,
    title_len: u8,
    is_localized: bool,
}

/// Stands for a version: its locale, and a hash of the `documentId` in the other bits.
pub(super) fn key(id: &str, locale: Option<usize>, is_localized: bool) -> u64 {
    let place = if is_localized { locale_number(locale) } else { NOT_LOCALIZED };
    document_key(id) << u16::BITS | u64::from(place)
}

/// The bits of a [`key`] that stand for the document.
pub(super) fn document_key(id: &str) -> u64 {
    document_hash(id) >> u16::BITS
}

/// The document of a key.
pub(super) fn document_of(key: u64) -> u64 {
    key >> u16::BITS
}

fn locale_number(locale: Option<usize>) -> u16 {
    locale.and_then(|at| u16::try_from(at).ok()).unwrap_or(NO_LOCALE)
}

impl NoUrlDraft {
    /// Adds a version. `title` is its text and what stands for the rest of it.
    pub(super) fn add(&mut self, row: NoUrlRow<'_>, title: [&str; 2], arena: &mut Arena) {
        match self.row(row, title, arena) {
            Some(row) => self.rows.push(row),
            None => self.beyond.push(key(row.document_id, row.locale, row.is_localized)),
        }
    }

    /// Adds versions that have no row.
    pub(super) fn add_beyond(&mut self, keys: impl Iterator<Item = u64>) {
        self.beyond.extend(keys);
    }

    /// `None`: the version gets no row.
    fn row(&mut self, row: NoUrlRow<'_>, title: [&str; 2], arena: &mut Arena) -> Option<Row> {
        if self.rows.len() == MAX_ROWS {
            return None;
        }
        let title_len: usize = title.iter().map(|text| text.len()).sum();
        let known = self.reasons.iter().position(|reason| **reason == *row.reason);
        let reason = u16::try_from(known.unwrap_or(self.reasons.len())).ok()?;
        let found = Row {
            rule: u32::try_from(row.rule).ok()?,
            reason,
            locale: locale_number(row.locale),
            id_len: u16::try_from(row.document_id.len()).ok()?,
            title_len: u8::try_from(title_len).ok()?,
            is_localized: row.is_localized,
            text: arena.push([row.document_id, title[0], title[1]])?,
        };
        if known.is_none() {
            self.reasons.push(row.reason.into());
        }
        Some(found)
    }

    /// Adds the rows of another part, whose texts have moved by `shift` in the arena.
    pub(super) fn append(&mut self, other: Self, shift: Offset) {
        let reasons: Vec<usize> = other.reasons.into_iter().map(|one| self.reason(one)).collect();
        let moved = other.rows.into_iter().filter_map(|row| {
            let reason = u16::try_from(reasons[usize::from(row.reason)]).ok()?;
            Some(Row { text: row.text + shift, reason, ..row })
        });
        self.rows.extend(moved);
        self.beyond.extend(other.beyond);
    }

    fn reason(&mut self, reason: Box<str>) -> usize {
        let known = self.reasons.iter().position(|own| *own == reason);
        known.unwrap_or_else(|| {
            self.reasons.push(reason);
            self.reasons.len() - 1
        })
    }

    pub(super) fn finish(mut self, arena: &Arena) -> NoUrlRows {
        let reasons = &self.reasons;
        self.rows.sort_unstable_by_key(|row| {
            let reason = &reasons[usize::from(row.reason)];
            (row.locale, row.id(arena), row.is_localized, reason, row.rule, row.title(arena))
        });
        let more = self.rows.split_off(self.rows.len().min(MAX_ROWS));
        let key_of = |row: &Row| key(row.id(arena), row.locale(), row.is_localized);
        self.beyond.extend(more.iter().map(key_of));
        self.beyond.sort_unstable();
        NoUrlRows {
            rows: self.rows.into(),
            reasons: self.reasons.into(),
            beyond: self.beyond.into(),
        }
    }
}

impl NoUrlRows {
    /// How many versions have no URL, with a row or without one.
    pub(super) fn count(&self) -> usize {
        self.rows.len() + self.beyond.len()
    }

    /// The rows after the first `start` ones.
    pub(super) fn iter_from<'s>(
        &'s self,
        start: usize,
        arena: &'s Arena,
    ) -> impl ExactSizeIterator<Item = NoUrlRow<'s>> + Clone {
        self.rows[start..].iter().map(|row| self.row(row, arena))
    }

    /// The keys of the versions that have no row.
    pub(super) fn beyond(&self) -> &[u64] {
        &self.beyond
    }

    /// Whether a version has no URL and no row.
    pub(super) fn is_beyond(&self, id: &str, locale: usize) -> bool {
        let keys = [true, false].map(|is_localized| key(id, Some(locale), is_localized));
        keys.iter().any(|key| self.beyond.binary_search(key).is_ok())
    }

    /// The row of a version; a document that is not localized has one for every locale.
    pub(super) fn get<'s>(
        &'s self,
        id: &str,
        locale: usize,
        arena: &'s Arena,
    ) -> Option<NoUrlRow<'s>> {
        let find = |locale: u16| {
            let at =
                self.rows.binary_search_by_key(&(locale, id), |row| (row.locale, row.id(arena)));
            at.ok().map(|at| &self.rows[at])
        };
        let own = find(u16::try_from(locale).ok()?);
        let row = own.or_else(|| find(0).filter(|row| !row.is_localized))?;
        Some(self.row(row, arena))
    }

    fn row<'s>(&'s self, row: &Row, arena: &'s Arena) -> NoUrlRow<'s> {
        let title = row.title(arena);
        NoUrlRow {
            document_id: row.id(arena),
            locale: row.locale(),
            is_localized: row.is_localized,
            reason: &self.reasons[usize::from(row.reason)],
            rule: row.rule as usize,
            title: Some(title).filter(|title| !title.is_empty()),
        }
    }

    pub(super) fn bytes(&self) -> usize {
        let reasons: usize = self.reasons.iter().map(|reason| reason.len()).sum();
        size_of_val(&*self.rows) + size_of_val(&*self.beyond) + reasons
    }
}

impl Row {
    fn id<'s>(&self, arena: &'s Arena) -> &'s str {
        arena.get(self.text, 0..self.id_len.into())
    }

    fn title<'s>(&self, arena: &'s Arena) -> &'s str {
        let start = usize::from(self.id_len);
        arena.get(self.text, start..start + usize::from(self.title_len))
    }

    fn locale(&self) -> Option<usize> {
        (self.locale != NO_LOCALE).then(|| usize::from(self.locale))
    }
}

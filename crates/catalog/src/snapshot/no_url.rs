//! The versions of documents that have no URL: why, and by which rule.

use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use super::Skipped;
use super::arena::{Arena, Offset};

/// The locale of a version whose locale is not text.
const NO_LOCALE: u16 = u16::MAX;

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
}

/// Versions without a URL, under construction.
#[derive(Debug, Default)]
pub(super) struct NoUrlDraft {
    rows: Vec<Row>,
    reasons: Vec<Box<str>>,
    /// The position of each reason.
    known: FxHashMap<Box<str>, u16>,
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

fn locale_number(locale: Option<usize>) -> u16 {
    locale.and_then(|at| u16::try_from(at).ok()).unwrap_or(NO_LOCALE)
}

impl NoUrlDraft {
    /// Adds a version. `title` is its text and what stands for the rest of it. `None`: there is too much
    /// text.
    pub(super) fn add(
        &mut self,
        row: NoUrlRow<'_>,
        title: [&str; 2],
        arena: &mut Arena,
    ) -> Option<()> {
        let title_len: usize = title.iter().map(|text| text.len()).sum();
        let row = Row {
            rule: u32::try_from(row.rule).ok()?,
            reason: self.reason(row.reason)?,
            locale: locale_number(row.locale),
            id_len: u16::try_from(row.document_id.len()).ok()?,
            title_len: u8::try_from(title_len).ok()?,
            is_localized: row.is_localized,
            text: arena.push([row.document_id, title[0], title[1]])?,
        };
        self.rows.push(row);
        Some(())
    }

    /// Adds the rows of another part, whose texts have moved by `shift` in the arena. `None`: there are
    /// too many reasons.
    pub(super) fn append(&mut self, other: Self, shift: Offset) -> Option<()> {
        let reasons: Option<Vec<u16>> =
            other.reasons.iter().map(|reason| self.reason(reason)).collect();
        let reasons = reasons?;
        self.rows.extend(other.rows.into_iter().map(|row| {
            let reason = reasons[usize::from(row.reason)];
            Row { text: row.text + shift, reason, ..row }
        }));
        Some(())
    }

    /// The position of a reason.
    fn reason(&mut self, reason: &str) -> Option<u16> {
        if let Some(at) = self.known.get(reason) {
            return Some(*at);
        }
        let at = u16::try_from(self.reasons.len()).ok()?;
        self.reasons.push(reason.into());
        self.known.insert(reason.into(), at);
        Some(at)
    }

    pub(super) fn finish(mut self, arena: &Arena) -> NoUrlRows {
        let reasons = &self.reasons;
        // Those of an update are nearly in order, of which a stable sort makes use.
        self.rows.sort_by_key(|row| {
            let reason = &reasons[usize::from(row.reason)];
            (row.locale, row.id(arena), row.is_localized, reason, row.rule, row.title(arena))
        });
        NoUrlRows { rows: self.rows.into(), reasons: self.reasons.into() }
    }
}

impl NoUrlRows {
    /// The rows after the first `start` ones.
    pub(super) fn iter_from<'s>(
        &'s self,
        start: usize,
        arena: &'s Arena,
    ) -> impl ExactSizeIterator<Item = NoUrlRow<'s>> + Clone {
        self.rows[start..].iter().map(|row| self.row(row, arena))
    }

    /// Counts the versions by reason.
    pub(super) fn count(&self, skipped: &mut Skipped) {
        let mut counts = vec![0; self.reasons.len()];
        self.rows.iter().for_each(|row| counts[usize::from(row.reason)] += 1);
        self.reasons.iter().zip(counts).for_each(|(reason, count)| skipped.count(reason, count));
    }

    /// The row of a version; that of a document which is not localized is found for every locale.
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
        size_of_val(&*self.rows) + reasons
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

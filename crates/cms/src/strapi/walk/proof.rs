//! Whether a keyset walk has seen all documents (D23): a pure state machine, without a network.

use crate::strapi::page::EchoedPaging;

/// A walk may see this many rows plus a tenth more than the first total. Without a bound, a walk
/// over a CMS that always has one more page would never end.
const MAX_GROWTH: u64 = 1_000;

/// The most rows of a walk, whatever total the CMS claims: some gigabytes of URLs.
const MAX_ROWS: u64 = 20_000_000;

/// A database that folds letter case sorts differently, and keyset paging would skip documents.
const UNORDERED: &str = "a list that is not in the byte order of documentId: the collation of that \
     column in the CMS's database must be binary, and no proxy may drop `sort` from the query";
pub(super) const NO_ECHO: Unproven = Unproven::Unusable("a list without its page size and total");

/// What the proof needs of one page.
#[derive(Clone, Debug)]
pub(super) struct PageFacts<'a> {
    /// `None`: the response does not echo its paging.
    pub(super) echo: Option<EchoedPaging>,
    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub(super) keys: Vec<Option<&'a str>>,
}

/// What to do after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// The number of rows that count, from the start of the page. Unreadable rows behind the last
    /// key come again on the next page and must not count twice.
    pub(super) rows: usize,
    pub(super) next: Next,
}

/// What to request next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The page after [`Proof::key`], with its total where [`Proof::needs_total`] says so.
    Page,
    /// The total of the whole list: this was the last page.
    Total,
}

/// Why a walk proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unproven {
    /// The responses contradict the request, which no editor's work explains.
    Unusable(&'static str),
    /// Rows and totals disagree: documents were added or removed, or the CMS miscounts.
    Miscount(RowCounts),
    /// The CMS returns a document by its id that is not in its list.
    NotInList,
}

impl Unproven {
    /// The counts that disagree, if that is the reason.
    pub(super) fn counts(&self) -> Option<RowCounts> {
        match self {
            Self::Miscount(counts) => Some(*counts),
            Self::Unusable(_) | Self::NotInList => None,
        }
    }
}

/// Counts that disagree. Where each of several walks has the same ones, the CMS miscounts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RowCounts {
    /// The total before the walk.
    pub(super) before: u64,
    /// The rows seen.
    pub(super) rows: u64,
    /// The total after the walk; `None`: the walk was aborted earlier.
    pub(super) after: Option<u64>,
}

/// The progress of a walk over one content type in one locale.
///
/// A total is expensive for the CMS, so three requests have one: the first page, the last page and
/// the request after it. A full page never ends the walk, and a page that lacks a row is short. A
/// short page ends the walk only with its own total, the number of rows behind the key, which must
/// equal the number of rows on the page.
#[derive(Clone, Debug)]
pub(super) struct Proof {
    /// The rows of a page, as requested.
    page_size: usize,
    /// The total that the first page echoed.
    before: Option<u64>,
    /// The rows seen.
    rows: u64,
    /// The last key seen.
    key: Option<String>,
    /// Whether the next page is requested with its total.
    needs_total: bool,
    /// Whether a page was requested with its total because it should have been the last.
    expected_last: bool,
}

impl Proof {
    pub(super) fn new(page_size: usize) -> Self {
        Self {
            page_size,
            before: None,
            rows: 0,
            key: None,
            needs_total: true,
            expected_last: false,
        }
    }

    /// The key after which the next page starts; `None` for the first page.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Whether the next page has to have its total.
    pub(super) fn needs_total(&self) -> bool {
        self.needs_total
    }

    /// Takes the next page.
    pub(super) fn page(&mut self, page: &PageFacts<'_>) -> Result<Step, Unproven> {
        let echo = page.echo.ok_or(NO_ECHO)?;
        if self.needs_total && echo.total.is_none() {
            return Err(NO_ECHO);
        }
        let Some(rows) = self.usable_rows(page, echo)? else {
            return self.short_page(page, echo.total);
        };
        self.take_rows(&page.keys[..rows], echo.total)?;
        self.needs_total = self.expects_last(echo.page_size);
        Ok(Step { rows, next: Next::Page })
    }

    /// Takes the response to the request for the total after the last page. `Ok`: the walk has seen
    /// as many documents as it must; whether the totals before and after it differ.
    pub(super) fn close(&self, after: Option<EchoedPaging>) -> Result<bool, Unproven> {
        let after = after.and_then(|echo| echo.total).ok_or(NO_ECHO)?;
        let before = self.before.unwrap_or(after);
        if (before.min(after)..=before.max(after)).contains(&self.rows) {
            Ok(before != after)
        } else {
            Err(Unproven::Miscount(RowCounts { before, rows: self.rows, after: Some(after) }))
        }
    }

    /// A page with fewer rows than a page has: the last one if its total says so. Without a total
    /// its rows do not count, and it is requested again.
    fn short_page(&mut self, page: &PageFacts<'_>, total: Option<u64>) -> Result<Step, Unproven> {
        let Some(total) = total else {
            self.needs_total = true;
            return Ok(Step { rows: 0, next: Next::Page });
        };
        let rows = page.keys.len();
        self.take_rows(&page.keys, Some(total))?;
        if total != rows as u64 {
            let before = self.before.unwrap_or(total);
            return Err(Unproven::Miscount(RowCounts { before, rows: self.rows, after: None }));
        }
        Ok(Step { rows, next: Next::Total })
    }

    fn take_rows(&mut self, keys: &[Option<&str>], total: Option<u64>) -> Result<(), Unproven> {
        self.advance(keys)?;
        self.rows += keys.len() as u64;
        if self.rows > MAX_ROWS {
            return Err(Unproven::Unusable("more documents than a walk reads"));
        }
        self.before = self.before.or(total);
        let before = self.before.unwrap_or(0);
        if self.rows > before.saturating_add(before / 10).saturating_add(MAX_GROWTH) {
            return Err(Unproven::Miscount(RowCounts { before, rows: self.rows, after: None }));
        }
        Ok(())
    }

    /// Whether the next page should be the last one by the first total. If it is not, the list has
    /// grown, and the end is found by a short page.
    fn expects_last(&mut self, page_size: u64) -> bool {
        let left = self.before.unwrap_or(0).saturating_sub(self.rows);
        let is_last = !self.expected_last && left < page_size;
        self.expected_last |= is_last;
        is_last
    }

    /// The number of rows of a full page that count; `None`: the page is not full.
    fn usable_rows(
        &self,
        page: &PageFacts<'_>,
        echo: EchoedPaging,
    ) -> Result<Option<usize>, Unproven> {
        let rows = page.keys.len();
        let size = usize::try_from(echo.page_size).unwrap_or(usize::MAX);
        if !(1..=self.page_size).contains(&size) || rows > size {
            return Err(Unproven::Unusable("a page of another size than requested"));
        }
        match page.keys.iter().rposition(Option::is_some) {
            None if rows > 0 => Err(Unproven::Unusable("a page without one usable document")),
            Some(at) if rows == size => Ok(Some(at + 1)),
            _ => Ok(None),
        }
    }

    /// Every key must be greater than the one before it, across pages too.
    fn advance(&mut self, keys: &[Option<&str>]) -> Result<(), Unproven> {
        let mut last = self.key.as_deref();
        for key in keys.iter().flatten() {
            if last.is_some_and(|last| last >= *key) {
                return Err(Unproven::Unusable(UNORDERED));
            }
            last = Some(key);
        }
        self.key = last.map(str::to_owned);
        Ok(())
    }
}

#[cfg(test)]
mod tests;

//! Whether a keyset walk has seen all documents (D23): a pure state machine, without a network.

use crate::content::strapi::page::EchoedPaging;
use crate::content::strapi::query_string::PAGE_SIZE;

/// A walk may see this many rows plus a tenth more than the first total. Without a bound, a walk over
/// a CMS that always has one more page would never end.
const MAX_GROWTH: u64 = 1_000;

/// The most rows of a walk, whatever total the CMS claims: some gigabytes of URLs.
const MAX_ROWS: u64 = 20_000_000;

const NO_ECHO: Unproven = Unproven::Unusable("a list without its page size and total");

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
    /// Whether this was the last page.
    pub(super) last: bool,
}

/// Why a walk proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unproven {
    /// The responses contradict the request, which no editor's work explains.
    Unusable(&'static str),
    /// Rows and totals disagree: documents were added or removed, or the CMS miscounts.
    Miscount(RowCounts),
}

impl Unproven {
    /// The counts that disagree, if that is the reason.
    pub(super) fn counts(&self) -> Option<RowCounts> {
        match self {
            Self::Miscount(counts) => Some(*counts),
            Self::Unusable(_) => None,
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
#[derive(Clone, Debug, Default)]
pub(super) struct Proof {
    /// The total that the first page echoed.
    before: Option<u64>,
    /// The rows seen.
    rows: u64,
    /// The last key seen.
    key: Option<String>,
}

impl Proof {
    /// The key after which the next page starts; `None` for the first page.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Takes the next page.
    pub(super) fn page(&mut self, page: &PageFacts<'_>) -> Result<Step, Unproven> {
        let echo = page.echo.ok_or(NO_ECHO)?;
        let step = step(page, echo)?;
        self.advance(&page.keys[..step.rows])?;
        self.rows += step.rows as u64;
        if self.rows > MAX_ROWS {
            return Err(Unproven::Unusable("more documents than a walk reads"));
        }
        let before = *self.before.get_or_insert(echo.total);
        if self.rows > before.saturating_add(before / 10).saturating_add(MAX_GROWTH) {
            return Err(Unproven::Miscount(RowCounts { before, rows: self.rows, after: None }));
        }
        Ok(step)
    }

    /// Takes the response to the request for the total after the last page. `Ok`: the walk has seen
    /// all documents.
    pub(super) fn close(&self, after: Option<EchoedPaging>) -> Result<(), Unproven> {
        let after = after.ok_or(NO_ECHO)?.total;
        let before = self.before.unwrap_or(after);
        if (before.min(after)..=before.max(after)).contains(&self.rows) {
            Ok(())
        } else {
            Err(Unproven::Miscount(RowCounts { before, rows: self.rows, after: Some(after) }))
        }
    }

    /// Every key must be greater than the one before it, across pages too.
    fn advance(&mut self, keys: &[Option<&str>]) -> Result<(), Unproven> {
        let mut last = self.key.as_deref();
        for key in keys.iter().flatten() {
            if last.is_some_and(|last| last >= *key) {
                return Err(Unproven::Unusable("a list that is not in the requested order"));
            }
            last = Some(key);
        }
        self.key = last.map(str::to_owned);
        Ok(())
    }
}

fn step(page: &PageFacts<'_>, echo: EchoedPaging) -> Result<Step, Unproven> {
    let rows = page.keys.len();
    let size = usize::try_from(echo.page_size).unwrap_or(usize::MAX);
    if !(1..=PAGE_SIZE).contains(&size) || rows > size {
        return Err(Unproven::Unusable("a page of another size than requested"));
    }
    match page.keys.iter().rposition(Option::is_some) {
        None if rows > 0 => Err(Unproven::Unusable("a page without one usable document")),
        Some(at) if rows == size => Ok(Step { rows: at + 1, last: false }),
        _ => Ok(Step { rows, last: true }),
    }
}

#[cfg(test)]
mod tests;

//! Whether a keyset walk has seen everything (D23): a pure state machine, without a network.

use super::query::PAGE_SIZE;

/// How many rows more than the first total a walk may see before it gives up: a tenth and this.
/// Without a bound, a CMS that always has one more page would be read for ever.
const GROWTH: u64 = 1_000;

/// How many rows a walk may see whatever total the CMS claims: some gigabytes of URLs.
const MOST_ROWS: u64 = 20_000_000;

/// What one page says, as far as the proof needs it.
#[derive(Clone, Debug)]
pub(super) struct PageFacts<'a> {
    /// The page size that the CMS says it used, and its total; `None` if it doesn't say.
    pub echo: Option<Echo>,
    /// The `documentId` of each row, in order; `None` where it cannot be read.
    pub keys: Vec<Option<&'a str>>,
}

/// The paging that an answer echoes, and the total.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Echo {
    /// Rows a page, at least one.
    pub page_size: u64,
    /// Rows in all that the filters let through.
    pub total: u64,
}

/// What to do after a page.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Step {
    /// How many rows of this page count, from its start. Rows that cannot be read behind the last
    /// key come again on the next page and must not count twice.
    pub rows: usize,
    /// Whether this was the last page.
    pub last: bool,
}

/// Why a walk proves nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The answers contradict the request, which no editor's work explains.
    Unusable(&'static str),
    /// Rows and totals disagree: documents came or went, or the CMS miscounts.
    Miscount(Count),
}

impl Fault {
    /// The numbers, if that is what is wrong.
    pub(super) fn count(&self) -> Option<Count> {
        match self {
            Self::Miscount(count) => Some(*count),
            Self::Unusable(_) => None,
        }
    }
}

/// The numbers of a walk that don't agree. Equal ones again and again are not an editor's work.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Count {
    /// The total before the walk.
    pub before: u64,
    /// The rows seen.
    pub rows: u64,
    /// The total after the walk; `None` if it never came to that.
    pub after: Option<u64>,
}

/// A walk under way over one content type in one locale.
#[derive(Clone, Debug, Default)]
pub(super) struct Proof {
    before: Option<u64>,
    rows: u64,
    key: Option<String>,
}

impl Proof {
    /// The key after which the next page starts; `None` for the first page.
    pub(super) fn key(&self) -> Option<&str> {
        self.key.as_deref()
    }

    /// Takes the next page.
    pub(super) fn page(&mut self, page: &PageFacts<'_>) -> Result<Step, Fault> {
        let echo = page.echo.ok_or(Fault::Unusable("a list without its page size and total"))?;
        let step = step(page, echo)?;
        self.advance(&page.keys[..step.rows])?;
        self.rows += step.rows as u64;
        if self.rows > MOST_ROWS {
            return Err(Fault::Unusable("more documents than sitemaps are made for"));
        }
        let before = *self.before.get_or_insert(echo.total);
        if self.rows > before.saturating_add(before / 10).saturating_add(GROWTH) {
            return Err(Fault::Miscount(Count { before, rows: self.rows, after: None }));
        }
        Ok(step)
    }

    /// Takes the total after the last page, and says whether the walk is complete.
    pub(super) fn close(&self, after: Option<Echo>) -> Result<(), Fault> {
        let after = after.ok_or(Fault::Unusable("a list without its page size and total"))?.total;
        let before = self.before.unwrap_or(after);
        if (before.min(after)..=before.max(after)).contains(&self.rows) {
            Ok(())
        } else {
            Err(Fault::Miscount(Count { before, rows: self.rows, after: Some(after) }))
        }
    }

    /// Every key must be behind the one before it, across pages too.
    fn advance(&mut self, keys: &[Option<&str>]) -> Result<(), Fault> {
        let mut last = self.key.as_deref();
        for key in keys.iter().flatten() {
            if last.is_some_and(|last| last >= *key) {
                return Err(Fault::Unusable("a list that is not in the order asked for"));
            }
            last = Some(key);
        }
        self.key = last.map(str::to_owned);
        Ok(())
    }
}

fn step(page: &PageFacts<'_>, echo: Echo) -> Result<Step, Fault> {
    let rows = page.keys.len();
    let size = usize::try_from(echo.page_size).unwrap_or(usize::MAX);
    if !(1..=PAGE_SIZE).contains(&size) || rows > size {
        return Err(Fault::Unusable("a page of another size than asked for"));
    }
    match page.keys.iter().rposition(Option::is_some) {
        None if rows > 0 => Err(Fault::Unusable("a page without one usable document")),
        Some(at) if rows == size => Ok(Step { rows: at + 1, last: false }),
        _ => Ok(Step { rows, last: true }),
    }
}

#[cfg(test)]
mod tests;

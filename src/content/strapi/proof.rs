//! Whether a keyset walk has seen everything (D23): a pure state machine, without a network.

use super::query::PAGE_SIZE;

/// How many rows more than the first total a walk may see before it gives up: a tenth and this.
/// Without a bound, a CMS that always has one more page would be read for ever.
const GROWTH: u64 = 1_000;

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
mod tests {
    use super::*;

    fn page<'a>(page_size: u64, total: u64, keys: &[&'a str]) -> PageFacts<'a> {
        let keys = keys.iter().map(|key| (*key != "?").then_some(*key)).collect();
        PageFacts { echo: Some(Echo { page_size, total }), keys }
    }

    /// Plays pages until one is the last, then closes with `after`: the rows, or the fault.
    fn play(pages: &[PageFacts<'_>], after: u64) -> Result<u64, Fault> {
        let mut proof = Proof::default();
        for (n, page) in pages.iter().enumerate() {
            assert_eq!(proof.page(page)?.last, n + 1 == pages.len());
        }
        proof.close(Some(Echo { page_size: 1, total: after }))?;
        Ok(proof.rows)
    }

    #[test]
    fn complete_walks() {
        for (pages, after, rows) in [
            (vec![page(100, 0, &[])], 0, 0),
            (vec![page(100, 2, &["a", "b"])], 2, 2),
            (vec![page(2, 2, &["a", "b"]), page(2, 0, &[])], 2, 2),
            (vec![page(2, 3, &["a", "b"]), page(2, 1, &["c"])], 3, 3),
            (vec![page(1, 1, &["a"]), page(100, 0, &[])], 1, 1),
            // An editor adds or removes documents meanwhile.
            (vec![page(2, 3, &["a", "b"]), page(2, 1, &["c"])], 4, 3),
            (vec![page(2, 4, &["a", "b"]), page(2, 1, &["c"])], 2, 3),
            // A row that cannot be read is a row.
            (vec![page(100, 2, &["?", "b"])], 2, 2),
            (vec![page(2, 3, &["?", "b"]), page(2, 1, &["c"])], 3, 3),
            // Behind the last key it comes again.
            (vec![page(2, 3, &["a", "?"]), page(2, 2, &["?", "c"]), page(2, 0, &[])], 3, 3),
        ] {
            assert_eq!(play(&pages, after), Ok(rows), "{pages:?}");
        }
    }

    #[test]
    fn counts_that_disagree() {
        for (pages, before, rows, after) in [
            (vec![page(100, 3, &["a", "b"])], 3, 2, 3),
            (vec![page(100, 1, &["a", "b"])], 1, 2, 1),
            (vec![page(100, 3, &["a"])], 3, 1, 2),
            (vec![page(100, 0, &["a", "b", "c"])], 0, 3, 2),
        ] {
            let count = Count { before, rows, after: Some(after) };
            assert_eq!(play(&pages, after), Err(Fault::Miscount(count)), "{pages:?}");
        }
    }

    #[test]
    fn answers_that_contradict_the_request() {
        let unordered = "a list that is not in the order asked for";
        let size = "a page of another size than asked for";
        let silent = "a list without its page size and total";
        for (pages, text) in [
            (vec![page(2, 3, &["b", "a"])], unordered),
            (vec![page(2, 3, &["a", "a"])], unordered),
            (vec![page(2, 3, &["a", "b"]), page(2, 3, &["a", "b"])], unordered),
            (vec![page(2, 3, &["a", "b"]), page(2, 3, &["b"])], unordered),
            (vec![page(0, 1, &["a"])], size),
            (vec![page(0, 0, &[])], size),
            (vec![page(101, 1, &["a"])], size),
            (vec![page(1, 2, &["a", "b"])], size),
            (vec![page(2, 2, &["?", "?"])], "a page without one usable document"),
            (vec![page(100, 1, &["?"])], "a page without one usable document"),
            (vec![PageFacts { echo: None, keys: vec![Some("a")] }], silent),
        ] {
            assert_eq!(play(&pages, 3), Err(Fault::Unusable(text)), "{pages:?}");
        }
        assert_eq!(Proof::default().close(None), Err(Fault::Unusable(silent)));
    }

    #[test]
    fn a_list_without_an_end_is_given_up() {
        let keys: Vec<_> = (0..1_100).map(|n| format!("{n:05}")).collect();
        let mut proof = Proof::default();
        let taken = keys.iter().try_for_each(|key| proof.page(&page(1, 5, &[key])).map(|_| ()));
        let count = Count { before: 5, rows: 1_006, after: None };
        assert_eq!(taken, Err(Fault::Miscount(count)));
    }
}

//! Walks that are proved to be complete, and walks that are not.

use super::*;

/// The page size that the walks request.
const SIZE: usize = 100;
const OTHER_SIZE: &str = "a page of another size than requested";
const NO_PAGING: &str = "a list without its page size and total";

/// A page with its total, `?` being an unreadable row.
fn page<'a>(page_size: u64, total: u64, keys: &[&'a str]) -> PageFacts<'a> {
    PageFacts { echo: Some(EchoedPaging { page_size, total: Some(total) }), ..bare(0, keys) }
}

/// A page without a total.
fn bare<'a>(page_size: u64, keys: &[&'a str]) -> PageFacts<'a> {
    let keys = keys.iter().map(|key| (*key != "?").then_some(*key)).collect();
    PageFacts { echo: Some(EchoedPaging { page_size, total: None }), keys }
}

/// Takes pages until one is the last, then closes with the total `after`; returns the rows seen.
fn walk(pages: &[PageFacts<'_>], after: u64) -> Result<u64, Unproven> {
    let mut proof = Proof::new(SIZE);
    for (n, page) in pages.iter().enumerate() {
        let is_last = proof.page(page)?.next == Next::Total;
        assert_eq!(is_last, n + 1 == pages.len(), "{pages:?}");
    }
    let echo = EchoedPaging { page_size: 1, total: Some(after) };
    assert_eq!(proof.close(Some(echo))?, proof.before != Some(after));
    Ok(proof.rows)
}

#[test]
fn walk_is_complete_where_the_rows_lie_between_the_totals() {
    for (pages, after, rows) in [
        (vec![page(100, 0, &[])], 0, 0),
        (vec![page(100, 2, &["a", "b"])], 2, 2),
        (vec![page(2, 2, &["a", "b"]), page(2, 0, &[])], 2, 2),
        (vec![page(2, 3, &["a", "b"]), page(2, 1, &["c"])], 3, 3),
        (vec![page(1, 1, &["a"]), page(100, 0, &[])], 1, 1),
        // Documents are added or removed meanwhile.
        (vec![page(2, 3, &["a", "b"]), page(2, 1, &["c"])], 4, 3),
        (vec![page(2, 4, &["a", "b"]), page(2, 1, &["c"])], 2, 3),
        // An unreadable row counts.
        (vec![page(100, 2, &["?", "b"])], 2, 2),
        (vec![page(2, 3, &["?", "b"]), page(2, 1, &["c"])], 3, 3),
        // An unreadable row behind the last key is on the next page again.
        (vec![page(2, 3, &["a", "?"]), page(2, 2, &["?", "c"]), page(2, 0, &[])], 3, 3),
        // A short page without a total is requested again.
        (vec![page(2, 5, &["a", "b"]), bare(2, &["c"]), page(2, 1, &["c"])], 3, 3),
        (
            vec![
                page(2, 5, &["a", "b"]),
                bare(2, &["d"]),
                page(2, 2, &["c", "d"]),
                page(2, 0, &[]),
            ],
            4,
            4,
        ),
    ] {
        assert_eq!(walk(&pages, after), Ok(rows), "{pages:?}");
    }
}

#[test]
fn page_needs_a_total_at_the_start_and_where_the_end_is_expected() {
    let mut proof = Proof::new(2);
    let mut needs = vec![proof.needs_total()];
    for page in [
        page(2, 5, &["a", "b"]),
        bare(2, &["c", "d"]),
        // One row was left by the first total, but the list has grown: no other page needs it.
        page(2, 4, &["e", "f"]),
        bare(2, &["g", "h"]),
        bare(2, &[]),
        page(2, 0, &[]),
    ] {
        proof.page(&page).unwrap();
        needs.push(proof.needs_total());
    }
    assert_eq!(needs, [true, false, true, false, false, true, true]);
    // The page size that is echoed decides.
    let mut proof = Proof::new(SIZE);
    proof.page(&page(2, 5, &["a", "b"])).unwrap();
    assert!(!proof.needs_total());
    for short in [bare(2, &["c"]), bare(2, &[])] {
        let mut proof = proof.clone();
        let again = Step { rows: 0, next: Next::Page };
        assert_eq!(proof.page(&short), Ok(again));
        assert_eq!((proof.needs_total(), proof.key(), proof.rows), (true, Some("b"), 2));
        assert_eq!(proof.page(&short), Err(Unproven::Unusable(NO_PAGING)));
    }
}

#[test]
fn last_page_is_refused_where_its_own_total_contradicts_it() {
    for (pages, before, rows) in [
        (vec![page(100, 3, &["a", "b"])], 3, 2),
        (vec![page(100, 1, &["a", "b"])], 1, 2),
        (vec![page(100, 1, &[])], 1, 0),
        // A row is lost, and the totals of the list would move to the number of rows.
        (vec![page(2, 5, &["a", "b"]), page(2, 3, &["d"])], 5, 3),
        (vec![page(2, 5, &["a", "b"]), bare(2, &["d"]), page(2, 2, &["d"])], 5, 3),
    ] {
        let counts = RowCounts { before, rows, after: None };
        assert_eq!(walk(&pages, rows), Err(Unproven::Miscount(counts)), "{pages:?}");
    }
}

#[test]
fn close_refuses_rows_that_the_totals_contradict() {
    for (pages, before, rows, after) in [
        (vec![page(2, 3, &["a", "b"]), page(2, 0, &[])], 3, 2, 3),
        (vec![page(2, 1, &["a", "b"]), page(2, 0, &[])], 1, 2, 1),
        (vec![page(1, 3, &["a"]), page(1, 0, &[])], 3, 1, 2),
        (vec![page(3, 0, &["a", "b", "c"]), page(3, 0, &[])], 0, 3, 2),
    ] {
        let counts = RowCounts { before, rows, after: Some(after) };
        assert_eq!(walk(&pages, after), Err(Unproven::Miscount(counts)), "{pages:?}");
    }
}

#[test]
fn page_refuses_responses_that_contradict_the_request() {
    for (pages, text) in [
        (vec![page(2, 3, &["b", "a"])], UNORDERED),
        (vec![page(2, 3, &["a", "a"])], UNORDERED),
        (vec![page(2, 3, &["a", "b"]), page(2, 3, &["a", "b"])], UNORDERED),
        (vec![page(2, 3, &["a", "b"]), page(2, 1, &["b"])], UNORDERED),
        (vec![page(0, 1, &["a"])], OTHER_SIZE),
        (vec![page(0, 0, &[])], OTHER_SIZE),
        (vec![page(101, 1, &["a"])], OTHER_SIZE),
        (vec![page(1, 2, &["a", "b"])], OTHER_SIZE),
        (vec![page(2, 2, &["?", "?"])], "a page without one usable document"),
        (vec![page(100, 1, &["?"])], "a page without one usable document"),
        (vec![PageFacts { echo: None, keys: vec![Some("a")] }], NO_PAGING),
        (vec![bare(100, &["a"])], NO_PAGING),
    ] {
        assert_eq!(walk(&pages, 3), Err(Unproven::Unusable(text)), "{pages:?}");
    }
    let without_total = EchoedPaging { page_size: 1, total: None };
    for echo in [None, Some(without_total)] {
        assert_eq!(Proof::new(SIZE).close(echo), Err(Unproven::Unusable(NO_PAGING)));
    }
}

#[test]
fn page_of_an_endless_list_aborts_the_walk() {
    let keys: Vec<_> = (0..1_100).map(|n| format!("{n:05}")).collect();
    let mut proof = Proof::new(SIZE);
    let taken = keys.iter().try_for_each(|key| proof.page(&page(1, 5, &[key])).map(|_| ()));
    let counts = RowCounts { before: 5, rows: 1_006, after: None };
    assert_eq!(taken, Err(Unproven::Miscount(counts)));
}

//! Walks that are proved to be complete, and walks that are not.

use super::*;

fn page<'a>(page_size: u64, total: u64, keys: &[&'a str]) -> PageFacts<'a> {
    let keys = keys.iter().map(|key| (*key != "?").then_some(*key)).collect();
    PageFacts { echo: Some(EchoedPaging { page_size, total }), keys }
}

/// Takes pages until one is the last, then closes with the total `after`; returns the rows seen.
fn walk(pages: &[PageFacts<'_>], after: u64) -> Result<u64, Unproven> {
    let mut proof = Proof::default();
    for (n, page) in pages.iter().enumerate() {
        assert_eq!(proof.page(page)?.last, n + 1 == pages.len());
    }
    proof.close(Some(EchoedPaging { page_size: 1, total: after }))?;
    Ok(proof.rows)
}

#[test]
fn a_walk_is_complete_where_the_rows_lie_between_the_totals() {
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
    ] {
        assert_eq!(walk(&pages, after), Ok(rows), "{pages:?}");
    }
}

#[test]
fn close_refuses_rows_that_the_totals_contradict() {
    for (pages, before, rows, after) in [
        (vec![page(100, 3, &["a", "b"])], 3, 2, 3),
        (vec![page(100, 1, &["a", "b"])], 1, 2, 1),
        (vec![page(100, 3, &["a"])], 3, 1, 2),
        (vec![page(100, 0, &["a", "b", "c"])], 0, 3, 2),
    ] {
        let counts = RowCounts { before, rows, after: Some(after) };
        assert_eq!(walk(&pages, after), Err(Unproven::Miscount(counts)), "{pages:?}");
    }
}

#[test]
fn page_refuses_responses_that_contradict_the_request() {
    let unordered = "a list that is not in the requested order";
    let size = "a page of another size than requested";
    let no_echo = "a list without its page size and total";
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
        (vec![PageFacts { echo: None, keys: vec![Some("a")] }], no_echo),
    ] {
        assert_eq!(walk(&pages, 3), Err(Unproven::Unusable(text)), "{pages:?}");
    }
    assert_eq!(Proof::default().close(None), Err(Unproven::Unusable(no_echo)));
}

#[test]
fn page_of_an_endless_list_aborts_the_walk() {
    let keys: Vec<_> = (0..1_100).map(|n| format!("{n:05}")).collect();
    let mut proof = Proof::default();
    let taken = keys.iter().try_for_each(|key| proof.page(&page(1, 5, &[key])).map(|_| ()));
    let counts = RowCounts { before: 5, rows: 1_006, after: None };
    assert_eq!(taken, Err(Unproven::Miscount(counts)));
}

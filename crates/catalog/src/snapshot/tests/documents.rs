use super::super::hash::document_hash;
use super::{Row, paths, snapshot};

/// Ids whose hashes are in the given part of all hashes.
fn ids(count: usize, is_in: impl Fn(u64) -> bool) -> Vec<String> {
    let ids = (0..).map(|n| format!("id{n}"));
    ids.filter(|id| is_in(document_hash(id))).take(count).collect()
}

#[track_caller]
fn check_all_are_found(ids: &[String]) {
    let (known, unknown): (Vec<_>, Vec<_>) =
        ids.iter().enumerate().partition(|(position, _)| position % 4 != 0);
    let rows = known.iter().flat_map(|(position, id)| {
        // Some have two versions, and some of these do not own their path.
        let shared = if position % 5 == 0 { "shared" } else { id.as_str() };
        let other: Option<Row<'_>> = (position % 3 == 0).then_some((id, "de", shared, "", ""));
        [Some((id.as_str(), "en", id.as_str(), "", "")), other].into_iter().flatten()
    });
    let rows: Vec<Row<'_>> = rows.collect();
    let snapshot = snapshot(&rows);
    for (position, id) in known {
        let de = if position % 5 == 0 { "/de/shared".to_owned() } else { format!("/de/{id}") };
        let expected = [Some(format!("/en/{id}")), (position % 3 == 0).then_some(de)];
        let found = [0, 1].map(|locale| snapshot.path_of(id, locale));
        assert_eq!(found.map(|found| found.map(|(path, _)| path.to_owned())), expected, "{id}");
    }
    for (_, id) in unknown {
        assert_eq!(snapshot.path_of(id, 0), None, "{id}");
    }
    let of_documents = snapshot.documents(0..snapshot.len()).map(|versions| paths(versions).len());
    assert_eq!(of_documents.sum::<usize>(), snapshot.len());
}

#[test]
fn path_of_finds_each_document_of_few_and_of_many() {
    for count in [0, 1, 2, 3, 7, 100, 3_000] {
        check_all_are_found(&ids(count, |_| true));
    }
}

#[test]
fn path_of_finds_documents_whose_hashes_are_distributed_unevenly() {
    let is_low = |hash: u64| hash >> 54 == 0;
    let is_high = |hash: u64| hash >> 54 == (1 << 10) - 1;
    for in_middle in [0, 1, 300] {
        let mut uneven = ids(300, is_low);
        uneven.extend(ids(in_middle, |hash| !is_low(hash) && !is_high(hash)));
        check_all_are_found(&uneven);
        uneven.extend(ids(300, is_high));
        check_all_are_found(&uneven);
    }
}

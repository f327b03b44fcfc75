use std::collections::BTreeSet;

use super::pending_changes::MAX_PENDING;
use super::*;
use crate::changes::difference::Difference;
use crate::changes::difference::fixture::{Settings, UID};

const LIMITS: Limits = Limits { max_paths: 1_000, keep: 1_000 };

fn row(path: &str, id: &str, last_seen: i64) -> Row {
    Row {
        source: 1,
        site: "main".to_owned(),
        host: String::new(),
        path: path.to_owned(),
        uid: UID.to_owned(),
        document_id: id.to_owned(),
        locale: "en".to_owned(),
        last_seen,
        is_imported: false,
    }
}

fn site(history: &PathHistory) -> SiteId {
    history.site(1, "main").unwrap()
}

fn owner(history: &PathHistory, path: &str, now: i64) -> Option<String> {
    Some(history.find(site(history), [""], path, now)?.document_id)
}

fn former(history: &PathHistory, id: &str, now: i64) -> Vec<String> {
    let rows = history.of_document(site(history), UID, id, now);
    rows.into_iter().map(|row| row.path).collect()
}

/// The history of documents with these slugs one after another, `(documentId, slug)` each.
fn after_edits(states: &[&[(&str, &str)]]) -> PathHistory {
    let settings = Settings::new("/{slug}", &[("en", "https://a.example")]);
    let snapshot = |state: &&[(&str, &str)]| {
        let rows: Vec<_> = state.iter().map(|(id, slug)| (*id, "en", *slug, "")).collect();
        settings.snapshot(&rows)
    };
    let snapshots: Vec<_> = states.iter().map(snapshot).collect();
    let history = PathHistory::new(LIMITS);
    for (pair, now) in snapshots.windows(2).zip(1..) {
        let difference = Difference::of_edits(&pair[0], settings.side(&pair[1]));
        history.enter(site(&history), UID, &difference, difference.all(), now);
    }
    history
}

#[test]
fn path_enters_when_its_document_moves_or_is_gone() {
    let history = after_edits(&[
        &[("a", "one"), ("b", "stays"), ("c", "gone")],
        &[("a", "two"), ("b", "stays"), ("d", "new")],
    ]);
    for (path, expected) in
        [("/one", Some("a")), ("/gone", Some("c")), ("/stays", None), ("/two", None)]
    {
        assert_eq!(owner(&history, path, 1).as_deref(), expected, "{path}");
    }
    assert_eq!(history.len(), 2);
}

#[test]
fn path_is_kept_for_the_document_that_had_it_last() {
    // Three documents hand a path round, and the first one gets it back.
    let history = after_edits(&[
        &[("a", "x"), ("b", "b"), ("c", "c")],
        &[("a", "a"), ("b", "x"), ("c", "c")],
        &[("a", "a"), ("b", "b"), ("c", "x")],
        &[("a", "x"), ("b", "b"), ("c", "c")],
    ]);
    assert_eq!(owner(&history, "/x", 3).as_deref(), Some("c"));
    assert_eq!(former(&history, "a", 3), ["/a"]);
    assert_eq!(former(&history, "b", 3), ["/b"], "the other path is another document's since");
    assert_eq!(former(&history, "c", 3), ["/x", "/c"]);
}

#[test]
fn path_with_and_without_a_slash_at_its_end_is_one() {
    let rows = [("a", "en", "x", "")];
    let without = Settings::new("/{slug}", &[("en", "")]);
    let with = Settings::new("/{slug}", &[("en", "")]).with_trailing_slash();
    let (before, after) = (without.snapshot(&rows), with.snapshot(&rows));
    let sides = [without.side(&before), with.side(&after)];
    for (one, other) in [(sides[0], sides[1]), (sides[1], sides[0])] {
        let history = PathHistory::new(LIMITS);
        let difference = Difference::of_rules(one, other);
        let changes: Vec<Change<'_>> = difference.all().collect();
        assert!(matches!(changes[..], [Change::Moved { .. }]), "{changes:?}");
        history.enter(site(&history), UID, &difference, changes, 1);
        assert!(history.is_empty());
    }
}

#[test]
fn paths_are_apart_by_source_site_and_host() {
    let history = PathHistory::new(LIMITS);
    let base = row("/x", "a", 1);
    history.load(
        [
            base.clone(),
            Row { source: 2, document_id: "b".to_owned(), ..base.clone() },
            Row { site: "other".to_owned(), document_id: "c".to_owned(), ..base.clone() },
            Row { host: "h".to_owned(), document_id: "d".to_owned(), ..base },
        ],
        1,
    );
    let find = |source, site, host: &str| {
        let site = history.site(source, site).unwrap();
        history.find(site, [host], "/x", 1).map(|row| row.document_id)
    };
    for (source, site, host, expected) in [
        (1, "main", "", Some("a")),
        (2, "main", "", Some("b")),
        (1, "other", "", Some("c")),
        (1, "main", "h", Some("d")),
        (1, "main", "g", None),
        (2, "other", "", None),
    ] {
        assert_eq!(find(source, site, host).as_deref(), expected, "{source} {site} {host}");
    }
}

#[test]
fn rows_beyond_the_limits_are_dropped_oldest_first() {
    let history = PathHistory::new(Limits { max_paths: 3, keep: 100 });
    history.load((1..=5).map(|n| row(&format!("/{n}"), "a", n)), 5);
    assert_eq!(former(&history, "a", 5), ["/5", "/4", "/3"]);
    // Seen longer ago than it is kept, whether it has been dropped or not.
    assert_eq!(former(&history, "a", 104), ["/5", "/4"]);
    assert_eq!(owner(&history, "/3", 104), None);
    history.load([row("/6", "a", 6)], 106);
    assert_eq!(history.len(), 1);
    history.set_limits(Limits { max_paths: 0, keep: 100 });
    assert!(history.is_empty());
}

#[test]
fn all_rows_of_a_site_are_read_in_parts() {
    let history = PathHistory::new(Limits { max_paths: 5_000, keep: 1_000 });
    let rows = (0..1_000).map(|n| Row {
        site: if n % 2 == 0 { "main" } else { "other" }.to_owned(),
        ..row(&format!("/{n}"), "a", n)
    });
    history.load(rows, 999);
    let read = |now| {
        let (mut paths, mut place) = (Vec::new(), 0);
        while let Some((rows, next)) = history.rows_from(site(&history), place, now) {
            assert!(next > place && rows.len() <= MAX_PLACES, "{place} {next}");
            paths.extend(rows.into_iter().map(|row| row.path));
            place = next;
        }
        paths
    };
    let even = |from| (from..1_000).step_by(2).map(|n| format!("/{n}")).collect::<Vec<_>>();
    assert_eq!(read(999), even(0));
    // Too old, although they have not been dropped yet.
    assert_eq!(read(1_500), even(500));
    assert_eq!(PathHistory::new(LIMITS).rows_from(site(&history), 0, 0), None);
}

#[test]
fn loaded_row_does_not_replace_a_newer_one() {
    let history = PathHistory::new(LIMITS);
    history.load(
        [row("/x", "new", 9), row("/x", "old", 5), row("/y", "old", 5), row("/y", "new", 9)],
        9,
    );
    for path in ["/x", "/y"] {
        assert_eq!(owner(&history, path, 9).as_deref(), Some("new"), "{path}");
    }
    assert_eq!(history.len(), 2);
}

#[test]
fn store_without_any_row_gets_all_of_them_and_later_changes() {
    let history = PathHistory::new(LIMITS);
    history.load([row("/x", "a", 5), row("/y", "b", 9)], 9);
    history.keep_changes(Mirror::Store);
    assert!(history.take_changes(Mirror::Store, 10).is_empty(), "it is in the store");
    history.forget_changes(Mirror::Store);
    history.keep_all(Mirror::Store);
    let put = [row("/x", "a", 5), row("/y", "b", 9)].map(RowChange::Put);
    assert_eq!(history.take_changes(Mirror::Store, 10), put);
    assert!(history.take_changes(Mirror::Store, 10).is_empty());
}

#[test]
fn changes_that_wait_for_the_fleet_are_bounded_and_then_all_rows_are_taken() {
    let history = PathHistory::new(Limits { max_paths: 20, keep: i64::MAX });
    history.keep_changes(Mirror::Fleet);
    let count = 2 * i64::try_from(MAX_PENDING).unwrap();
    for n in 0..count {
        history.import(&row(&format!("/{n}"), "a", n), n);
    }
    let (mut taken, mut put) = (0, BTreeSet::new());
    loop {
        let changes = history.take_changes(Mirror::Fleet, 1_000);
        if changes.is_empty() {
            break;
        }
        taken += changes.len();
        put.extend(changes.into_iter().filter_map(|change| match change {
            RowChange::Put(row) => Some(row.path),
            RowChange::Removed { .. } => None,
        }));
    }
    assert!(taken <= MAX_PENDING + 20, "{taken}");
    assert_eq!(put, (count - 20..count).map(|n| format!("/{n}")).collect());
}

#[test]
fn row_of_the_fleet_that_is_too_old_is_not_merged_and_dropped_there() {
    let history = PathHistory::new(LIMITS);
    history.keep_changes(Mirror::Fleet);
    history.merge(&row("/x", "a", 5), 2_000);
    assert!(history.is_empty());
    let changes = history.take_changes(Mirror::Fleet, 10);
    let [RowChange::Removed { path, last_seen: 5, .. }] = &changes[..] else {
        panic!("{changes:?}");
    };
    assert_eq!(path, "/x");
    history.merge(&row("/y", "a", 1_900), 2_000);
    assert!(history.take_changes(Mirror::Fleet, 10).is_empty());
}

#[test]
fn changes_are_taken_in_order_and_lead_to_the_same_rows() {
    let history = PathHistory::new(Limits { max_paths: 20, keep: 1_000 });
    assert!(history.take_changes(Mirror::Store, 10).is_empty());
    history.keep_changes(Mirror::Store);
    let settings = Settings::new("/{slug}", &[("en", "")]);
    let (mut stored, mut now) = (std::collections::BTreeMap::new(), 0);
    for round in 0..200 {
        now += 1;
        let slug = |n: usize| format!("s{}", (n * 7 + round) % 40);
        let slugs: Vec<String> = (0..8).map(slug).collect();
        let rows: Vec<_> = slugs.iter().map(|slug| (&**slug, "en", &**slug, "")).collect();
        let before = settings.snapshot(&rows);
        let after = settings.snapshot(&[]);
        let difference = Difference::of_edits(&before, settings.side(&after));
        history.enter(site(&history), UID, &difference, difference.all(), now);
        if round % 3 == 0 {
            loop {
                let changes = history.take_changes(Mirror::Store, 5);
                if changes.is_empty() {
                    break;
                }
                for change in changes {
                    match change {
                        RowChange::Put(row) => drop(stored.insert(row.path.clone(), row)),
                        RowChange::Removed { path, .. } => drop(stored.remove(&path)),
                    }
                }
            }
            assert_eq!(stored.len(), history.len());
            for (path, row) in &stored {
                assert_eq!(history.find(site(&history), [""], path, now).as_ref(), Some(row));
            }
        }
    }
    assert_eq!(history.len(), 20);
}

#[test]
fn rows_stay_consistent_through_random_changes() {
    let history = PathHistory::new(Limits { max_paths: 50, keep: 1_000_000 });
    let mut expected: Vec<Row> = Vec::new();
    let mut random = fastrand::Rng::with_seed(7);
    for now in 0..20_000 {
        let new = row(&format!("/{}", random.u8(..90)), &format!("d{}", random.u8(..20)), now);
        expected.retain(|row| row.path != new.path);
        expected.push(new.clone());
        let excess = expected.len().saturating_sub(50);
        expected.drain(..excess);
        history.load([new], now);
        if now % 100 != 0 {
            continue;
        }
        assert_eq!(history.len(), expected.len());
        for id in 0..20 {
            let id = format!("d{id}");
            let own = expected.iter().rev().filter(|row| row.document_id == id);
            let own: Vec<String> = own.map(|row| row.path.clone()).collect();
            assert_eq!(former(&history, &id, now), own);
        }
        for row in &expected {
            assert_eq!(owner(&history, &row.path, now).as_ref(), Some(&row.document_id));
        }
    }
}

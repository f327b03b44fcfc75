use std::collections::{BTreeMap, HashMap};

use super::*;

fn path(path: &str) -> MissKey {
    MissKey::of("", path.to_owned())
}

fn tally(count: u64, error: u64, first: i64, last: i64) -> Tally {
    Tally { count, error, first, last }
}

/// The requests by host and path.
fn all(summary: &Summary) -> BTreeMap<String, Tally> {
    summary.paths().iter().map(|row| (format!("{}{}", row.host, row.path), row.tally)).collect()
}

/// With `MAX_ROWS` paths `/r<n>`, of which the first one was requested least, from once on.
fn full() -> Summary {
    let mut summary = Summary::default();
    for n in 0..MAX_ROWS {
        for _ in 0..=n.min(9) {
            summary.record(&path(&format!("/r{n}")), 1);
        }
    }
    summary
}

#[test]
fn record_counts_each_path_with_its_first_and_last_time() {
    let mut summary = Summary::default();
    assert!(summary.is_empty());
    for (requested, now) in [("/a", 5), ("/b", 6), ("/a", 7)] {
        summary.record(&path(requested), now);
    }
    summary.record(&MissKey::of("de.example.com", "/a".to_owned()), 8);
    let expected = [
        ("/a".to_owned(), tally(2, 0, 5, 7)),
        ("/b".to_owned(), tally(1, 0, 6, 6)),
        ("de.example.com/a".to_owned(), tally(1, 0, 8, 8)),
    ];
    assert_eq!(all(&summary), BTreeMap::from(expected));
    let hosts: Vec<&str> = summary.paths().iter().map(|row| row.host).collect();
    assert!(hosts.contains(&"de.example.com"));
}

#[test]
fn record_counts_scanners_in_one_row_and_long_paths_in_none() {
    let mut summary = Summary::default();
    for (requested, now) in [("/wp-login.php", 5), ("/.env", 9), ("/.git/config", 7)] {
        summary.record(&path(requested), now);
    }
    summary.record(&path(&format!("/{}", "a".repeat(MAX_KEY_BYTES))), 9);
    summary.record(&path(&format!("/{}", "a".repeat(MAX_KEY_BYTES - 1))), 9);
    assert_eq!(summary.scanners(), Some(tally(3, 0, 5, 9)));
    assert_eq!((summary.len(), summary.uncounted()), (1, 1));
}

#[test]
fn new_path_replaces_the_one_with_the_fewest_requests_and_takes_its_count_as_error() {
    let mut summary = full();
    summary.record(&path("/new"), 2);
    assert_eq!(summary.len(), MAX_ROWS);
    let found = all(&summary);
    assert_eq!(found["/new"], tally(2, 1, 2, 2));
    assert!(!found.contains_key("/r0") && found.contains_key("/r1"));
    // Of two with as many requests, the one that was requested last stays.
    summary.record(&path("/newer"), 3);
    summary.record(&path("/newest"), 4);
    let found = all(&summary);
    assert!(!found.contains_key("/r1") && !found.contains_key("/new"));
    assert_eq!((found["/newer"], found["/newest"]), (tally(3, 2, 3, 3), tally(3, 2, 4, 4)));
    let last = summary.paths().last().map(|row| row.tally.certain());
    assert_eq!(last, Some(1), "what may be noise is last");
}

#[test]
fn count_is_never_too_low_and_too_high_by_its_error_at_most() {
    let mut random = fastrand::Rng::with_seed(7);
    let (mut summary, mut exact) = (Summary::default(), HashMap::<String, u64>::new());
    for now in 0..200_000 {
        let requested = format!("/{}", random.u32(..).leading_zeros() * 400 + random.u32(..400));
        summary.record(&path(&requested), now);
        *exact.entry(requested).or_default() += 1;
    }
    assert_eq!(summary.len(), MAX_ROWS);
    let total: u64 = summary.paths().iter().map(|row| row.tally.count).sum();
    assert_eq!(total, 200_000, "each request is in one row");
    for row in summary.paths() {
        let exact = exact[row.path];
        assert!((row.tally.certain()..=row.tally.count).contains(&exact), "{row:?}: {exact}");
    }
}

#[test]
fn rows_end_by_their_age_or_one_by_one() {
    let mut summary = full();
    for n in 0..10 {
        summary.record(&path(&format!("/r{n}")), 9);
    }
    summary.record(&MissKey::Scanner, 3);
    assert!(summary.remove(&path("/r3")) && !summary.remove(&path("/r3")));
    assert!(!summary.remove(&MissKey::of("www.example.com", "/r4".to_owned())));
    summary.expire(9);
    let names: Vec<String> = all(&summary).into_keys().collect();
    assert_eq!(names.join(" "), "/r0 /r1 /r2 /r4 /r5 /r6 /r7 /r8 /r9");
    assert_eq!(summary.scanners(), None);
    // What is left counts on, and there is room.
    summary.record(&path("/r4"), 10);
    summary.record(&path("/room"), 10);
    let found = all(&summary);
    assert_eq!((found["/r4"], found["/room"]), (tally(7, 0, 1, 10), tally(1, 0, 10, 10)));
}

#[test]
fn merge_adds_counts_and_knows_what_the_other_summary_may_have_dropped() {
    let (mut one, mut other) = (full(), Summary::default());
    for now in [3, 4] {
        other.record(&path("/both"), now);
        one.record(&path("/r9"), now);
        other.record(&path("/r9"), now);
    }
    one.record(&MissKey::Scanner, 1);
    other.record(&MissKey::Scanner, 2);
    other.add_uncounted(5);
    one.merge(&other);
    assert_eq!(one.len(), MAX_ROWS);
    let found = all(&one);
    assert_eq!(found["/r9"], tally(14, 0, 1, 4));
    // The first one was full: it may have dropped as many requests as its least row has.
    assert_eq!(found["/both"], tally(3, 1, 3, 4));
    assert_eq!((one.scanners(), one.uncounted()), (Some(tally(2, 0, 1, 2)), 5));
    let mut merged = Summary::default();
    merged.merge(&one);
    // An empty summary has dropped nothing.
    assert_eq!(all(&merged), all(&one));
}

#[test]
fn bytes_are_read_as_they_were_written() {
    let mut summary = full();
    summary.record(&MissKey::Scanner, 7);
    summary.record(&MissKey::of("www.example.com:8080", "/%zz\"<b>\\".to_owned()), 8);
    summary.add_uncounted(3);
    let read = Summary::from_bytes(&summary.to_bytes(), 100).unwrap();
    assert_eq!(all(&read), all(&summary));
    assert_eq!((read.scanners(), read.uncounted()), (summary.scanners(), 3));
    // A clock that was set back does not keep rows for ever.
    let read = Summary::from_bytes(&summary.to_bytes(), 5).unwrap();
    assert!(read.paths().iter().all(|row| row.tally.last <= 5));
}

#[test]
fn bytes_of_other_writers_are_refused() {
    let mut summary = Summary::default();
    summary.record(&path("/a"), 7);
    let good = String::from_utf8(summary.to_bytes()).unwrap();
    assert!(Summary::from_bytes(good.as_bytes(), 9).is_some());
    for (from, to) in [
        ("\"version\":1", "\"version\":2"),
        ("[\"/a\",[1,0,7,7]]", "[\"a\",[1,0,7,7]]"),
        ("[\"/a\",[1,0,7,7]]", "[\"/\\u0000\",[1,0,7,7]]"),
        ("[\"/a\",[1,0,7,7]]", "[\"/a\",[1,1,7,7]]"),
        ("[\"/a\",[1,0,7,7]]", "[\"/a\",[1,0,8,7]]"),
        ("[\"/a\",[1,0,7,7]]", "[\"/a\",[1,0,7,7]],[\"/a\",[1,0,7,7]]"),
        ("\"uncounted\":0", "\"uncounted\":-1"),
        ("}", ""),
    ] {
        let bad = good.replacen(from, to, 1);
        assert_ne!(bad, good, "{from}");
        assert!(Summary::from_bytes(bad.as_bytes(), 9).is_none(), "{bad}");
    }
    let many: Vec<String> = (0..=MAX_ROWS).map(|n| format!("[\"/{n}\",[1,0,7,7]]")).collect();
    let many = good.replace("[\"/a\",[1,0,7,7]]", &many.join(","));
    assert!(Summary::from_bytes(many.as_bytes(), 9).is_none());
    let long = good.replace("/a", &format!("/{}", "a".repeat(MAX_KEY_BYTES)));
    assert!(Summary::from_bytes(long.as_bytes(), 9).is_none());
    assert!(Summary::from_bytes(&vec![b' '; Summary::MAX_BYTES + 1], 9).is_none());
}

#[test]
fn summary_takes_less_than_a_mebibyte_whatever_is_requested() {
    let used = allocation_counter::measure(|| {
        let mut summary = Summary::default();
        for n in 0..5_000 {
            let requested = format!("/{n:0>width$}", width = MAX_KEY_BYTES - 1);
            summary.record(&MissKey::Path(requested), n);
        }
        assert_eq!(summary.len(), MAX_ROWS);
        assert!(summary.to_bytes().len() <= Summary::MAX_BYTES);
    });
    // The serialized form is not part of the summary, which is dropped behind it.
    let summary = allocation_counter::measure(|| {
        let mut summary = Summary::default();
        for n in 0..5_000 {
            summary.count(&format!("/{n:0>width$}", width = MAX_KEY_BYTES - 1), n);
        }
    });
    assert!(summary.bytes_max < 1 << 20, "{summary:?}");
    assert!(used.bytes_current == 0, "{used:?}");
}

/// A stream with Zipf's distribution (s = 1) over 10,000 paths, and a random path in each tenth request.
/// Returns the part of the 100 most requested paths that are among the first 100 of the summary.
fn recall_of_zipf(requests: u64) -> f64 {
    const PATHS: usize = 10_000;
    let mut random = fastrand::Rng::with_seed(33);
    let mut sums: Vec<f64> = Vec::with_capacity(PATHS);
    for rank in 1..=PATHS {
        let before = sums.last().copied().unwrap_or(0.0);
        sums.push(before + 1.0 / f64::from(u32::try_from(rank).unwrap()));
    }
    let all = sums[PATHS - 1];
    let names: Vec<MissKey> = (0..PATHS).map(|n| path(&format!("/en/articles/page-{n}"))).collect();
    let (mut summary, mut exact) = (Summary::default(), vec![0_u64; PATHS]);
    for request in 0..requests {
        let now = i64::try_from(request).unwrap();
        if request % 10 == 0 {
            summary.record(&path(&format!("/{:016x}", random.u64(..))), now);
        } else {
            let wanted = random.f64() * all;
            let at = sums.partition_point(|sum| *sum < wanted).min(PATHS - 1);
            exact[at] += 1;
            summary.record(&names[at], now);
        }
    }
    let mut ranks: Vec<usize> = (0..PATHS).collect();
    ranks.sort_by_key(|at| Reverse(exact[*at]));
    let top: Vec<String> =
        ranks[..100].iter().map(|at| format!("/en/articles/page-{at}")).collect();
    let found = summary.paths();
    let hits = found.iter().take(100).filter(|row| top.iter().any(|own| own == row.path));
    f64::from(u32::try_from(hits.count()).unwrap()) / 100.0
}

#[test]
fn most_requested_paths_are_found_in_a_zipf_stream_with_random_paths() {
    let recall = recall_of_zipf(500_000);
    assert!(recall >= 0.97, "{recall}");
}

#[test]
#[ignore = "takes seconds in a release build: cargo test --release -p frontend-map-catalog ten_million -- --ignored"]
fn most_requested_paths_are_found_in_a_zipf_stream_of_ten_million() {
    let recall = recall_of_zipf(10_000_000);
    println!("recall of the top 100: {recall}");
    assert!(recall >= 0.99, "{recall}");
}

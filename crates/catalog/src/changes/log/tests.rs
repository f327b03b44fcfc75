use std::collections::{BTreeMap, VecDeque};
use std::convert::Infallible;

use super::fixture::Site;
use super::*;
use crate::changes::difference::fixture::UID;

const ALL: Filter<'static> = Filter { with_unlisted: true, kinds: Kind::ALL };

impl Site {
    fn read(&self, since: Option<Since>, max: usize) -> (Vec<String>, Read) {
        let mut changes = Vec::new();
        let read = self.log.read("main", since, max, ALL, |change| {
            let from = change.from.unwrap_or_default();
            let Change { kind, document_id, path, .. } = change;
            changes.push(format!("{} {document_id} {path} {from}", <&str>::from(kind)));
        });
        (changes, read)
    }

    fn cursor(&self) -> Cursor {
        self.read(None, 1).1.cursor
    }
}

fn pages(pages: &[(&str, &str)]) -> BTreeMap<String, String> {
    pages.iter().map(|(id, slug)| ((*id).to_owned(), (*slug).to_owned())).collect()
}

#[test]
fn first_snapshot_is_no_change_and_a_content_type_that_is_new_is_added() {
    let site = Site::new();
    let start = site.cursor();
    site.set(&pages(&[("a", "x")]), 1);
    assert_eq!(site.read(Some(Since::Cursor(start)), 9).0, [""; 0]);
    site.recorder.record("main", UID, None, 7);
    assert_eq!(site.read(Some(Since::Cursor(start)), 9).0, ["gone a /articles/x "]);
    let middle = site.cursor();
    site.set(&pages(&[("a", "x")]), 1);
    assert_eq!(site.read(Some(Since::Cursor(middle)), 9).0, ["added a /articles/x "]);
}

#[test]
fn path_is_gone_from_one_document_before_another_one_takes_it() {
    for [first, second] in [["a", "b"], ["b", "a"]] {
        let site = Site::new();
        site.set(&pages(&[(first, "x"), (second, "y")]), 1);
        let start = site.cursor();
        site.set(&pages(&[(second, "x")]), 1);
        site.set(&pages(&[(first, "x"), (second, "y")]), 1);
        site.set(&pages(&[(first, "y"), ("c", "x")]), 1);
        let (changes, _) = site.read(Some(Since::Cursor(start)), 10);
        let of = |id: &str, change: &str| change.replacen('_', id, 1);
        assert_eq!(
            changes,
            [
                of(first, "gone _ /articles/x "),
                of(second, "moved _ /articles/x /articles/y"),
                of(second, "moved _ /articles/y /articles/x"),
                of(first, "added _ /articles/x "),
                of(second, "gone _ /articles/y "),
                of(first, "moved _ /articles/y /articles/x"),
                "added c /articles/x ".to_owned(),
            ]
        );
    }
}

#[test]
fn paths_are_freed_before_they_are_taken_however_many_pages_change() {
    for added in [600, 601] {
        let site = Site::new();
        let page = |n: usize, slug: &str| (format!("{n:04}"), format!("{slug}{n}"));
        // In the order of their ids, the changes are mixed.
        let of = |kind: usize| move |n: &usize| n % 3 == kind;
        let (gone, moved) = ((0..600).filter(of(0)), (0..600).filter(of(1)));
        site.set(&gone.chain(moved.clone()).map(|n| page(n, "old")).collect(), 1);
        let start = site.cursor();
        let new = (0..3 * added).filter(of(2)).map(|n| page(n, "new"));
        site.set(&moved.map(|n| page(n, "new")).chain(new).collect(), 1);
        let (changes, _) = site.read(Some(Since::Cursor(start)), 2_000);
        let kinds: Vec<_> =
            changes.iter().map(|change| change.split(' ').next().unwrap()).collect();
        let counts: Vec<_> =
            kinds.chunk_by(|one, next| one == next).map(|part| (part[0], part.len())).collect();
        assert_eq!(counts, [("gone", 200), ("moved", 200), ("added", added)]);
    }
}

#[test]
fn log_of_another_source_begins_again() {
    let site = Site::new();
    site.set(&pages(&[("a", "x")]), 1);
    let start = site.cursor();
    site.set(&pages(&[("b", "y")]), 2);
    let (changes, read) = site.read(Some(Since::Cursor(start)), 9);
    assert_eq!((changes.len(), read.reset), (0, true));
    site.set(&pages(&[("b", "z")]), 2);
    let after = site.read(Some(Since::Cursor(read.cursor)), 9).0;
    assert_eq!(after, ["moved b /articles/z /articles/y"]);
}

#[test]
fn log_begins_again_if_its_file_has_no_snapshot_of_a_type_that_the_site_had() {
    let site = Site::new();
    let head = LogHead { log: 7, source: 1, last: 0 };
    site.recorder.replace_all([("main".to_owned(), head, VecDeque::new())]);
    let start = site.cursor();
    let after = site.baseline(&pages(&[("a", "x")]), 1);
    let nothing = || Ok::<_, Infallible>(Loaded::Nothing);
    let Ok(prepared) = site.recorder.prepare("main", UID, Some(after), 1, nothing);
    site.recorder.commit(prepared.expect("a snapshot"));
    let (changes, read) = site.read(Some(Since::Cursor(start)), 10);
    assert_eq!((changes.len(), read.reset), (0, true));
    // A type that the site gets later is new.
    let next = site.cursor();
    let other = "api::other.other";
    site.recorder.set_types("main", vec![UID.to_owned(), other.to_owned()]);
    let after = site.baseline(&pages(&[("b", "y")]), 1);
    let Ok(prepared) = site.recorder.prepare("main", other, Some(after), 1, nothing);
    site.recorder.commit(prepared.expect("a snapshot"));
    let (changes, _) = site.read(Some(Since::Cursor(next)), 10);
    assert_eq!(changes, ["added b /articles/y "]);
}

#[test]
#[expect(clippy::disallowed_methods, reason = "the seed of a failed run")]
fn reader_that_follows_knows_the_pages_after_random_edits() {
    let seed = std::env::var("TEST_CHANGES_SEED").ok().and_then(|seed| seed.parse().ok());
    let seed = seed.unwrap_or_else(|| fastrand::u64(..));
    println!("TEST_CHANGES_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let site = Site::new();
    site.log.set_keep(50);
    let (mut now, mut known) = (BTreeMap::new(), BTreeMap::new());
    site.set(&now, 1);
    let mut cursor = site.cursor();
    for step in 0..2_000 {
        for _ in 0..random.usize(0..4) {
            let id = format!("d{}", random.u8(0..8));
            if random.bool() {
                now.insert(id, format!("s{}", random.u8(0..20)));
            } else {
                now.remove(&id);
            }
        }
        site.set(&now, 1);
        if random.bool() {
            continue;
        }
        // Of several documents with one path, the first has it.
        let mut owned: BTreeMap<String, String> = BTreeMap::new();
        for (id, slug) in &now {
            if !owned.values().any(|other| *other == format!("/articles/{slug}")) {
                owned.insert(id.clone(), format!("/articles/{slug}"));
            }
        }
        loop {
            let (changes, read) = site.read(Some(Since::Cursor(cursor)), 3);
            if read.reset {
                known.clone_from(&owned);
            }
            for change in changes {
                let parts: Vec<&str> = change.split(' ').collect();
                let [kind, id, path, from] = parts[..] else { panic!("{change}") };
                let before = if kind == "gone" {
                    known.remove(id)
                } else {
                    known.insert(id.to_owned(), path.to_owned())
                };
                let expected = match kind {
                    "added" => None,
                    "moved" => Some(from),
                    _ => Some(path),
                };
                assert_eq!(before.as_deref(), expected, "step {step}: {change}");
            }
            cursor = read.cursor;
            if !read.more {
                break;
            }
        }
        assert_eq!(known, owned, "step {step}");
    }
}

#[test]
fn cursor_of_a_branch_is_not_one_of_the_file() {
    let site = Site::new();
    site.set(&pages(&[("a", "x")]), 1);
    let head = site.log.head("main", 1).unwrap();
    site.recorder.replace_all([("main".to_owned(), head, VecDeque::new())]);
    let stored = site.cursor();
    let baseline = site.baseline(&pages(&[("a", "x"), ("b", "z")]), 1);
    site.recorder.adopt("main", UID, Baseline { is_stored: true, ..baseline });
    // The file cannot be used from now on.
    site.set(&pages(&[("a", "y")]), 1);
    let (changes, read) = site.read(Some(Since::Cursor(stored)), 9);
    let expected = ["gone b /articles/z ", "moved a /articles/y /articles/x"];
    assert_eq!((changes, read.reset), (expected.map(str::to_owned).to_vec(), false));
    assert_ne!(read.cursor.log, stored.log);
    // It is back, without these changes, which go on in memory.
    site.recorder.resume([("main".to_owned(), head)]);
    assert_eq!(
        site.read(Some(Since::Cursor(stored)), 9),
        (expected.map(str::to_owned).to_vec(), read)
    );
    // Another process has the file, without these changes.
    site.recorder.replace_all([("main".to_owned(), head, VecDeque::new())]);
    assert!(!site.read(Some(Since::Cursor(stored)), 9).1.reset);
    assert!(site.read(Some(Since::Cursor(read.cursor)), 9).1.reset);
}

#[test]
fn log_begins_again_if_a_snapshot_of_its_file_is_not_known_in_memory() {
    let site = Site::new();
    site.set(&pages(&[("a", "x")]), 1);
    let head = site.log.head("main", 1).unwrap();
    site.recorder.replace_all([("main".to_owned(), head, VecDeque::new())]);
    let stored = site.cursor();
    site.set(&pages(&[("b", "y")]), 1);
    assert!(site.read(Some(Since::Cursor(stored)), 9).1.reset);
    let after = site.cursor();
    site.set(&pages(&[("c", "z")]), 1);
    let (changes, read) = site.read(Some(Since::Cursor(after)), 9);
    assert_eq!(changes, ["gone b /articles/y ", "added c /articles/z "]);
    assert!(!read.reset);
}

#[test]
fn numbers_of_a_log_that_goes_on_in_a_file_are_given_once() {
    for has_more in [false, true] {
        let site = Site::new();
        let first = LogHead { log: 7, source: 1, last: 3 };
        site.recorder.replace_all([("main".to_owned(), first, VecDeque::new())]);
        let stored = site.cursor();
        // Another process may have continued the log in the file meanwhile.
        let last = if has_more { 5 } else { 3 };
        site.recorder.resume([("main".to_owned(), LogHead { last, ..first })]);
        let present = site.cursor();
        assert_eq!((present == stored, present.sequence), (!has_more, 3));
        assert!(!site.read(Some(Since::Cursor(stored)), 9).1.reset);
        assert!(site.read(Some(Since::Cursor(Cursor { sequence: 5, ..stored })), 9).1.reset);
    }
}

fn entry_of(path: &str) -> Entry {
    Entry::new(&Change {
        kind: Kind::Moved,
        uid: UID,
        document_id: "a0123456789abcdefghijklmn",
        locale: "en",
        path,
        from: Some("/en/articles/a-title-of-a-usual-length-before"),
        at: 7,
        was_listed: true,
        is_listed: true,
    })
}

#[test]
fn change_takes_at_most_200_bytes() {
    const COUNT: usize = 100_000;
    let log = ChangeLog::default();
    let allocated = allocation_counter::measure(|| {
        for n in 0..COUNT + 1_000 {
            let mut batch = Batch::default();
            let path = format!("/en/articles/a-title-of-a-usual-length-{n}");
            batch.push(entry_of(&path), COUNT);
            log.append("main", 1, batch, false);
        }
    });
    let each = allocated.bytes_current / i64::try_from(COUNT).unwrap();
    println!("{each} bytes a change");
    assert!(each <= 200, "{each} bytes");
}

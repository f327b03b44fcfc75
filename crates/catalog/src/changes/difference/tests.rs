use std::collections::BTreeMap;

use proptest::prelude::*;

use super::fixture::{Row, Settings};
use super::*;

const BASE: &str = "https://www.example.com";

fn settings() -> Settings {
    Settings::new("/{locale}/{slug}", &[("en", BASE), ("de", BASE)])
}

/// One line for each change, in alphabetical order.
fn described<'s>(changes: impl Iterator<Item = Change<'s>>) -> Vec<String> {
    let line = |change| match change {
        Change::Added(url) => format!("{} added {}", url.document_id(), url.path()),
        Change::Gone(url) => format!("{} gone {}", url.document_id(), url.path()),
        Change::Updated(url) => format!("{} updated {}", url.document_id(), url.path()),
        Change::Moved { before, after } => {
            format!("{} moved {} {}", before.document_id(), before.path(), after.path())
        }
    };
    let mut lines: Vec<String> = changes.map(line).collect();
    lines.sort();
    lines
}

/// The difference of two snapshots by the same settings, and the same from these documents alone.
#[track_caller]
fn assert_edits(before: &[Row<'_>], after: &[Row<'_>], ids: &[&str], expected: &[&str]) {
    let settings = settings();
    let [before, after] = [before, after].map(|rows| settings.snapshot(rows));
    let difference = Difference::of_edits(&before, settings.side(&after));
    assert_eq!(described(difference.all()), expected);
    assert_eq!(described(difference.of_documents(ids)), expected);
}

#[test]
fn versions_are_added_moved_gone_and_updated() {
    assert_edits(
        &[
            ("a", "en", "same", ""),
            ("b", "en", "old", ""),
            ("b", "de", "alt", ""),
            ("c", "en", "gone", ""),
            ("d", "en", "date", "2024-03-06T22:19:54.649Z"),
        ],
        &[
            ("a", "en", "same", ""),
            ("b", "en", "new", ""),
            ("b", "de", "alt", ""),
            ("d", "en", "date", "2024-03-07T22:19:54.649Z"),
            ("e", "en", "added", ""),
        ],
        &["b", "c", "d", "e"],
        &["b moved /en/old /en/new", "c gone /en/gone", "d updated /en/date", "e added /en/added"],
    );
    assert_edits(&[("a", "en", "x", "")], &[("a", "en", "x", "")], &["a", "b"], &[]);
    assert_edits(&[], &[], &["a"], &[]);
}

#[test]
fn version_whose_path_another_one_owns_has_none() {
    let both = [("a", "en", "x", ""), ("b", "en", "x", "")];
    // Only "a" is read again, and "b" changes with it.
    assert_edits(
        &both,
        &[("a", "en", "y", ""), both[1]],
        &["a"],
        &["a moved /en/x /en/y", "b added /en/x"],
    );
    assert_edits(&[both[1]], &both, &["a"], &["a added /en/x", "b gone /en/x"]);
    assert_edits(&both, &both[..1], &["b"], &[]);
}

#[test]
fn documents_that_swap_their_paths_both_move() {
    assert_edits(
        &[("a", "en", "x", ""), ("b", "en", "y", "")],
        &[("a", "en", "y", ""), ("b", "en", "x", "")],
        &["a", "b"],
        &["a moved /en/x /en/y", "b moved /en/y /en/x"],
    );
}

/// The difference between equal rows by two settings.
fn by_settings(before: &Settings, after: &Settings, rows: &[Row<'_>]) -> Vec<String> {
    let [old, new] = [before, after].map(|settings| settings.snapshot(rows));
    described(Difference::of_rules(before.side(&old), after.side(&new)).all())
}

#[test]
fn changed_template_moves_all_documents() {
    let after = Settings::new("/{locale}/news/{slug}", &[("en", BASE), ("de", BASE)]);
    let rows = [("a", "en", "x", ""), ("a", "de", "y", "")];
    let expected = ["a moved /de/y /de/news/y", "a moved /en/x /en/news/x"];
    assert_eq!(by_settings(&settings(), &after, &rows), expected);
}

#[test]
fn locales_are_compared_by_their_codes() {
    let swapped = Settings::new("/{locale}/{slug}", &[("de", BASE), ("en", BASE)]);
    let rows = [("a", "en", "x", ""), ("a", "de", "x", "")];
    assert_eq!(by_settings(&settings(), &swapped, &rows), [""; 0]);
    let english = Settings::new("/{locale}/{slug}", &[("en", BASE)]);
    assert_eq!(by_settings(&settings(), &english, &rows), ["a gone /de/x"]);
    assert_eq!(by_settings(&english, &settings(), &rows), ["a added /de/x"]);
    // A document that is not localized has one path, in the first locale.
    assert_eq!(by_settings(&settings(), &swapped, &[("n", "", "x", "")]), ["n moved /en/x /de/x"]);
}

#[test]
fn path_on_another_host_has_moved() {
    let one = Settings::new("/{slug}", &[("en", "https://a.example"), ("de", "https://b.example")]);
    let other =
        Settings::new("/{slug}", &[("en", "https://a.example"), ("de", "https://c.example")]);
    let rows = [("a", "en", "x", ""), ("a", "de", "y", "")];
    assert_eq!(by_settings(&one, &other, &rows), ["a moved /y /y"]);
    // A site with one host is the same wherever it is.
    let here = Settings::new("/{slug}", &[("en", "https://a.example")]);
    let there = Settings::new("/{slug}", &[("en", "https://b.example")]);
    assert_eq!(by_settings(&here, &there, &rows), [""; 0]);
}

/// The versions of a few documents in two locales: a slug and a date for each.
fn content() -> impl Strategy<Value = BTreeMap<(&'static str, &'static str), [&'static str; 2]>> {
    let id = prop::sample::select(&["a", "b", "c", "d", "e"][..]);
    let locale = prop::sample::select(&["en", "de", ""][..]);
    let slug = prop::sample::select(&["x", "y", "z"][..]);
    let date = prop::sample::select(&["2024-03-06T22:19:54.649Z", ""][..]);
    prop::collection::btree_map((id, locale), (slug, date).prop_map(|(s, d)| [s, d]), 0..9)
}

proptest! {
    #[test]
    fn difference_of_the_changed_documents_is_the_whole_one(one in content(), other in content()) {
        let rows = |content: &BTreeMap<(&'static str, &'static str), [&'static str; 2]>| {
            let row = |(&(id, locale), &[slug, date]): (&(_, _), &[_; 2])| (id, locale, slug, date);
            content.iter().map(row).collect::<Vec<Row<'static>>>()
        };
        let settings = settings();
        let (one_rows, other_rows) = (rows(&one), rows(&other));
        let is_changed = |id: &&&str| {
            let own = |rows: &[Row<'static>]| {
                rows.iter().copied().filter(|row| row.0 == **id).collect::<Vec<_>>()
            };
            own(&one_rows) != own(&other_rows)
        };
        let ids: Vec<&str> = ["a", "b", "c", "d", "e"].iter().filter(is_changed).copied().collect();
        for with_table in [true, false] {
            let before = settings.build(&one_rows, with_table);
            let after = settings.build(&other_rows, with_table);
            let difference = Difference::of_edits(&before, settings.side(&after));
            let all = described(difference.all());
            prop_assert_eq!(&described(difference.of_documents(&ids)), &all);
            let owners = |snapshot: &Snapshot| {
                let line = |url: PublicUrl<'_>| format!("{} {}", url.document_id(), url.path());
                snapshot.owners().map(line).collect::<std::collections::BTreeSet<_>>()
            };
            if owners(&before) != owners(&after) {
                prop_assert!(!all.is_empty());
            }
        }
    }
}

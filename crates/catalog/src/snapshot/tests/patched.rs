//! A patched snapshot equals one of a walk over the patched content.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::*;

/// Rows by `documentId` and locale, of which each version has one at most.
type Content = BTreeMap<(&'static str, &'static str), [&'static str; 3]>;

fn content() -> impl Strategy<Value = Content> {
    let version = (prop::sample::select(&["a", "b", "c", "d", "e"][..]), locale());
    let text = || prop::sample::select(&["", "x", "y", "z"][..]);
    let date = prop::sample::select(&["", "2024-03-06", EXCLUDED][..]);
    let fields = (text(), text(), date).prop_map(|(slug, handle, date)| [slug, handle, date]);
    prop::collection::btree_map(version, fields, 0..8)
}

fn locale() -> impl Strategy<Value = &'static str> {
    prop::sample::select(&["en", "de"][..])
}

fn rows(content: &Content) -> Vec<Row<'static>> {
    let row = |(&(id, locale), &[slug, handle, date]): (&(_, _), &[_; 3])| {
        (id, locale, slug, handle, date)
    };
    content.iter().map(row).collect()
}

/// Everything about each URL of a snapshot, in the order of the files and in that of the lists, and
/// about each version without a URL, and how many there are for each reason.
fn described(snapshot: &Snapshot) -> Vec<String> {
    let all = (0..snapshot.entries.len()).map(|at| snapshot.url(at));
    let all = all.chain(snapshot.listed()).chain(snapshot.unlisted());
    let urls = all.map(|url| {
        let versions = paths(url.versions());
        let (id, locale, rule) = (url.document_id(), url.locale(), url.rule());
        let owner = snapshot.owner(url.path()).expect("each path has an owner");
        assert!(url.is_owner() == (owner.at == url.at) && owner.rank() <= url.rank());
        let found = snapshot.version(id, locale);
        assert!(matches!(found, Version::Url(found) if found.at == url.at), "{found:?}");
        let (modified, listed, title) = (url.modified(), url.is_listed(), url.title());
        format!("{id} {locale} {rule} {modified:?} {listed} {title:?} {versions:?} {}", url.path())
    });
    let rows = snapshot.no_url().map(|row| {
        let locale = row.locale.expect("a locale of the site");
        let found = snapshot.version(row.document_id, locale);
        assert!(matches!(found, Version::NoUrl(found) if found == row), "{found:?}");
        format!("{row:?}")
    });
    let skipped = snapshot.skipped.by_reason().map(|(reason, count)| format!("{reason} {count}"));
    urls.chain(rows).chain(skipped).collect()
}

/// Which versions a patch replaces, by `documentId`: those in one locale, or all.
type Ids<'a> = BTreeMap<&'a str, Option<&'a str>>;

fn is_replaced(id: &str, locale: &str, ids: &Ids<'_>) -> bool {
    ids.get(id).is_some_and(|only| only.is_none_or(|only| only == locale))
}

/// A snapshot of the first content, with these documents replaced by those of the second, and
/// whether anything has changed.
fn patched(one: &Content, other: &Content, ids: &Ids<'_>) -> (Snapshot, bool) {
    let found = rows(other);
    let patch = |id: &str, is_partial: bool| {
        let own = found.iter().filter(|row| row.0 == id && is_replaced(row.0, row.1, ids));
        let versions = own.map(|row| document(*row)).collect();
        Patch { id: id.to_owned(), versions, is_partial }
    };
    let patches: Vec<Patch> = ids.iter().map(|(id, only)| patch(id, only.is_some())).collect();
    with_listing(|listing| {
        let before = snapshot_by(listing, &rows(one));
        match before.patched(&patches, listing, Builder { path_table: true }) {
            Patched::Changed(snapshot) => (*snapshot, true),
            Patched::Unchanged => (before, false),
            Patched::NeedsWalk => panic!("there is little text, and all keys are there"),
        }
    })
}

/// A snapshot by a walk over the first content with these documents as in the second.
fn walked(one: &Content, other: &Content, ids: &Ids<'_>) -> Snapshot {
    // A version that is gone is in no partial patch.
    let stays = |version: &(&str, &str)| {
        let is_partial = ids.get(version.0).is_some_and(Option::is_some);
        !is_replaced(version.0, version.1, ids) || is_partial && !other.contains_key(version)
    };
    let kept = one.iter().filter(|(version, _)| stays(version));
    let found = other.iter().filter(|(version, _)| is_replaced(version.0, version.1, ids));
    let content: Content = kept.chain(found).map(|(version, fields)| (*version, *fields)).collect();
    // Owners keep their paths in a walk, too.
    let before = snapshot(&rows(one));
    snapshot(&rows(&content)).with_claims(&Claims::after(&before), Builder { path_table: true })
}

#[test]
fn patched_gives_a_shared_path_to_the_first_version_by_rank() {
    // "c" is first in English alone, and the only owner but one.
    let one = Content::from([(("c", "en"), ["", "x", ""]), (("b", "de"), ["", "x", ""])]);
    let ids = Ids::from([("c", None)]);
    for other in [
        Content::from([(("c", "de"), ["", "x", ""])]),
        Content::from([(("c", "en"), ["", "y", ""])]),
        Content::from([(("c", "en"), ["", "", ""])]),
        Content::new(),
    ] {
        let (patched, _) = patched(&one, &other, &ids);
        assert_eq!(patched.owner("/x").map(PublicUrl::document_id), Some("b"), "{other:?}");
        assert_eq!(described(&patched), described(&walked(&one, &other, &ids)), "{other:?}");
    }
}

#[test]
fn patched_with_equal_documents_is_unchanged() {
    let one = Content::from([
        (("a", "en"), ["x", "", ""]),
        (("a", "de"), ["x", "", "2024-03-06"]),
        (("b", "en"), ["", "", ""]),
    ]);
    let ids = Ids::from([("a", None), ("b", None), ("c", None)]);
    assert!(!patched(&one, &one, &ids).1);
    for (version, fields) in [
        (("a", "de"), ["x", "", "2024-03-07"]),
        // The title alone.
        (("a", "en"), ["x", "y", ""]),
        (("c", "en"), ["", "", ""]),
    ] {
        let mut other = one.clone();
        other.insert(version, fields);
        assert!(patched(&one, &other, &ids).1, "{version:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, ..ProptestConfig::default() })]
    #[test]
    fn patched_equals_a_walk(
        one in content(),
        other in content(),
        ids in prop::collection::btree_map(
            prop::sample::select(&["a", "b", "c"][..]),
            prop::option::of(locale()),
            0..3,
        ),
    ) {
        let (patched, _) = patched(&one, &other, &ids);
        prop_assert_eq!(described(&patched), described(&walked(&one, &other, &ids)));
    }
}

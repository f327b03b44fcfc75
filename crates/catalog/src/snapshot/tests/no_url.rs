use super::*;

/// More than a table lists.
const COUNT: usize = 10_003;

fn ids(count: usize) -> Vec<String> {
    (0..count).map(|n| format!("id{n:05}")).collect()
}

/// Documents in English without a slug.
fn without_slug(ids: &[String]) -> Vec<Row<'_>> {
    ids.iter().map(|id| (&**id, "en", "", "", "")).collect()
}

fn rows_of(snapshot: &Snapshot) -> Vec<(&str, Option<usize>, &str, usize)> {
    snapshot.no_url().map(|row| (row.document_id, row.locale, row.reason, row.rule)).collect()
}

#[test]
fn no_url_has_each_published_version_without_a_url_in_order() {
    let snapshot = snapshot(&[
        ("b", "de", "", "", ""),
        ("c", "en", "a/b", "title", ""),
        ("a", "en", "", "", ""),
        ("d", "", "..", "", ""),
        ("e", "5", "x", "", ""),
        // A locale that the site does not have.
        ("f", "fr", "x", "", ""),
        ("g", "en", "x", "", ""),
    ]);
    let expected = [
        ("a", Some(0), "slug_missing", 0),
        ("d", Some(0), "slug_dot_segment", 0),
        ("b", Some(1), "slug_missing", 0),
        ("e", None, "locale_unknown", 0),
    ];
    // The handle builds the URL of "c".
    assert_eq!(rows_of(&snapshot), expected);
}

#[test]
fn version_finds_urls_reasons_and_documents_that_are_not_localized() {
    let snapshot = snapshot(&[
        ("a", "en", "x", "", ""),
        ("a", "de", "", "", ""),
        ("b", "en", "x", "", ""),
        ("c", "", "y", "", ""),
        ("d", "", "", "", ""),
    ]);
    let of = |id: &str, locale| match snapshot.version(id, locale) {
        Version::Url(url) => url.path().to_owned(),
        Version::NoUrl(row) => row.reason.to_owned(),
        Version::None => "none".to_owned(),
    };
    for (id, locale, expected) in [
        ("a", 0, "/en/x"),
        ("a", 1, "slug_missing"),
        // It has a URL, although another document owns it.
        ("b", 0, "/en/x"),
        ("b", 1, "none"),
        ("c", 0, "/en/y"),
        ("c", 1, "/en/y"),
        ("d", 0, "slug_missing"),
        ("d", 1, "slug_missing"),
        ("", 0, "none"),
        ("aa", 0, "none"),
    ] {
        assert_eq!(of(id, locale), expected, "{id} {locale}");
    }
}

#[test]
fn many_versions_without_a_url_have_their_reasons_and_are_kept_right_by_updates() {
    let ids = ids(COUNT);
    let before = snapshot(&without_slug(&ids));
    assert_eq!((before.no_url().len(), before.skipped.total()), (COUNT, COUNT as u64));
    let (kept, last) = (&*ids[5], &*ids[COUNT - 2]);
    for id in [kept, last] {
        assert!(matches!(before.version(id, 0), Version::NoUrl(_)));
        assert!(matches!(before.version(id, 1), Version::None));
    }
    let patch = |snapshot: &Snapshot, rows: &[Row<'static>], id: &str, is_partial| {
        let versions = rows.iter().map(|row| document(*row)).collect();
        let patch = Patch { id: id.to_owned(), versions, is_partial };
        with_listing(|listing| {
            match snapshot.patched(&[patch], listing, Builder { path_table: true }) {
                Patched::Changed(snapshot) => *snapshot,
                other => panic!("{other:?}"),
            }
        })
    };
    // One gets a URL, one is unpublished, and a new one has no URL.
    let url = ("id10001", "en", "x", "", "");
    assert_eq!(url.0, last);
    for is_partial in [true, false] {
        let after = patch(&before, &[url], last, is_partial);
        assert_eq!((after.no_url().len(), after.skipped.total()), (COUNT - 1, COUNT as u64 - 1));
        assert!(matches!(after.version(last, 0), Version::Url(_)));
        let after = patch(&after, &[], kept, false);
        assert_eq!((after.no_url().len(), after.skipped.total()), (COUNT - 2, COUNT as u64 - 2));
        assert!(matches!(after.version(kept, 0), Version::None));
        let after = patch(&after, &[("new", "de", "", "", "")], "new", is_partial);
        assert_eq!((after.no_url().len(), after.skipped.total()), (COUNT - 1, COUNT as u64 - 1));
        assert!(matches!(after.version("new", 1), Version::NoUrl(_)));
    }
}

#[test]
fn title_is_cut_between_two_characters() {
    let long = "é".repeat(200);
    let shown = format!("{}…", "é".repeat(126));
    let snapshot = snapshot(&[
        ("a", "en", "x", &long, ""),
        ("b", "en", "..", "../", ""),
        ("c", "en", "y", &long[..254], ""),
    ]);
    let title = |path: &str| snapshot.owner(path).and_then(PublicUrl::title);
    assert_eq!(title("/en/x"), Some(&*shown));
    assert_eq!(title("/en/y"), Some(&long[..254]));
    let row = snapshot.no_url().next().unwrap();
    assert_eq!((row.reason, row.title), ("slug_dot_segment", Some("../")));
}

#[test]
fn reasons_of_several_parts_are_kept_apart() {
    let snapshot = snapshot(&[
        ("a", "en", "", "", ""),
        ("b", "en", "..", "", ""),
        ("c", "en", "..", "", ""),
        ("d", "en", "a/b", "", ""),
        ("e", "en", "", "", ""),
    ]);
    let reasons: Vec<&str> = snapshot.no_url().map(|row| row.reason).collect();
    let expected =
        ["slug_missing", "slug_dot_segment", "slug_dot_segment", "slug_has_slash", "slug_missing"];
    assert_eq!(reasons, expected);
}

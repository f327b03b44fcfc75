mod delta;
mod documents;
mod no_url;
mod patched;
mod references;
mod serialized;

use std::sync::Arc;

use super::*;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    Condition, ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Literal, Locale,
    LocalePrefix, Locales, Rule, RuleSet, Template,
};

const UID: &str = "api::a.a";
/// The value of `updatedAt` that leaves a document out of sitemaps.
const EXCLUDED: &str = "never";

fn rules() -> RuleSet {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let rule = |text| Rule::new(uid.clone(), Template::parse(text).unwrap());
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let locales = Locales::new(locales).unwrap();
    let mut rules = vec![rule("/{locale}/{slug}"), rule("/{handle}")];
    for rule in &mut rules {
        rule.title = FieldPath::parse("handle");
        rule.sitemap.exclude_when = vec![Condition {
            field: FieldPath::parse("updatedAt").unwrap(),
            equals: Literal::Text(EXCLUDED.to_owned()),
        }];
    }
    RuleSet::new(locales, LocalePrefix::Always, rules)
}

/// Of `(documentId, locale, slug, handle, updatedAt)`; the handle is the title as well. Without a
/// locale, the document is not localized; the locale `5` is not text.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

fn document((id, locale, slug, handle, modified): Row<'_>) -> Document<'_> {
    let fields = ["slug", "handle", "updatedAt"].map(|name| FieldPath::parse(name).unwrap());
    Document {
        id: id.into(),
        locale: match locale {
            "" => DocumentLocale::None,
            "5" => DocumentLocale::NotText,
            locale => DocumentLocale::Named(locale.into()),
        },
        unpublished: false,
        fields: Arc::new(fields),
        values: [slug, handle, modified].map(value).to_vec(),
    }
}

fn value(text: &str) -> FieldValue<'_> {
    if text.is_empty() { FieldValue::Missing } else { FieldValue::Text(text.into()) }
}

/// The rules and the base URL of all snapshots below.
fn with_listing<T>(then: impl FnOnce(Listing<'_>) -> T) -> T {
    let rules = rules();
    let base = BaseUrl::parse("https://www.example.com").unwrap();
    let hosts = Hosts::one(base, rules.locales().as_slice().len());
    then(Listing { rules: &rules, hosts: &hosts, uid: UID })
}

/// A snapshot of these documents, found in two walks.
fn snapshot(rows: &[Row<'_>]) -> Snapshot {
    with_listing(|listing| snapshot_by(listing, rows))
}

fn snapshot_by(listing: Listing<'_>, rows: &[Row<'_>]) -> Snapshot {
    let half = |rows: &[Row<'_>]| {
        let mut part = listing.part();
        for row in rows {
            part.add(&document(*row));
        }
        part
    };
    let (one, other) = rows.split_at(rows.len() / 2);
    Builder { path_table: true }.finish(vec![half(one), half(other)]).unwrap()
}

fn paths<'s>(urls: impl Iterator<Item = PublicUrl<'s>>) -> Vec<&'s str> {
    urls.map(PublicUrl::path).collect()
}

#[test]
fn listed_returns_each_path_once_in_order() {
    let snapshot = snapshot(&[
        ("c", "de", "x", "", ""),
        ("b", "en", "z", "", ""),
        ("a", "en", "x", "", ""),
        ("d", "en", "x", "", ""),
        ("e", "en", "", "hidden", EXCLUDED),
        ("f", "en", "", "", ""),
        ("g", "fr", "x", "", ""),
    ]);
    assert_eq!(paths(snapshot.listed()), ["/en/x", "/en/z", "/de/x"]);
    assert_eq!((snapshot.len(), snapshot.listed_count()), (4, 3));
    assert_eq!(paths(snapshot.duplicates()), ["/en/x"]);
    assert_eq!(snapshot.listed_bytes(), 15);
    let skipped: Vec<_> = snapshot.skipped.by_reason().collect();
    assert_eq!(skipped, [("locale_unknown", 1), ("slug_missing", 1)]);
    assert_eq!(snapshot.owner("/en/x").map(PublicUrl::document_id), Some("a"));
    let hidden = snapshot.owner("/hidden").unwrap();
    assert_eq!((hidden.rule(), hidden.is_listed(), hidden.title()), (1, false, Some("hidden")));
    assert_eq!(paths(snapshot.unlisted()), ["/hidden"]);
    assert!(snapshot.owner("/en/f").is_none());
}

#[test]
fn owner_of_a_shared_path_is_a_listed_version_if_there_is_one() {
    for (rows, owner, listed) in [
        // Two documents.
        ([("a", "en", "x", "", EXCLUDED), ("b", "en", "x", "", "")], "b", &["/en/x"][..]),
        ([("a", "en", "x", "", ""), ("b", "en", "x", "", "")], "a", &["/en/x"]),
        ([("a", "en", "x", "", EXCLUDED), ("b", "en", "x", "", EXCLUDED)], "a", &[]),
        // Two versions of one document under a rule without `{locale}`.
        ([("a", "en", "", "x", EXCLUDED), ("a", "de", "", "x", "")], "a", &["/x"]),
    ] {
        let snapshot = snapshot(&rows);
        assert_eq!(paths(snapshot.listed()), listed, "{rows:?}");
        let owners: Vec<&str> =
            (0..snapshot.len()).map(|at| snapshot.url(at).document_id()).collect();
        assert_eq!(owners, [owner], "{rows:?}");
    }
}

#[test]
fn versions_of_any_url_are_those_of_its_document() {
    let mut rows = Vec::new();
    let ids: Vec<String> = (0..50).map(|n| format!("id{n}")).collect();
    for id in &ids {
        rows.push((id.as_str(), "de", id.as_str(), "", ""));
        rows.push((id.as_str(), "en", id.as_str(), "", ""));
    }
    let snapshot = snapshot(&rows);
    for id in &ids {
        for locale in ["en", "de"] {
            let url = snapshot.owner(&format!("/{locale}/{id}")).unwrap();
            let expected = [format!("/en/{id}"), format!("/de/{id}")];
            assert_eq!(paths(url.versions()), expected);
        }
    }
    let neighbours = paths(snapshot.documents(0..snapshot.len()).flatten());
    for pair in neighbours.chunks(2) {
        assert_eq!(pair[0].replace("/en/", ""), pair[1].replace("/de/", ""));
    }
}

#[test]
fn path_of_a_version_is_its_own_or_that_of_a_document_that_is_not_localized() {
    let rows = [
        ("a", "en", "x", "", ""),
        ("b", "en", "x", "", ""),
        ("b", "de", "y", "", ""),
        ("c", "en", "", "z", ""),
        ("c", "de", "", "z", ""),
        ("d", "de", "", "", ""),
        ("e", "", "w", "", ""),
    ];
    for (id, en, de) in [
        ("a", Some(("/en/x", 0)), None),
        // Its path belongs to "a".
        ("b", Some(("/en/x", 0)), Some(("/de/y", 1))),
        // Its versions have one path.
        ("c", Some(("/z", 0)), Some(("/z", 1))),
        ("d", None, None),
        ("e", Some(("/en/w", 0)), Some(("/en/w", 0))),
        ("f", None, None),
    ] {
        let snapshot = snapshot(&rows);
        assert_eq!([0, 1].map(|locale| snapshot.path_of(id, locale)), [en, de], "{id}");
    }
}

#[test]
fn listed_positions_are_those_of_the_listed_urls_that_a_document_owns() {
    let snapshot = snapshot(&[
        ("a", "en", "x", "", ""),
        ("b", "en", "x", "", ""),
        ("b", "de", "y", "", ""),
        ("b", "en", "", "hidden", EXCLUDED),
        ("c", "de", "a", "", ""),
        ("c", "en", "z", "", ""),
    ]);
    assert_eq!(paths(snapshot.listed()), ["/en/x", "/en/z", "/de/a", "/de/y"]);
    for (id, expected) in [("a", &[0][..]), ("b", &[3]), ("c", &[1, 2]), ("d", &[])] {
        assert_eq!(snapshot.listed_positions(id).collect::<Vec<_>>(), expected, "{id}");
    }
}

#[test]
fn modified_of_each_form_of_date() {
    for (text, expected) in [
        ("2024-03-06T22:19:54.649Z", Some(1_709_763_594_649)),
        ("2024-03-06T22:19:54+01:00", Some(1_709_759_994_000)),
        ("2024-03-06", Some(1_709_683_200_000)),
        ("1969-12-31T23:59:59.999Z", Some(-1)),
        ("yesterday", None),
        ("", None),
    ] {
        let snapshot = snapshot(&[("a", "en", "x", "", text)]);
        assert_eq!(snapshot.listed().next().unwrap().modified(), expected, "{text}");
    }
}

#[test]
fn listing_hash_of_equal_lists_is_equal() {
    let hash = |rows: &[Row<'_>]| snapshot(rows).listing_hash();
    let (one, other) = (("a", "en", "x", "", ""), ("b", "en", "y", "", ""));
    assert_eq!(hash(&[one, other]), hash(&[other, one]));
    // Not listed, or modified: the same list.
    assert_eq!(hash(&[one]), hash(&[("c", "en", "x", "", "2024-03-06")]));
    assert_eq!(hash(&[one]), hash(&[one, ("c", "en", "", "hidden", EXCLUDED)]));
    assert_ne!(hash(&[one]), hash(&[other]));
    assert_ne!(hash(&[one]), hash(&[one, other]));
}

#[test]
fn bytes_of_a_url_are_its_text_and_a_few_words() {
    const URLS: usize = 100_000;
    let ids: Vec<String> = (0..URLS).map(|n| format!("a-slug-of-usual-length-{n:07}")).collect();
    let rows: Vec<Row<'_>> = ids.iter().map(|id| (&**id, "en", &**id, "", "")).collect();
    let snapshot = snapshot(&rows);
    assert_eq!(snapshot.len(), URLS);
    // The text, an entry, a position and at most 12 bytes of the path table.
    let most = 34 + 30 + size_of::<Entry>() + 4 * size_of::<u32>();
    assert!(snapshot.bytes() / URLS <= most, "{} bytes a URL", snapshot.bytes() / URLS);
    assert_eq!(size_of::<Entry>(), 24);
}

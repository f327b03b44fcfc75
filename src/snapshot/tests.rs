use std::sync::Arc;

use super::*;
use crate::frontend_url::BaseUrl;
use crate::rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "api::a.a";

fn rules() -> RuleSet {
    let uid = ContentTypeUid::parse(UID).unwrap();
    let rule = |text| Rule::new(uid.clone(), Template::parse(text).unwrap());
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let locales = Locales::new(locales).unwrap();
    let mut rules = vec![rule("/{locale}/{slug}"), rule("/{handle}")];
    rules[1].switches.listed = false;
    RuleSet::new(locales, LocalePrefix::Always, rules)
}

/// Of `(documentId, locale, slug, handle, updatedAt)`.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str);

fn document((id, locale, slug, handle, modified): Row<'_>) -> Document<'_> {
    let fields = ["slug", "handle", "updatedAt"].map(|name| FieldPath::parse(name).unwrap());
    Document {
        id: id.into(),
        locale: DocumentLocale::Named(locale.into()),
        unpublished: false,
        fields: Arc::new(fields),
        values: [slug, handle, modified].map(value).to_vec(),
    }
}

fn value(text: &str) -> FieldValue<'_> {
    if text.is_empty() { FieldValue::Missing } else { FieldValue::Text(text.into()) }
}

/// A snapshot of these documents, found in two walks.
fn snapshot(rows: &[Row<'_>]) -> Snapshot {
    let rules = rules();
    let base = BaseUrl::parse("https://www.example.com").unwrap();
    let listing = Listing { rules: &rules, base: Some(&base), uid: UID };
    let half = |rows: &[Row<'_>]| {
        let mut part = listing.part();
        for row in rows {
            part.add(&document(*row));
        }
        part
    };
    let (one, other) = rows.split_at(rows.len() / 2);
    Builder { owners: true }.finish(vec![half(one), half(other)]).unwrap()
}

fn paths<'s>(urls: impl Iterator<Item = PublicUrl<'s>>) -> Vec<&'s str> {
    urls.map(PublicUrl::path).collect()
}

#[test]
fn each_path_is_listed_once_in_order() {
    let snapshot = snapshot(&[
        ("c", "de", "x", "", ""),
        ("b", "en", "z", "", ""),
        ("a", "en", "x", "", ""),
        ("d", "en", "x", "", ""),
        ("e", "en", "", "hidden", ""),
        ("f", "en", "", "", ""),
        ("g", "fr", "x", "", ""),
    ]);
    assert_eq!(paths(snapshot.listed()), ["/en/x", "/en/z", "/de/x"]);
    assert_eq!((snapshot.len(), snapshot.listed_count(), snapshot.duplicates), (4, 3, 1));
    assert_eq!(snapshot.listed_bytes(), 15);
    let skipped: Vec<_> = snapshot.skipped.by_reason().collect();
    assert_eq!(skipped, [("locale_unknown", 1), ("slug_missing", 1)]);
    assert_eq!(snapshot.owner("/en/x").map(PublicUrl::document_id), Some("a"));
    let hidden = snapshot.owner("/hidden").unwrap();
    assert_eq!((hidden.rule(), hidden.is_listed()), (1, false));
    assert!(snapshot.owner("/en/f").is_none());
}

#[test]
fn the_versions_of_a_document_are_found_from_any_of_them() {
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
fn modification_dates() {
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
fn equal_lists_have_equal_hashes() {
    let hash = |rows: &[Row<'_>]| snapshot(rows).listing_hash();
    let (one, other) = (("a", "en", "x", "", ""), ("b", "en", "y", "", ""));
    assert_eq!(hash(&[one, other]), hash(&[other, one]));
    // Not listed, or modified: the same list.
    assert_eq!(hash(&[one]), hash(&[("c", "en", "x", "", "2024-03-06")]));
    assert_eq!(hash(&[one]), hash(&[one, ("c", "en", "", "hidden", "")]));
    assert_ne!(hash(&[one]), hash(&[other]));
    assert_ne!(hash(&[one]), hash(&[one, other]));
}

#[test]
fn a_url_costs_its_text_and_a_few_words() {
    const URLS: usize = 100_000;
    let ids: Vec<String> = (0..URLS).map(|n| format!("a-slug-of-usual-length-{n:07}")).collect();
    let rows: Vec<Row<'_>> = ids.iter().map(|id| (&**id, "en", &**id, "", "")).collect();
    let snapshot = snapshot(&rows);
    assert_eq!(snapshot.len(), URLS);
    // The text, an entry, a position and at most three slots.
    let most = 34 + 30 + size_of::<Entry>() + 4 * size_of::<u32>();
    assert!(snapshot.bytes() / URLS <= most, "{} bytes a URL", snapshot.bytes() / URLS);
    assert_eq!(size_of::<Entry>(), 24);
}

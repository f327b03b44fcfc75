//! A snapshot knows which documents read another one.

use std::sync::Arc;

use crate::snapshot::{Builder, Listing, Patch, Patched, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

const UID: &str = "api::a.a";
const BUILDER: Builder = Builder { path_table: false };

fn rules() -> RuleSet {
    let template = Template::parse("/{locale}/{category.slug}/{slug}").unwrap();
    let rule = Rule::new(ContentTypeUid::parse(UID).unwrap(), template);
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, vec![rule])
}

/// `(documentId, locale, slug, category)`; an empty text is null.
type Row = (&'static str, &'static str, &'static str, &'static str);

fn document((id, locale, slug, category): Row) -> Document<'static> {
    let fields = ["slug", "category.slug", "category.documentId"];
    let value = |text: &'static str| match text {
        "" => FieldValue::Missing,
        text => FieldValue::Text(text.into()),
    };
    Document {
        id: id.into(),
        locale: DocumentLocale::Named(locale.into()),
        unpublished: false,
        fields: Arc::new(fields.map(|path| FieldPath::parse(path).unwrap())),
        values: vec![value(slug), value(category), value(category)],
    }
}

fn snapshot(listing: Listing<'_>, rows: &[Row]) -> Snapshot {
    let mut part = listing.part();
    for row in rows {
        part.add(&document(*row));
    }
    BUILDER.finish(vec![part]).unwrap()
}

fn referring(snapshot: &Snapshot, id: &str) -> Vec<(String, usize)> {
    let category = FieldPath::parse("category").unwrap();
    let found = snapshot.referring(&category, id);
    let mut found: Vec<_> = found.map(|(id, locale)| (id.to_owned(), locale)).collect();
    found.sort();
    found
}

fn versions(expected: &[(&str, usize)]) -> Vec<(String, usize)> {
    expected.iter().map(|(id, locale)| ((*id).to_owned(), *locale)).collect()
}

fn changed(patched: Patched) -> Snapshot {
    match patched {
        Patched::Changed(snapshot) => *snapshot,
        other => panic!("{other:?}"),
    }
}

#[test]
fn referring_finds_the_versions_that_read_a_document() {
    let rules = rules();
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let snapshot = snapshot(
        listing,
        &[
            ("a", "en", "x", "news"),
            ("a", "de", "x", "blog"),
            // Another document owns its path.
            ("b", "en", "x", "news"),
            // No URL.
            ("c", "en", "", "news"),
            ("d", "en", "y", ""),
            ("e", "fr", "z", "news"),
        ],
    );
    assert_eq!(referring(&snapshot, "news"), versions(&[("a", 0), ("b", 0), ("c", 0)]));
    assert_eq!(referring(&snapshot, "blog"), versions(&[("a", 1)]));
    assert_eq!(referring(&snapshot, "other"), versions(&[]));
}

#[test]
fn patched_replaces_single_versions_and_their_references() {
    let rules = rules();
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let before = snapshot(listing, &[("a", "en", "x", "news"), ("a", "de", "x", "news")]);
    let patch = |rows: &[Row], is_partial| {
        let versions = rows.iter().map(|row| document(*row)).collect();
        [Patch { id: "a".into(), versions, is_partial }]
    };
    let partial = patch(&[("a", "de", "y", "blog")], true);
    let after = changed(before.patched(&partial, listing, BUILDER));
    let paths: Vec<&str> = after.listed().map(crate::snapshot::PublicUrl::path).collect();
    assert_eq!(paths, ["/en/news/x", "/de/blog/y"]);
    assert_eq!(referring(&after, "news"), versions(&[("a", 0)]));
    assert_eq!(referring(&after, "blog"), versions(&[("a", 1)]));
    let whole = patch(&[("a", "de", "y", "")], false);
    let gone = changed(after.patched(&whole, listing, BUILDER));
    assert_eq!(
        (gone.len(), referring(&gone, "news"), referring(&gone, "blog")),
        (0, vec![], vec![])
    );
    let same = patch(&[("a", "de", "y", "blog")], true);
    assert!(matches!(after.patched(&same, listing, BUILDER), Patched::Unchanged));
}

#[test]
fn patched_keeps_references_that_change_without_a_url() {
    let rules = rules();
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let before = snapshot(listing, &[("a", "en", "", "news")]);
    let versions_now = vec![document(("a", "en", "", "blog"))];
    let patch = [Patch { id: "a".into(), versions: versions_now, is_partial: false }];
    let after = changed(before.patched(&patch, listing, BUILDER));
    assert_eq!(referring(&after, "news"), versions(&[]));
    assert_eq!(referring(&after, "blog"), versions(&[("a", 0)]));
}

#[test]
fn example_of_a_relation_is_a_document_behind_it() {
    let rules = rules();
    let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
    let category = FieldPath::parse("category").unwrap();
    let empty = snapshot(listing, &[("a", "en", "x", "")]);
    assert_eq!(empty.related_example(&category), None);
    let filled = snapshot(listing, &[("a", "en", "x", ""), ("b", "en", "y", "news")]);
    assert_eq!(filled.related_example(&category), Some("news"));
    assert_eq!(filled.related_example(&FieldPath::parse("parent").unwrap()), None);
    let patch = |row| [Patch { id: "b".into(), versions: vec![document(row)], is_partial: true }];
    let moved = changed(filled.patched(&patch(("b", "en", "y", "blog")), listing, BUILDER));
    assert_eq!(moved.related_example(&category), Some("blog"));
    // What had a document once may have one again.
    let left = changed(moved.patched(&patch(("b", "en", "y", "")), listing, BUILDER));
    assert_eq!(left.related_example(&category), Some("blog"));
}

//! New values behind a relation give the same snapshot as documents with these values.

mod cases;

use std::collections::BTreeSet;
use std::sync::Arc;

use proptest::prelude::*;

use crate::frontend_url::Hosts;
use crate::rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};
use crate::snapshot::{
    Builder, Listing, MAX_ROWS, Patch, Patched, RelatedUpdate, RelatedValues, Snapshot,
};

const UID: &str = "api::a.a";
const BUILDER: Builder = Builder { path_table: true };

fn rules(templates: &[&str]) -> RuleSet {
    let rule = |text: &&str| {
        let uid = ContentTypeUid::parse(UID).unwrap();
        let mut rule = Rule::new(uid, Template::parse(text).unwrap());
        rule.title = FieldPath::parse("title");
        rule
    };
    let locales = ["en", "de"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let locales = Locales::new(locales).unwrap();
    RuleSet::new(locales, LocalePrefix::Always, templates.iter().map(rule).collect())
}

fn path(path: &str) -> FieldPath {
    FieldPath::parse(path).unwrap()
}

/// `(documentId, locale, slug, documentId of the category, its slug, documentId of its section)`.
type Row<'a> = (&'a str, &'a str, &'a str, &'a str, &'a str, &'a str);

fn document<'a>((id, locale, slug, category, name, section): Row<'a>) -> Document<'a> {
    let fields = [
        "slug",
        "category.documentId",
        "category.slug",
        "category.section.documentId",
        "category.section.slug",
    ];
    let value = |text: &'a str| match text {
        "" => FieldValue::Missing,
        text => FieldValue::Text(text.into()),
    };
    Document {
        id: id.into(),
        locale: DocumentLocale::Named(locale.into()),
        unpublished: false,
        fields: Arc::new(fields.map(path)),
        values: [slug, category, name, section, section].map(value).to_vec(),
    }
}

fn snapshot(listing: Listing<'_>, rows: &[Row<'_>]) -> Snapshot {
    let mut part = listing.part();
    for row in rows {
        part.add(&document(*row));
    }
    BUILDER.finish(vec![part]).unwrap()
}

/// The versions that read the category `c0`.
fn referring(snapshot: &Snapshot) -> BTreeSet<(String, usize)> {
    let category = path("category");
    let found = snapshot.referring(&category, "c0");
    found.map(|(id, locale)| (id.to_owned(), locale)).collect()
}

fn values(locale: usize, category: &str, example: Document<'_>) -> RelatedValues {
    let (relation, target) = (path("category"), category.to_owned());
    RelatedValues { relation, target, locale, example: example.into_owned() }
}

fn nothing() -> Document<'static> {
    let none = ("", "en", "", "", "", "");
    Document { fields: Arc::new([]), values: Vec::new(), ..document(none) }
}

/// Everything about the versions with a URL and those without one.
fn facts(snapshot: &Snapshot) -> (Vec<String>, Vec<String>, u128) {
    let urls = snapshot.urls().map(|url| {
        let (path, owner) = (url.path(), url.is_owner());
        format!("{path} {} {} {owner} {:?}", url.document_id(), url.locale(), url.modified())
    });
    let rows = snapshot.no_url().map(|row| format!("{row:?}"));
    (urls.collect(), rows.collect(), snapshot.urls_hash())
}

fn changed(patched: Patched) -> Snapshot {
    match patched {
        Patched::Changed(snapshot) => *snapshot,
        other => panic!("{other:?}"),
    }
}

const NAMES: [&str; 5] = ["one", "é b", "a/b", "..", ""];
const SLUGS: [&str; 5] = ["x", "y", "x y", "a/b", ""];

proptest! {
    #[test]
    fn with_related_is_the_snapshot_of_documents_with_these_values(
        drafts in prop::collection::vec((0..8_u8, 0..2_usize, 0..5_usize, 0..3_usize), 0..20),
        (old, new, locale, is_null) in (0..5_usize, 0..5_usize, 0..2_usize, any::<bool>()),
    ) {
        let rules = rules(&["/{locale}/{category.slug}/{slug}"]);
        let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
        let mut drafts = drafts;
        drafts.sort_unstable();
        drafts.dedup_by_key(|(id, locale, ..)| (*id, *locale));
        let ids: Vec<String> = drafts.iter().map(|(id, ..)| format!("d{id}")).collect();
        let row = |at: usize, name: &'static str, is_null: bool| -> Row<'_> {
            let (_, code, slug, category) = drafts[at];
            let code = ["en", "de"][code];
            match ["c0", "c1", ""][category] {
                "c0" if !is_null => (&ids[at], code, SLUGS[slug], "c0", name, ""),
                "c1" => (&ids[at], code, SLUGS[slug], "c1", "other", ""),
                _ => (&ids[at], code, SLUGS[slug], "", "", ""),
            }
        };
        let all = 0..drafts.len();
        let before: Vec<Row<'_>> = all.clone().map(|at| row(at, NAMES[old], false)).collect();
        let after = all.map(|at| {
            let is_changed = drafts[at].1 == locale;
            row(at, NAMES[if is_changed { new } else { old }], is_changed && is_null)
        });
        let after: Vec<Row<'_>> = after.collect();
        let (before, after) = (snapshot(listing, &before), snapshot(listing, &after));
        let example = document(("s", "en", "s", "c0", NAMES[new], ""));
        let example = if is_null { nothing() } else { example };
        let RelatedUpdate { patched, to_read } =
            before.with_related_values(&[values(locale, "c0", example)], listing, BUILDER);
        // Without a usable name before, the other values of a document are not known.
        let has_unknown = old >= 2 && new < 2 && !is_null && referring(&before)
            .iter()
            .any(|(_, at)| *at == locale);
        prop_assert_eq!(!to_read.is_empty(), has_unknown);
        match patched {
            _ if has_unknown => {}
            Patched::Unchanged => prop_assert_eq!(facts(&before), facts(&after)),
            Patched::Changed(found) => {
                prop_assert_eq!(facts(&found), facts(&after));
                for url in after.owners() {
                    prop_assert!(found.owner(url.path()).is_some());
                }
                // A reference is only lost when a version is read.
                prop_assert_eq!(referring(&found), referring(&before));
            }
            Patched::NeedsWalk => prop_assert!(false, "there is little text"),
        }
    }
}

proptest! {
    #[test]
    fn withdrawn_document_that_returns_gives_the_versions_their_urls_with_its_new_values(
        drafts in prop::collection::vec((0..8_u8, 0..2_usize, 0..5_usize, 0..3_usize), 0..20),
        (new, replaced) in (0..5_usize, 0..9_u8),
    ) {
        let rules = rules(&["/{locale}/{category.slug}/{slug}"]);
        let listing = Listing { rules: &rules, hosts: &Hosts::default(), uid: UID };
        let mut drafts = drafts;
        drafts.sort_unstable();
        drafts.dedup_by_key(|(id, locale, ..)| (*id, *locale));
        let ids: Vec<String> = drafts.iter().map(|(id, ..)| format!("d{id}")).collect();
        let row = |at: usize, name: &'static str, slug: Option<&'static str>| -> Row<'_> {
            let (_, code, own, category) = drafts[at];
            let (id, code) = (&*ids[at], ["en", "de"][code]);
            let own = slug.unwrap_or(SLUGS[own]);
            match ["c0", "c1", ""][category] {
                "c0" => (id, code, own, "c0", name, ""),
                "c1" => (id, code, own, "c1", "other", ""),
                _ => (id, code, own, "", "", ""),
            }
        };
        let rows = |name| -> Vec<Row<'_>> { (0..drafts.len()).map(|at| row(at, name, None)).collect() };
        let apply = |before: &Snapshot, locale, example: Document<'_>| {
            let values = [values(locale, "c0", example)];
            let RelatedUpdate { patched, to_read } =
                before.with_related_values(&values, listing, BUILDER);
            let after = match patched {
                Patched::Changed(after) => Some(*after),
                Patched::Unchanged => None,
                Patched::NeedsWalk => panic!("there is little text"),
            };
            (after, to_read)
        };
        let mut found = snapshot(listing, &rows("one"));
        for locale in [0, 1, 1] {
            let (after, to_read) = apply(&found, locale, nothing());
            prop_assert!(to_read.is_empty());
            found = after.unwrap_or(found);
        }
        // One document is read again meanwhile: its other values have changed.
        let changed: Vec<usize> =
            (0..drafts.len()).filter(|at| drafts[*at].0 == replaced).collect();
        if !changed.is_empty() {
            let id = format!("d{replaced}");
            let versions = changed.iter().map(|at| match row(*at, "", Some("z")) {
                (id, code, slug, "c0", ..) => document((id, code, slug, "", "", "")).into_owned(),
                row => document(row).into_owned(),
            });
            let patch = Patch { id, versions: versions.collect(), is_partial: false };
            if let Patched::Changed(after) = found.patched(&[patch], listing, BUILDER) {
                found = *after;
            }
        }
        for locale in [0, 1] {
            let example = document(("s", ["en", "de"][locale], "s", "c0", NAMES[new], ""));
            let (after, to_read) = apply(&found, locale, example);
            prop_assert!(to_read.is_empty());
            found = after.unwrap_or(found);
        }
        let expected: Vec<Row<'_>> = (0..drafts.len())
            .map(|at| match row(at, NAMES[new], changed.contains(&at).then_some("z")) {
                (id, code, slug, "c0", ..) if changed.contains(&at) => (id, code, slug, "", "", ""),
                row => row,
            })
            .collect();
        prop_assert_eq!(facts(&found), facts(&snapshot(listing, &expected)));
    }
}

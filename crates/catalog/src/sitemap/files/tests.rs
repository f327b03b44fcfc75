use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use proptest::prelude::*;

use super::layout::FileLimits;
use super::*;
use crate::snapshot::{Builder, Listing, Snapshot};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Rule, RuleSet, Template,
};

/// A version: documentId, locale, slug, updatedAt.
type Row = (String, &'static str, String, Option<&'static str>);

fn row(id: &str, locale: &'static str, slug: &str, modified: Option<&'static str>) -> Row {
    (id.to_owned(), locale, slug.to_owned(), modified)
}

fn rules() -> RuleSet {
    let locales = ["en", "de", "pt_BR"].map(|code| Locale::parse(code).unwrap()).to_vec();
    let uid = ContentTypeUid::parse("api::a.a").unwrap();
    let rule = Rule::new(uid, Template::parse("/{locale}/{slug}").unwrap());
    RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, vec![rule])
}

fn base() -> BaseUrl {
    BaseUrl::parse("https://www.example.com/a&b").unwrap()
}

fn hosts() -> Hosts {
    Hosts::one(base(), rules().locales().as_slice().len())
}

fn snapshot(rows: &[Row]) -> Snapshot {
    let (rules, hosts) = (rules(), hosts());
    let listing = Listing { rules: &rules, hosts: &hosts, uid: "api::a.a" };
    let fields: Arc<[FieldPath]> =
        ["slug", "updatedAt"].map(|name| FieldPath::parse(name).unwrap()).into();
    let mut part = listing.part();
    for (id, locale, slug, modified) in rows {
        let text = FieldValue::Text;
        part.add(&Document {
            id: id.into(),
            locale: DocumentLocale::Named((*locale).into()),
            unpublished: false,
            fields: Arc::clone(&fields),
            values: vec![
                text(slug.into()),
                modified.map_or(FieldValue::Missing, |date| text(date.into())),
            ],
        });
    }
    Builder { path_table: false }.finish(vec![part]).unwrap()
}

fn frame() -> Frame {
    Frame::new(&hosts(), rules().locales(), 0)
}

/// All files by number.
fn files(snapshot: &Snapshot, limits: FileLimits) -> BTreeMap<u64, String> {
    let layout = Layout::within(snapshot, None, &frame(), limits);
    let text = |file: &File| (file.number, write(snapshot, None, &frame(), file.range.clone()));
    layout.files.iter().map(text).collect()
}

const NO_LIMIT: FileLimits = FileLimits { urls: usize::MAX, bytes: usize::MAX };

#[test]
fn file_has_this_text() {
    let snapshot = snapshot(&[
        row("one", "de", "x", Some("2024-03-06T22:19:54.649Z")),
        row("one", "en", "y", Some("2024-03-07")),
        row("two", "pt_BR", "z", None),
    ]);
    let text = &files(&snapshot, NO_LIMIT)[&1];
    let at = "https://www.example.com/a&amp;b";
    let link = |code: &str, path: &str| {
        format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href="{at}{path}"/>"#)
    };
    let links = link("en", "/en/y") + &link("de", "/de/x") + &link("x-default", "/en/y");
    let one = format!(
        "<url><loc>{at}/en/y</loc><lastmod>2024-03-07T00:00:00.000Z</lastmod>{links}</url>\
         <url><loc>{at}/de/x</loc><lastmod>2024-03-06T22:19:54.649Z</lastmod>{links}</url>"
    );
    let two = format!("<url><loc>{at}/pt_BR/z</loc></url>");
    let head = r#"<?xml version="1.0" encoding="UTF-8"?><urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9" xmlns:xhtml="http://www.w3.org/1999/xhtml">"#;
    let either = [format!("{head}{one}{two}</urlset>"), format!("{head}{two}{one}</urlset>")];
    assert!(either.contains(text), "{text}");
}

#[test]
fn locales_are_written_as_bcp_47() {
    let rows = [row("one", "pt_BR", "x", None), row("one", "de", "y", None)];
    let text = &files(&snapshot(&rows), NO_LIMIT)[&1];
    assert!(
        text.contains(r#"hreflang="pt-BR""#) && !text.contains(r#"hreflang="pt_BR""#),
        "{text}"
    );
}

#[test]
fn no_documents_make_no_file() {
    assert!(files(&snapshot(&[]), NO_LIMIT).is_empty());
}

#[test]
fn dates_beyond_four_digit_years_are_left_out() {
    for (milliseconds, expected) in [
        (-62_167_219_200_000, "<lastmod>0000-01-01T00:00:00.000Z</lastmod>"),
        (-62_167_219_200_001, ""),
        (0, "<lastmod>1970-01-01T00:00:00.000Z</lastmod>"),
        (253_402_207_200_000, "<lastmod>9999-12-30T22:00:00.000Z</lastmod>"),
        (253_402_300_800_000, ""),
        (i64::MAX, ""),
    ] {
        let mut text = String::new();
        super::write::push_date(&mut text, milliseconds);
        assert_eq!(text, expected, "{milliseconds}");
    }
}

#[test]
fn index_lists_all_files_with_their_newest_dates() {
    let rows: Vec<Row> =
        (0..3).map(|n| row(&format!("id{n}"), "en", &n.to_string(), Some("2024-03-06"))).collect();
    let layout = Layout::new(&snapshot(&rows), None, &frame());
    let empty = Layout::default();
    let text = index("https://x.example/s&m", [("api::a.a", &layout), ("api::b.b", &empty)]);
    let expected = concat!(
        r#"<?xml version="1.0" encoding="UTF-8"?><sitemapindex xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#,
        "<sitemap><loc>https://x.example/s&amp;m/api.a.a-1.xml</loc>",
        "<lastmod>2024-03-06T00:00:00.000Z</lastmod></sitemap></sitemapindex>"
    );
    assert_eq!(text, expected);
    assert_eq!(robots("https://x.example/s"), "Sitemap: https://x.example/s/index.xml\n");
}

/// A URL with its date and its alternates.
type Entry = (String, Option<String>, Vec<(String, String)>);

/// The entries that an XML parser reads.
fn read(text: &str) -> Vec<Entry> {
    let document = roxmltree::Document::parse(text).unwrap();
    let child = |url: roxmltree::Node<'_, '_>, name: &str| {
        let child = url.children().find(|child| child.tag_name().name() == name);
        child.and_then(|child| child.text().map(str::to_owned))
    };
    let link = |node: roxmltree::Node<'_, '_>| {
        let attribute = |name| node.attribute(name).unwrap().to_owned();
        (attribute("hreflang"), attribute("href"))
    };
    let links = |url: roxmltree::Node<'_, '_>| {
        let links = url.children().filter(|child| child.tag_name().name() == "link");
        links.map(link).collect()
    };
    let urls = document.root_element().children();
    urls.map(|url| (child(url, "loc").unwrap(), child(url, "lastmod"), links(url))).collect()
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let locale = prop::sample::select(&["en", "de", "pt_BR"][..]);
    let modified =
        prop::option::of(prop::sample::select(&["2024-03-06", "2023-01-01T01:02:03Z"][..]));
    let row = (0..60_u32, locale, "[a-zé]{1,3}", modified);
    let row =
        row.prop_map(|(id, locale, slug, modified)| (format!("id{id}"), locale, slug, modified));
    prop::collection::vec(row, 0..80).prop_map(|mut rows| {
        // Each version once.
        let mut seen = BTreeSet::new();
        rows.retain(|(id, locale, ..)| seen.insert((id.clone(), *locale)));
        rows
    })
}

proptest! {
    #[test]
    fn every_listed_url_is_in_one_file_within_bounds(rows in rows(), urls in 1..9_usize) {
        let snapshot = snapshot(&rows);
        let limits = FileLimits { urls, bytes: 6_000 };
        let files = files(&snapshot, limits);
        let mut found = Vec::new();
        let mut groups: BTreeMap<String, Vec<(String, String)>> = BTreeMap::new();
        for text in files.values() {
            let read = read(text);
            prop_assert!(!read.is_empty());
            // A document has up to three versions, which stay together.
            prop_assert!(read.len() <= urls.max(3));
            prop_assert!(text.len() <= 6_000 + 4_096);
            for (loc, _, links) in read {
                groups.insert(loc.clone(), links);
                found.push(loc);
            }
        }
        let base = base();
        let mut expected: Vec<_> = snapshot.listed().map(|url| base.join(url.path())).collect();
        expected.sort();
        found.sort();
        prop_assert_eq!(found, expected);
        for (loc, links) in &groups {
            let versions: BTreeSet<&String> = links.iter().map(|(_, href)| href).collect();
            prop_assert!(links.is_empty() || versions.contains(loc), "its own link");
            prop_assert!(versions.iter().all(|href| &groups[*href] == links), "reciprocal");
            let defaults = links.iter().filter(|(code, _)| code == "x-default").count();
            prop_assert_eq!(defaults, usize::from(!links.is_empty()));
        }
    }

    #[test]
    fn one_document_more_changes_one_file_or_splits_it(rows in rows(), urls in 1..9_usize) {
        let Some((last, before)) = rows.split_last() else { return Ok(()) };
        // Another version of a known document would be a change of that document.
        let before: Vec<Row> = before.iter().filter(|row| row.0 != last.0).cloned().collect();
        let mut after = before.clone();
        // No other document has this slug.
        after.push((last.0.clone(), last.1, "own-slug".to_owned(), last.3));
        let limits = FileLimits { urls, bytes: usize::MAX };
        let (before, after) = (files(&snapshot(&before), limits), files(&snapshot(&after), limits));
        let gone: Vec<u64> = before.keys().filter(|n| !after.contains_key(n)).copied().collect();
        let changed = before.iter().filter(|(n, text)| after.get(n).is_some_and(|now| now != *text));
        prop_assert!(gone.len() + changed.count() <= 1);
        for number in after.keys().filter(|number| !before.contains_key(number)) {
            // New files are the parts of the one that was split, or the first file of all.
            let below = |mut n: u64| loop {
                if gone.contains(&n) { break true }
                if n <= 1 { break false }
                n /= 2;
            };
            prop_assert!(below(*number) || gone.is_empty(), "{number} {gone:?}");
        }
    }

    #[test]
    fn order_of_the_walk_does_not_matter(rows in rows(), urls in 1..9_usize) {
        let limits = FileLimits { urls, bytes: usize::MAX };
        let reversed: Vec<Row> = rows.iter().rev().cloned().collect();
        prop_assert_eq!(files(&snapshot(&rows), limits), files(&snapshot(&reversed), limits));
    }
}

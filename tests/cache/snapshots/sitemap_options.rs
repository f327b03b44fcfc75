//! What rules say about their documents in sitemaps: listed or not, and by which date.

use std::collections::BTreeSet;

use super::paths;
use crate::support::content::Content;
use crate::support::front_end::{FrontEnd, answer};
use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until;

/// Three rules: articles with every kind of condition, notes that are never listed, and pages that
/// are listed by one of their two rules.
fn settings() -> Settings {
    site("main")
        .rule("api::article.article", "/articles/{slug}")
        .with(
            r#"exclude_when = { noindex = true, robots = "none", level = 3, "seo.hidden" = true }"#,
        )
        .with("modified = \"reviewedAt\"")
        .rule("api::note.note", "/notes/{slug}")
        .with("sitemap = false")
        .rule("api::page.page", "/hidden/{handle}")
        .with("sitemap = false")
        .rule("api::page.page", "/pages/{slug}")
}

/// Slug, and what is in the document beside it.
const ROWS: [(&str, &str); 9] = [
    ("plain", ""),
    ("not-hidden", r#","noindex":false,"robots":"all","level":4,"seo":{"hidden":false}"#),
    ("of-another-type", r#","noindex":"true","robots":true,"level":"three""#),
    ("hidden-by-boolean", r#","noindex":true"#),
    ("hidden-by-text", r#","robots":"none""#),
    ("hidden-by-integer", r#","level":3"#),
    ("hidden-by-relation", r#","seo":{"hidden":true}"#),
    ("hidden-by-all", r#","noindex":true,"robots":"none","level":3"#),
    ("with-handle", r#","handle":"secret""#),
];

const TYPES: [&str; 3] = ["api::article.article", "api::note.note", "api::page.page"];

fn from_files(base: &str) -> Service {
    let row = |(slug, more): &(&str, &str)| {
        format!(r#"{{"documentId":"{slug}","locale":"en","slug":"{slug}"{more}}}"#)
    };
    let rows: Vec<String> = ROWS.iter().map(row).chain([NO_URL.to_owned()]).collect();
    let types = TYPES.map(|uid| format!("\"{uid}\":[{}]", rows.join(",")));
    let content = format!("{{{}}}", types.join(","));
    settings().front_end_url(base).files(&content).start()
}

/// Skipped, whatever the rule says.
const NO_URL: &str = r#"{"documentId":"no-url","locale":"en","noindex":true}"#;

/// The fields that the rules name. Strapi sends null for those that are not set.
const FIELDS: [&str; 7] = ["slug", "handle", "noindex", "robots", "level", "seo", "reviewedAt"];

fn strapi() -> Content {
    let content = Content::default();
    let put = |id: &str, fields: &str| {
        let unset = FIELDS.iter().filter(|name| !fields.contains(&format!("\"{name}\":")));
        let nulls: Vec<String> = unset.map(|name| format!(",\"{name}\":null")).collect();
        content.put("en", id, &format!("{fields}{}", nulls.concat()));
    };
    for (slug, more) in ROWS {
        put(slug, &format!(r#","slug":"{slug}"{more}"#));
    }
    put("no-url", r#","noindex":true"#);
    content
}

fn list(service: &Service, uid: &str, more: &str) -> Response {
    let target = format!("/api/build-sitemap?site=main&contentType={uid}{more}");
    http::get(service.addr(), &target)
}

fn assert_sitemap_options(service: &Service) {
    let articles = list(service, TYPES[0], "");
    let listed = ["not-hidden", "of-another-type", "plain", "with-handle"];
    assert_eq!(paths(&articles), listed.map(|slug| format!("/articles/{slug}")));
    assert_eq!(articles.header("x-skipped-documents").as_deref(), Some("1"));
    let notes = list(service, TYPES[1], "");
    assert_eq!(paths(&notes), [""; 0]);
    assert_eq!(notes.header("x-skipped-documents").as_deref(), Some("1"));
    let pages = paths(&list(service, TYPES[2], ""));
    let expected = ROWS.iter().map(|(slug, _)| format!("/pages/{slug}"));
    let expected: BTreeSet<_> = expected.filter(|path| path != "/pages/with-handle").collect();
    assert_eq!(pages.into_iter().collect::<BTreeSet<_>>(), expected, "the first rule decides");
    for (slug, _) in ROWS {
        for (uid, folder) in [(TYPES[0], "articles"), (TYPES[1], "notes")] {
            let target = format!("/api/frontend-url?uid={uid}&documentId={slug}");
            let answer = http::get(service.addr(), &target);
            assert_eq!(answer.json()["data"]["path"], format!("/{folder}/{slug}"), "{target}");
        }
    }
}

#[test]
fn content_file_is_listed_as_the_rules_say() {
    assert_sitemap_options(&from_files("https://www.example.com"));
}

#[test]
fn strapi_query_has_the_fields_and_the_list_follows_the_rules() {
    let cms = strapi().start();
    assert_sitemap_options(&settings().strapi(&cms).start());
    let fields = |endpoint: &str| -> BTreeSet<String> {
        let path = format!("/api/{endpoint}?");
        let targets = cms.targets();
        let first = targets.iter().find(|target| target.starts_with(&path)).expect("was asked");
        first.split('&').filter(|pair| pair.contains("fields")).map(field).collect()
    };
    let always = ["locale", "publishedAt", "slug"];
    let of_articles = ["level", "noindex", "reviewedAt", "robots", "seo.hidden"];
    assert_eq!(fields("articles"), set(&[&always[..], &of_articles].concat()));
    assert_eq!(fields("notes"), set(&[&always[..], &["updatedAt"]].concat()));
    assert_eq!(fields("pages"), set(&[&always[..], &["handle", "updatedAt"]].concat()));
    let one = cms.targets().into_iter().find(|target| target.contains("/api/articles/plain"));
    assert!(!one.expect("was asked").contains("noindex"), "one document needs none of it");
}

/// `fields[3]=slug`, `populate[seo][fields][0]=hidden`.
fn field(pair: &str) -> String {
    let (name, field) = pair.split_once('=').expect("a pair");
    match name.strip_prefix("populate[").and_then(|rest| rest.split_once(']')) {
        Some((relation, _)) => format!("{relation}.{field}"),
        None => field.to_owned(),
    }
}

fn set(fields: &[&str]) -> BTreeSet<String> {
    fields.iter().map(|field| (*field).to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn validation_checks_exactly_the_listed_urls() {
    let peer = FrontEnd::start(|_| answer("200 OK", "", 2)).await;
    let base = peer.url("http", "");
    let (listed, report) = tokio::task::spawn_blocking(move || {
        let service = from_files(&base);
        let listed = list(&service, TYPES[0], "").json()["data"]["urls"].clone();
        assert_eq!(list(&service, TYPES[1], "&validate=true").json()["data"]["count"], 0);
        (listed, list(&service, TYPES[0], "&validate=true"))
    })
    .await
    .expect("no panic");
    let report = report.json()["data"].clone();
    let checked = report["results"].as_array().expect("a list").iter();
    let checked: Vec<_> = checked.map(|result| result["url"].clone()).collect();
    assert_eq!(listed, serde_json::Value::from(checked));
    assert_eq!((&report["count"], &report["byClass"]["2xx"]), (&4.into(), &4.into()));
    assert_eq!(peer.heads().len(), 4, "no other URL is asked for");
}

#[test]
fn path_of_an_excluded_document_is_listed_for_another_document_that_has_it() {
    let row = |id: &str, locale: &str, slug: &str, more: &str| {
        format!(r#"{{"documentId":"{id}","locale":"{locale}","slug":"{slug}"{more}}}"#)
    };
    let hidden = r#","noindex":true"#;
    let content = [
        row("a", "en", "two-documents", hidden),
        row("b", "en", "two-documents", ""),
        row("c", "en", "two-versions", hidden),
        row("c", "de", "two-versions", ""),
        row("d", "en", "both-excluded", hidden),
        row("e", "en", "both-excluded", hidden),
    ]
    .join(",");
    let uid = TYPES[0];
    let content = format!("{{\"{uid}\":[{content}]}}");
    let settings = settings().locales(&["en", "de"]).resolve("documents");
    let service = settings.files(&content).start();
    assert_eq!(
        paths(&list(&service, uid, "")),
        ["/articles/two-documents", "/articles/two-versions"]
    );
    for (slug, owner) in [("two-documents", "b"), ("two-versions", "c"), ("both-excluded", "d")] {
        let target = format!("/api/resolve?site=main&pathname=/articles/{slug}");
        // Before the snapshots of all types are built, there is no index.
        let response = until("an index", || {
            let response = http::get(service.addr(), &target);
            (response.header("x-resolved-by").as_deref() == Some("documents")).then_some(response)
        });
        assert_eq!(response.json()["data"]["documentId"], owner);
    }
}

//! Documents that are not localized, at their own path on another host or in another locale: each
//! leads to the only URL of the document, as a path of a template does.

use serde_json::{Value, json};

use super::{data, get};
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

/// Each document as a published version and as a draft.
fn content() -> String {
    let both = |documents: Value| -> Value {
        let rows = documents.as_array().expect("a list");
        let with = |status: &'static str| {
            rows.iter().map(move |row| {
                let mut row = row.clone();
                row["status"] = json!(status);
                row
            })
        };
        with("published").chain(with("draft")).collect()
    };
    json!({
        "api::page.page": both(json!([
            {"documentId": "short", "slug": "a", "own": "own"},
            {"documentId": "deep", "slug": "b", "own": "own/deep"},
            {"documentId": "plain", "slug": "plain"},
            {"documentId": "german", "locale": "de", "slug": "c", "own": "both/x"},
            {"documentId": "english", "locale": "en", "slug": "d", "own": "both/x"},
            {"documentId": "italian", "locale": "it", "slug": "e", "own": "solo/x"}])),
        "api::note.note": both(json!([
            {"documentId": "note", "slug": "n", "own": "it/a/note"},
            {"documentId": "bare", "slug": "o", "own": "bare/a/b"}])),
    })
    .to_string()
}

fn started() -> Service {
    let service = site("main")
        .front_end_url(
            r#"{ en = "https://a.example", de = "https://b.example", it = "https://c.example" }"#,
        )
        // `de` has the segment of `en` on another host.
        .locales(&["en", r#"{ code = "de", segment = "en", hreflang = "de" }"#, "it"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{slug}")
        .with("path_field = \"own\"")
        .rule("api::note.note", "/notes/{slug}")
        .with("path_field = \"own\"")
        .files(&content())
        .start();
    for path in ["/it/own/deep", "/bare/a/b"] {
        let target = format!("/api/resolve?site=main&pathname={path}");
        until_so("the documents are known", || get(&service, &target).status == 200);
    }
    service
}

/// Path, host, and the document with its locale and its URL.
type Case = (&'static str, &'static str, Option<(&'static str, &'static str, &'static str)>);

#[test]
fn own_path_on_another_host_leads_to_a_document_that_is_not_localized() {
    let service = started();
    let deep = "https://a.example/en/own/deep";
    let cases: [Case; 19] = [
        ("/en/own", "b.example", Some(("short", "de", "https://a.example/en/own"))),
        ("/en/own/deep", "", Some(("deep", "en", deep))),
        ("/en/own/deep", "a.example", Some(("deep", "en", deep))),
        ("/en/own/deep", "b.example", Some(("deep", "de", deep))),
        ("/en/own/deep", "c.example", Some(("deep", "en", deep))),
        ("/it/own/deep", "", Some(("deep", "it", deep))),
        ("/it/own/deep", "a.example", Some(("deep", "it", deep))),
        ("/it/own/deep", "b.example", Some(("deep", "it", deep))),
        ("/it/own/deep", "c.example", Some(("deep", "it", deep))),
        ("/it/own", "b.example", Some(("short", "it", "https://a.example/en/own"))),
        ("/en/plain", "b.example", Some(("plain", "de", "https://a.example/en/plain"))),
        ("/it/plain", "b.example", Some(("plain", "it", "https://a.example/en/plain"))),
        // Without a locale in the template.
        ("/bare/a/b", "c.example", Some(("bare", "it", "https://a.example/bare/a/b"))),
        ("/it/a/note", "b.example", Some(("note", "de", "https://a.example/it/a/note"))),
        // Localized: there is no fallback.
        ("/en/both/x", "b.example", Some(("german", "de", "https://b.example/en/both/x"))),
        ("/en/both/x", "", Some(("english", "en", "https://a.example/en/both/x"))),
        ("/en/both/x", "c.example", None),
        ("/it/solo/x", "a.example", None),
        ("/en/solo/x", "c.example", None),
    ];
    for status in ["published", "draft"] {
        for (path, host, expected) in cases {
            let query = format!("site=main&pathname={path}&host={host}&status={status}");
            let response = get(&service, &format!("/api/resolve?{query}"));
            let Some((id, locale, url)) = expected else {
                assert_eq!(response.status, 404, "{query}: {}", response.text());
                continue;
            };
            assert_eq!(response.status, 200, "{query}: {}", response.text());
            let found = &response.json()["data"];
            let shown = (&found["documentId"], &found["locale"], &found["canonicalUrl"]);
            assert_eq!(shown, (&json!(id), &json!(locale), &json!(url)), "{query}");
            assert_eq!(found["matched"]["params"]["locale"], locale, "{query}");
            let requested = format!("https://{host}{path}");
            let is_canonical = url == requested || (host.is_empty() && url.ends_with(path));
            assert_eq!(found["isCanonical"], is_canonical, "{query}");
            if status == "published" {
                let matched = data(&service, &format!("/api/get-content-type?{query}"));
                assert_eq!(matched["matched"], found["matched"], "{query}");
            }
        }
    }
}

//! Drafts by their pathname, and documents by their id, read from the CMS.

use std::sync::{Arc, Mutex};

use serde_json::json;

use super::until;
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{*path}")
        .with(r#"params.path = { field = "slug", ancestors = "parent" }"#)
        .rule("api::story.story", "/{locale}/stories/{slug}")
        .rule("api::post.post", "/{locale}/stories/{slug}")
        .with(r#"where = { kind = "open" }"#)
        .files(CONTENT)
}

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about", "status": "draft"},
    {"documentId": "p2", "locale": "en", "slug": "team", "status": "draft",
     "parent": {"documentId": "p1", "slug": "about"}},
    {"documentId": "p2", "locale": "de", "slug": "gruppe", "status": "draft",
     "parent": {"documentId": "p1", "slug": "wir"}},
    {"documentId": "p3", "locale": "en", "slug": "stories", "status": "published"}
  ],
  "api::story.story": [
    {"documentId": "s1", "locale": "en", "slug": "old", "status": "published"},
    {"documentId": "s1", "locale": "en", "slug": "new", "status": "draft"},
    {"documentId": "s1", "locale": "de", "slug": "neu", "status": "draft"},
    {"documentId": "s2", "locale": "en", "slug": "", "status": "draft"}
  ],
  "api::post.post": [
    {"documentId": "o1", "locale": "en", "slug": "post", "kind": "open", "status": "draft"},
    {"documentId": "o2", "locale": "en", "slug": "closed", "kind": "closed", "status": "draft"}
  ]
}"#;

fn resolve(service: &Service, query: &str) -> Response {
    http::get(service.addr(), &format!("/api/resolve?site=main&{query}"))
}

#[track_caller]
fn id(response: &Response) -> String {
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("x-resolved-by").as_deref(), Some("cms"));
    let data = &response.json()["data"];
    assert_eq!(data["resolvedBy"], "cms");
    data["documentId"].as_str().unwrap_or("none").to_owned()
}

#[test]
fn draft_is_resolved_by_its_own_path() {
    let service = settings().start();
    for (pathname, expected) in [
        ("/en/about", "p1"),
        ("/en/about/team", "p2"),
        ("/de/wir/gruppe", "p2"),
        // The page is there, but not under this path.
        ("/en/team", "none"),
        ("/de/about/team", "none"),
        ("/en/stories/new", "s1"),
        // Only the published version had this path.
        ("/en/stories/old", "none"),
        ("/en/stories/post", "o1"),
        ("/en/stories/closed", "none"),
    ] {
        for status in ["draft", "modified"] {
            let response = resolve(&service, &format!("pathname={pathname}&status={status}"));
            assert_eq!(id(&response), expected, "{pathname}");
            assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
            assert_eq!(response.header("etag"), None);
        }
    }
    let missing = resolve(&service, "pathname=/fr/x&status=draft");
    assert_eq!(missing.status, 404);
    assert_eq!(missing.header("cache-control").as_deref(), Some("no-store"));
}

#[test]
fn draft_has_the_same_response_by_its_path_and_by_its_id() {
    let service = settings().start();
    until(&service, "/api/resolve?site=main&pathname=/en/stories", |response| {
        response.text().contains("p3")
    });
    let by_path = resolve(&service, "pathname=/en/stories/new&status=draft");
    let by_id = resolve(&service, "uid=api::story.story&documentId=s1&locale=en&status=draft");
    assert_eq!(by_path.text(), by_id.text());
    let url = "https://www.example.com";
    let expected = format!(
        r#"{{"data":{{"site":"main","pathname":"/en/stories/new","locale":"en","matched":{{"collectionType":"api::story.story","rule":"/{{locale}}/stories/{{slug}}","params":{{"locale":"en","slug":"new"}}}},"kind":"document","resolvedBy":"cms","documentId":"s1","canonicalPath":"/en/stories/new","canonicalUrl":"{url}/en/stories/new","isCanonical":true,"resource":null,"lastModified":null,"breadcrumbs":[{{"path":"/en/stories","url":"{url}/en/stories","contentType":"api::page.page","documentId":"p3"}}],"alternates":{{"en":"{url}/en/stories/new","de":"{url}/de/stories/neu","x-default":"{url}/en/stories/new"}}}},"meta":{{}}}}"#
    );
    assert_eq!(by_path.text(), expected);
    let published = resolve(&service, "uid=api::story.story&documentId=s1");
    assert_eq!(published.json()["data"]["canonicalPath"], "/en/stories/old");
    assert_eq!(published.json()["data"]["resolvedBy"], "cms");
    assert_eq!(published.header("cache-control").as_deref(), Some("no-cache"));
}

#[test]
fn invalid_requests_are_refused() {
    let service = settings().start();
    for (query, status, reason) in [
        ("pathname=/en/x&status=live", 400, ""),
        ("pathname=/en/x&status=draft&status=draft", 400, ""),
        ("pathname=x&status=draft", 400, ""),
        ("status=draft", 400, ""),
        ("pathname=/en/x&uid=api::story.story&documentId=s1", 400, ""),
        ("pathname=/en/x&documentId=s1", 400, ""),
        ("uid=api::story.story", 400, ""),
        ("documentId=s1", 400, ""),
        ("uid=api::story.story&documentId=s%201", 400, ""),
        ("uid=api::nope.nope&documentId=s1", 404, "no_rule"),
        ("uid=api::story.story&documentId=s9", 404, "no_version"),
        ("uid=api::story.story&documentId=s1&locale=fr", 404, "locale_unknown"),
        ("uid=api::story.story&documentId=s1&locale=de", 404, "no_version"),
        ("uid=api::story.story&documentId=s2&status=draft", 404, "slug_empty"),
        ("uid=api::post.post&documentId=o2&status=draft", 404, "conditions_not_met"),
    ] {
        let response = resolve(&service, query);
        let details = &response.json()["error"]["details"]["reason"];
        assert_eq!((response.status, details.as_str().unwrap_or("")), (status, reason), "{query}");
        let is_draft = query.ends_with("status=draft") && status != 400;
        let no_store = response.header("cache-control").as_deref() == Some("no-store");
        assert_eq!(no_store, is_draft, "{query}");
    }
    let both = resolve(&service, "pathname=/en/x&uid=api::story.story&documentId=s1");
    let message = "`pathname` and `uid` with `documentId` exclude each other";
    assert_eq!(both.json()["error"]["message"], message);
}

#[test]
fn draft_needs_the_token_where_one_is_set() {
    let service =
        settings().env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", "draft-token-1234567890").start();
    let target = "/api/resolve?site=main&pathname=/en/about&status=draft";
    for (token, expected) in
        [(None, 401), (Some("wrong"), 403), (Some("draft-token-1234567890"), 200)]
    {
        let header = token.map(|token| format!("Bearer {token}"));
        let headers: Vec<(&str, &str)> =
            header.iter().map(|header| ("Authorization", header.as_str())).collect();
        let response = http::send(service.addr(), "GET", target, &headers);
        assert_eq!(response.status, expected);
        assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    }
    // A published document is public.
    let published = resolve(&service, "uid=api::story.story&documentId=s1");
    assert_eq!(published.status, 200);
}

/// A CMS with these drafts of stories, which takes requests for lists of drafts alone.
fn drafts(rows: &'static [(&'static str, &'static str)], total: usize) -> Cms {
    Cms::start(move |target| match target.split('?').next() {
        _ if !target.contains("status=draft") => Script::silence(),
        Some("/api/story") => list(rows, 100, total),
        _ => list(&[], 100, 0),
    })
}

fn behind(cms: &Cms) -> Service {
    settings().strapi(cms).singular_endpoints().start()
}

fn asked(cms: &Cms) -> Vec<String> {
    let targets = cms.targets().into_iter();
    targets.filter(|target| target.contains("status=draft")).collect()
}

#[test]
fn cms_is_asked_for_the_values_of_the_path_in_the_order_of_the_settings() {
    // The letter case of the slug differs: a database may not care.
    let cms = drafts(&[("s1", r#","locale":"en","slug":"NEW""#)], 1);
    let service = behind(&cms);
    let response = resolve(&service, "pathname=/en/stories/new&status=draft");
    assert_eq!(id(&response), "none");
    let list = "sort=documentId:asc&pagination[page]=1&pagination[pageSize]=100&pagination[withCount]=true";
    let rest = "locale=en&fields[0]=publishedAt&fields[1]=locale&fields[2]=slug";
    let asked = asked(&cms);
    assert_eq!(asked.len(), 2, "{asked:?}");
    let story = format!("/api/story?status=draft&{list}&filters[slug][$eq]=new&{rest}");
    assert!(asked[0].starts_with(&story), "{}", asked[0]);
    let post = format!(
        "/api/post?status=draft&{list}&filters[kind][$eq]=open&filters[slug][$eq]=new&{rest}"
    );
    assert!(asked[1].starts_with(&post), "{}", asked[1]);
}

#[test]
fn cms_is_asked_for_the_levels_of_a_page_tree() {
    let cms = drafts(&[], 0);
    let service = behind(&cms);
    let response = resolve(&service, "pathname=/de/a%2520b/c&status=draft");
    assert_eq!(id(&response), "none");
    let asked = asked(&cms);
    let filters = "&filters[slug][$eq]=c&filters[parent][slug][$eq]=a%20b&locale=de&";
    assert!(asked.len() == 1 && asked[0].starts_with("/api/page?"), "{asked:?}");
    assert!(asked[0].contains(filters), "{asked:?}");
}

#[test]
fn path_is_not_missing_where_the_cms_has_more_candidates_than_it_returns() {
    let cms = drafts(&[("s1", r#","locale":"en","slug":"other""#)], 101);
    let service = behind(&cms);
    let response = resolve(&service, "pathname=/en/stories/new&status=draft");
    assert_eq!(response.status, 502, "{}", response.text());
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
}

#[test]
fn absent_key_of_a_draft_is_a_fault_of_the_permissions() {
    let cms = drafts(&[("s1", r#","locale":"en""#)], 1);
    let service = behind(&cms);
    for query in
        ["pathname=/en/stories/new&status=draft", "uid=api::story.story&documentId=s1&status=draft"]
    {
        let response = resolve(&service, query);
        assert_eq!(response.status, 502, "{query}: {}", response.text());
        assert!(response.text().contains("slug"), "{}", response.text());
    }
}

#[test]
fn failing_cms_is_no_missing_draft() {
    for (status, expected) in [(500, 503), (403, 502), (404, 502), (503, 503)] {
        let cms = Cms::start(move |_| refusal(status, "Error", "{}"));
        let service = behind(&cms);
        for query in [
            "pathname=/en/stories/new&status=draft",
            "uid=api::story.story&documentId=s1&status=draft",
        ] {
            let response = resolve(&service, query);
            assert_eq!(response.status, expected, "{query}: {}", response.text());
            assert_eq!(response.json()["data"], json!(null));
            assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
        }
    }
}

#[test]
fn drafts_count_toward_the_in_flight_limit_and_published_pathnames_do_not() {
    let waiting = Arc::new(Mutex::new(0));
    let seen = Arc::clone(&waiting);
    let cms = Cms::start(move |target| {
        if target.contains("status=draft") {
            *seen.lock().expect("no panic") += 1;
        }
        Script::silence()
    });
    let endpoint = "[[content_type]]\nuid = \"api::story.story\"\nendpoint = \"story\"\n";
    let settings = settings().strapi(&cms).without_endpoints().more(endpoint);
    let service = settings.env("FRONTEND_MAP__LIMITS__REQUESTS", "1").start();
    let addr = service.addr();
    let target = "/api/resolve?site=main&uid=api::story.story&documentId=s1&status=draft";
    let first = std::thread::spawn(move || http::get(addr, target).status);
    crate::support::wait::until_so("it waits", || *waiting.lock().expect("no panic") > 0);
    for query in ["pathname=/en/stories/x&status=draft", "uid=api::story.story&documentId=s1"] {
        let shed = resolve(&service, query);
        assert_eq!((shed.status, shed.header("retry-after").as_deref()), (503, Some("1")));
        assert_eq!(shed.json()["error"]["message"], "too many requests are in flight");
    }
    let published = resolve(&service, "pathname=/en/stories/x");
    assert!(published.text().contains("are not known at present"), "{}", published.text());
    assert_eq!(resolve(&service, "pathname=/no").status, 404);
    let first = first.join().expect("no panic");
    assert!([503, 504].contains(&first), "{first}");
}

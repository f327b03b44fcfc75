//! The members and headers of responses, byte by byte.

use super::{data, edit, pages, resolve, settings, start};
use crate::support::http;
use crate::support::service::Service;

const TEMPLATE: &str = "/{locale}/{slug}";

fn renamed() -> Service {
    let service = start(&settings(TEMPLATE), &pages(&[("a1", "en", "old"), ("a2", "en", "gone")]));
    edit(&service, &pages(&[("a1", "en", "new")]));
    service
}

/// The time in a response, which cannot be known before.
fn since(text: &str) -> &str {
    let (_, rest) = text.split_once(r#""since":""#).expect("a time");
    let (time, _) = rest.split_once('"').expect("its end");
    assert_eq!((time.len(), &time[10..11], &time[23..]), (24, "T", "Z"), "{time}");
    time
}

#[test]
fn former_path_is_a_redirect_to_where_the_document_is_now() {
    let service = renamed();
    let response = resolve(&service, "/en/old");
    let since = since(response.text());
    let expected = format!(
        r#"{{"data":{{"site":"main","pathname":"/en/old","locale":"en","matched":{{"collectionType":"api::page.page","rule":"/{{locale}}/{{slug}}","params":{{"locale":"en","slug":"old"}}}},"kind":"redirect","redirect":{{"to":"https://www.example.com/base/en/new","path":"/en/new","status":308,"documentId":"a1","locale":"en","since":"{since}"}},"resolvedBy":"history","documentId":null,"canonicalPath":null,"canonicalUrl":null,"isCanonical":null,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{{}}}},"meta":{{}}}}"#
    );
    assert_eq!((response.status, response.text()), (200, expected.as_str()));
    assert_eq!(
        response.header("cache-control").as_deref(),
        Some("public, max-age=60, stale-if-error=60")
    );
    assert_eq!(response.header("x-resolved-by").as_deref(), Some("history"));
    let tag = response.header("etag").expect("a tag");
    let target = "/api/resolve?site=main&pathname=/en/old";
    let again = http::send(service.addr(), "GET", target, &[("If-None-Match", &tag)]);
    assert_eq!((again.status, again.text()), (304, ""));
    assert_eq!(
        again.header("cache-control").as_deref(),
        Some("public, max-age=60, stale-if-error=60")
    );
    let head = http::send(service.addr(), "HEAD", target, &[]);
    assert_eq!((head.status, head.header("etag")), (200, Some(tag)));
    // In any form that a live path may have.
    for pathname in ["//en//old/", "/en/old?x=1", "/en/o%6Cd"] {
        assert_eq!(data(&resolve(&service, pathname))["redirect"]["path"], "/en/new", "{pathname}");
    }
}

#[test]
fn former_path_that_no_rule_matches_is_a_redirect_too() {
    let service = start(&settings("/{locale}/pages/{slug}"), &pages(&[("a1", "de", "x")]));
    super::apply(&service, &settings("/{locale}/{slug}"));
    let response = resolve(&service, "/de/pages/x");
    let since = since(response.text());
    let expected = format!(
        r#"{{"data":{{"site":"main","pathname":"/de/pages/x","locale":"de","matched":null,"kind":"redirect","redirect":{{"to":"https://www.example.com/base/de/x","path":"/de/x","status":308,"documentId":"a1","locale":"de","since":"{since}"}},"resolvedBy":"history","documentId":null,"canonicalPath":null,"canonicalUrl":null,"isCanonical":null,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{{}}}},"meta":{{}}}}"#
    );
    assert_eq!((response.status, response.text()), (200, expected.as_str()));
    assert_eq!(response.header("x-resolved-by").as_deref(), Some("history"));
    assert_eq!(
        response.header("cache-control").as_deref(),
        Some("public, max-age=60, stale-if-error=60")
    );
    assert!(response.header("etag").is_some());
}

#[test]
fn former_path_of_a_document_that_is_gone_has_no_document_and_says_since_when() {
    let service = renamed();
    let response = resolve(&service, "/en/gone");
    let since = since(response.text());
    let expected = format!(
        r#"{{"data":{{"site":"main","pathname":"/en/gone","locale":"en","matched":{{"collectionType":"api::page.page","rule":"/{{locale}}/{{slug}}","params":{{"locale":"en","slug":"gone"}}}},"kind":"none","gone":{{"since":"{since}"}},"resolvedBy":"rules","documentId":null,"canonicalPath":null,"canonicalUrl":null,"isCanonical":null,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{{}}}},"meta":{{}}}}"#
    );
    assert_eq!((response.status, response.text()), (200, expected.as_str()));
    assert_eq!(response.header("x-resolved-by").as_deref(), Some("rules"));
    assert_eq!(response.header("cache-control").as_deref(), Some("public, max-age=5"));
}

#[test]
fn former_path_without_rule_and_document_is_a_404_that_says_since_when() {
    let service = start(&settings("/{locale}/pages/{slug}"), &pages(&[("a1", "en", "x")]));
    edit(&service, &pages(&[]));
    super::apply(&service, &settings("/{locale}/{slug}"));
    let response = resolve(&service, "/en/pages/x");
    let since = since(response.text());
    let expected = format!(
        r#"{{"data":null,"error":{{"status":404,"name":"NotFoundError","message":"No content type matches the given pathname","details":{{"pathname":"/en/pages/x","normalizedPath":"/en/pages/x","gone":{{"since":"{since}"}}}}}}}}"#
    );
    assert_eq!((response.status, response.text()), (404, expected.as_str()));
    assert_eq!(response.header("cache-control").as_deref(), Some("public, max-age=5"));
    assert_eq!(response.header("x-resolved-by").as_deref(), Some("rules"));
}

#[test]
fn other_spelling_of_a_live_path_has_a_redirect_without_a_time() {
    let service = renamed();
    let canonical = resolve(&service, "/en/new");
    assert_eq!(data(&canonical)["redirect"], serde_json::Value::Null);
    for pathname in ["/en/new/", "//en/new"] {
        let response = resolve(&service, pathname);
        let redirect = r#""kind":"document","redirect":{"to":"https://www.example.com/base/en/new","path":"/en/new","status":308,"documentId":"a1","locale":"en","since":null},"resolvedBy":"documents","documentId":"a1","#;
        assert!(response.text().contains(redirect), "{}", response.text());
        assert_eq!(response.header("cache-control"), canonical.header("cache-control"));
        assert_eq!(response.header("x-resolved-by").as_deref(), Some("documents"));
    }
}

#[test]
fn page_outside_the_cms_wins_over_the_history_and_redirects_from_another_spelling() {
    let service = start(&settings(TEMPLATE), &pages(&[("a1", "en", "old")]));
    let page = "[[site.page]]\nname = \"search\"\npath = \"/en/old\"\n";
    super::apply(&service, &settings(TEMPLATE).more(page));
    assert_eq!(data(&resolve(&service, "/en/old"))["redirect"], serde_json::Value::Null);
    let other = data(&resolve(&service, "/en/old/"));
    assert_eq!((&other["kind"], &other["page"]), (&"page".into(), &"search".into()));
    let redirect = serde_json::json!({
        "to": "https://www.example.com/base/en/old", "path": "/en/old", "status": 308,
        "documentId": null, "locale": "en", "since": null
    });
    assert_eq!(other["redirect"], redirect);
}

#[test]
fn redirect_has_the_status_of_the_settings_and_no_url_without_a_base_url() {
    let bare = settings(TEMPLATE).without_front_end_url();
    for status in [301, 302, 307, 308] {
        let settings = bare.clone().more(&format!("[moved]\nstatus = {status}"));
        let service = start(&settings, &pages(&[("a1", "en", "old")]));
        edit(&service, &pages(&[("a1", "en", "new")]));
        let redirect = data(&resolve(&service, "/en/old"))["redirect"].clone();
        let found = (&redirect["to"], &redirect["path"], redirect["status"].as_u64());
        assert_eq!(found, (&serde_json::Value::Null, &"/en/new".into(), Some(status)));
    }
}

#[test]
fn only_resolve_knows_the_history() {
    let service = renamed();
    for target in [
        "/api/get-content-type?site=main&pathname=/en/old",
        "/api/resolve?site=main&pathname=/en/old&status=draft",
    ] {
        let response = http::get(service.addr(), target);
        assert_eq!(response.status, 200);
        for word in ["redirect", "gone", "history"] {
            assert!(!response.text().contains(word), "{}", response.text());
        }
    }
    let gone = "/api/frontend-url?uid=api::page.page&documentId=a2";
    let response = http::get(service.addr(), gone);
    assert_eq!((response.status, response.text().contains("since")), (404, false));
}

#[test]
fn document_by_its_id_has_its_former_paths_newest_first() {
    let slug = |n: usize| format!("s{n}");
    let service =
        start(&settings(TEMPLATE), &pages(&[("a1", "en", &slug(0)), ("a1", "de", "eins")]));
    for n in 1..=22 {
        edit(&service, &pages(&[("a1", "en", &slug(n)), ("a1", "de", "eins")]));
    }
    let by_id = |more: &str| {
        let target = format!("/api/resolve?uid=api::page.page&documentId=a1{more}");
        data(&http::get(service.addr(), &target))["formerPaths"].clone()
    };
    let expected: Vec<String> = (2..22).rev().map(|n| format!("/en/s{n}")).collect();
    assert_eq!(by_id("&locale=en"), serde_json::json!(expected));
    assert_eq!(by_id("&locale=de"), serde_json::json!([]));
    // A path that another document has now leads there.
    edit(&service, &pages(&[("a1", "en", "last"), ("a2", "en", "s22"), ("a3", "en", "s20")]));
    let expected: Vec<String> =
        (1..22).rev().filter(|n| *n != 20).map(|n| format!("/en/s{n}")).collect();
    assert_eq!(by_id("&locale=en"), serde_json::json!(expected));
}

//! `/api/problems`: documents without a URL, and paths that several documents have.

use serde_json::Value;

use super::{lines, linked, parsed};
use crate::support::http;
use crate::support::settings::site;

const PROBLEMS: &str = "/api/problems?site=main";

/// All rows in order, byte for byte.
const ROWS: &[&str] = &[
    r#"{"kind":"no_url","contentType":"api::article.article","documentId":"a4","locale":"en","title":"No slug\u001b","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::article.article/a4?plugins[i18n][locale]=en","reason":"slug_missing","rule":"/{locale}/articles/{slug}"}"#,
    r#"{"kind":"no_url","contentType":"api::article.article","documentId":"a5","locale":"de","title":"5","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::article.article/a5?plugins[i18n][locale]=de","reason":"slug_has_slash","rule":"/{locale}/articles/{slug}"}"#,
    r#"{"kind":"shared_path","path":"/en/articles/zoo","owner":{"contentType":"api::article.article","documentId":"a1","locale":"en","title":"Zoo","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::article.article/a1?plugins[i18n][locale]=en"},"others":[{"contentType":"api::article.article","documentId":"a8","locale":"en","title":"Second zoo","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::article.article/a8?plugins[i18n][locale]=en"},{"contentType":"api::page.page","documentId":"p1","locale":"en","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::page.page/p1?plugins[i18n][locale]=en"}]}"#,
    r#"{"kind":"no_url","contentType":"api::help.help","documentId":"h3","locale":"en","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::help.help/h3","reason":"slug_missing","rule":"/help/{section?}/{slug}.html"}"#,
    r#"{"kind":"no_url","contentType":"api::page.page","documentId":"p2","locale":"en","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::page.page/p2?plugins[i18n][locale]=en","reason":"path_empty_segment","rule":"/{*path}"}"#,
];

#[test]
fn problems_are_versions_without_a_url_and_shared_paths() {
    let service = linked().start();
    let response = http::get(service.addr(), PROBLEMS);
    let expected = format!(
        r#"{{"data":{{"count":5,"truncated":false,"problems":[{}]}},"meta":{{}}}}"#,
        ROWS.join(",")
    );
    assert_eq!((response.status, response.text()), (200, expected.as_str()));
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    assert!(response.header("age").is_some() && response.header("etag").is_none());
    let as_lines = lines(&service, PROBLEMS);
    assert_eq!(as_lines.text(), ROWS.join("\n") + "\n{\"count\":5,\"truncated\":false}\n");
    assert_eq!(as_lines.header("content-type").as_deref(), Some("application/x-ndjson"));
    // Each reason is that of the document itself.
    for row in parsed(&ROWS.join("\n")).iter().filter(|row| row["kind"] == "no_url") {
        let [uid, id, locale] =
            ["contentType", "documentId", "locale"].map(|name| row[name].as_str().expect("text"));
        let target =
            format!("/api/frontend-url?site=main&uid={uid}&documentId={id}&locale={locale}");
        let details = http::get(service.addr(), &target).json()["error"]["details"].clone();
        assert_eq!((&details["reason"], &details["rule"]), (&row["reason"], &row["rule"]));
    }
}

#[test]
fn problems_of_a_site_without_any_are_an_empty_list() {
    let service = linked().start();
    let response = http::get(service.addr(), "/api/problems?site=nourl");
    // "p2" is one here too.
    assert_eq!(response.json()["data"]["count"], 1);
    let content = super::CONTENT.replace("p//q", "p/r");
    let service = linked().file("content.json", &content).start();
    let response = http::get(service.addr(), "/api/problems?site=nourl");
    let expected = r#"{"data":{"count":0,"truncated":false,"problems":[]},"meta":{}}"#;
    assert_eq!(response.text(), expected);
}

#[test]
fn problems_refuse_bad_parameters_and_missing_tokens() {
    let token = "canary-aa41-validate";
    let service = linked().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", token).start();
    let right = format!("Bearer {token}");
    for (target, sent, status) in [
        ("/api/problems", Some(&*right), 400),
        ("/api/problems?site=x", Some(&right), 400),
        ("/api/problems?site=main&site=main", Some(&right), 400),
        (PROBLEMS, None, 401),
        (PROBLEMS, Some("Bearer x"), 403),
        (PROBLEMS, Some(&right), 200),
    ] {
        let headers: Vec<_> = sent.iter().map(|value| ("Authorization", *value)).collect();
        let response = http::send(service.addr(), "GET", target, &headers);
        assert_eq!(response.status, status, "{target} {sent:?}");
    }
}

#[test]
fn shared_path_follows_the_documents_where_they_decide() {
    let content = r#"{
        "api::a.a": [{"documentId": "a", "slug": "x"}, {"documentId": "a2", "slug": "y"}],
        "api::b.b": [{"documentId": "b", "path": "x"}, {"documentId": "b2", "path": "z"}],
        "api::c.c": [{"documentId": "c", "name": "x"}, {"documentId": "c2", "name": "z"}]
    }"#;
    for (resolve, expected) in [
        ("rules", [["a", "b", "c"].as_slice(), &["b2", "c2"]]),
        ("documents", [&["a", "c", "b"], &["c2", "b2"]]),
    ] {
        let service = site("main")
            .without_front_end_url()
            .resolve(resolve)
            .rule("api::a.a", "/{slug}")
            .rule("api::b.b", "/{*path}")
            .rule("api::c.c", "/{name}")
            .files(content)
            .start();
        let found = http::get(service.addr(), PROBLEMS).json()["data"]["problems"].clone();
        let rows = found.as_array().expect("a list").iter().map(documents);
        let mut rows: Vec<Vec<String>> = rows.collect();
        rows.sort();
        assert_eq!(rows, expected, "{resolve}");
    }
}

/// The owner of a shared path and the others.
fn documents(row: &Value) -> Vec<String> {
    let id = |version: &Value| version["documentId"].as_str().expect("text").to_owned();
    let others = row["others"].as_array().expect("a list");
    [&row["owner"]].into_iter().chain(others).map(id).collect()
}

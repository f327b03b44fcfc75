//! A site whose hosts have templates of their own, which match the same paths.

use serde_json::{Value, json};

use super::{Service, data, get};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::post.post": [{"documentId": "post", "locale": "us", "slug": "x"}],
  "api::page.page": [
    {"documentId": "same", "locale": "gb", "slug": "news/x"},
    {"documentId": "only", "locale": "gb", "slug": "news/only"},
    {"documentId": "draft", "locale": "gb", "slug": "news/draft", "status": "draft"}],
  "api::note.note": [
    {"documentId": "note", "locale": "us", "slug": "n"},
    {"documentId": "british", "locale": "gb", "slug": "d", "status": "draft"},
    {"documentId": "both", "locale": "us", "slug": "b", "status": "draft"},
    {"documentId": "other", "locale": "gb", "slug": "b", "status": "draft"}]
}"#;

fn settings() -> Settings {
    site("main")
        .front_end_url(r#"{ us = "https://us.example", gb = "https://gb.example" }"#)
        .locales(&[
            r#"{ code = "us", segment = "en", hreflang = "en-US" }"#,
            r#"{ code = "gb", segment = "en", hreflang = "en-GB" }"#,
        ])
        .resolve("documents")
        .rule("api::post.post", r#"{ us = "/news/{slug}" }"#)
        .rule("api::page.page", r#"{ gb = "/{*slug}" }"#)
        .rule("api::note.note", "/{locale}/notes/{slug}")
        .files(CONTENT)
}

fn started() -> Service {
    let service = settings().start();
    let is_known = |target: &str| get(&service, target).status == 200;
    until_so("the documents are known", || {
        let of = |path: &str| format!("/api/resolve?site=main&pathname={path}");
        ["/news/x", "/news", "/en/notes/n"].iter().all(|path| is_known(&of(path)))
    });
    service
}

fn resolved(service: &Service, query: &str) -> (Value, Value, Value) {
    let mut found = data(service, &format!("/api/resolve?site=main&{query}"));
    let [id, locale] = ["documentId", "locale"].map(|name| found[name].take());
    (id, locale, found["matched"]["collectionType"].take())
}

#[test]
fn path_without_a_host_leads_to_the_first_host_that_has_it() {
    let service = started();
    for (query, id, locale, uid) in [
        ("pathname=/news/x", json!("post"), "us", "api::post.post"),
        ("pathname=/news/x&host=gb.example", json!("same"), "gb", "api::page.page"),
        // The rule of the first host is more specific, but no document of it has the path.
        ("pathname=/news/only", json!("only"), "gb", "api::page.page"),
        ("pathname=/news/only&host=us.example", Value::Null, "us", "api::post.post"),
        ("pathname=/news/none", Value::Null, "us", "api::post.post"),
    ] {
        assert_eq!(resolved(&service, query), (id, json!(locale), json!(uid)), "{query}");
        let matched = data(&service, &format!("/api/get-content-type?site=main&{query}"));
        let matched = (&matched["locale"], &matched["matched"]["collectionType"]);
        assert_eq!(matched, (&json!(locale), &json!(uid)), "{query}");
    }
}

#[test]
fn draft_without_a_host_is_that_of_the_first_host_that_has_its_path() {
    let service = started();
    for (query, id, locale) in [
        ("pathname=/news/draft", json!("draft"), "gb"),
        ("pathname=/news/draft&host=gb.example", json!("draft"), "gb"),
        ("pathname=/news/draft&host=us.example", Value::Null, "us"),
        // Two locales have the segment.
        ("pathname=/en/notes/d", json!("british"), "gb"),
        ("pathname=/en/notes/d&host=us.example", Value::Null, "us"),
        ("pathname=/en/notes/b", json!("both"), "us"),
        ("pathname=/en/notes/b&host=gb.example", json!("other"), "gb"),
    ] {
        let (found, own, _) = resolved(&service, &format!("{query}&status=draft"));
        assert_eq!((found, own), (id, json!(locale)), "{query}");
    }
}

#[test]
fn explain_names_the_rule_of_the_host() {
    let run = |args: &[&str]| settings().run(&[&["explain"], args].concat());
    let json = |args: &[&str]| -> Value {
        let ended = run(&[args, &["--json"]].concat());
        serde_json::from_str(&ended.stdout).unwrap_or_else(|_| panic!("{}", ended.stderr))
    };
    for (args, uid, id) in [
        (&["/news/x"][..], "api::post.post", json!("post")),
        (&["/news/only"], "api::page.page", json!("only")),
        (&["/news/x", "--host", "GB.example:443"], "api::page.page", json!("same")),
        (&["/news/only", "--host", "us.example"], "api::post.post", Value::Null),
    ] {
        let found = json(args);
        assert_eq!(found["matched"]["collectionType"], uid, "{args:?}");
        assert_eq!(found["decision"]["documentId"], id, "{args:?}: {found}");
        assert_eq!(found["host"], args.get(2).map_or(Value::Null, |host| json!(host)));
    }
    let found = json(&["/news/x", "--host", "gb.example"]);
    let outcomes: Vec<&Value> =
        found["considered"].as_array().unwrap().iter().map(|row| &row["outcome"]).collect();
    assert_eq!(outcomes, ["other_host", "no_match", "match"], "{found}");
    let found = json(&["/en/notes/n", "--host", "gb.example"]);
    assert_eq!(
        (&found["matched"]["locale"], &found["matched"]["params"]["locale"]),
        (&json!("gb"), &json!("gb"))
    );
    let text = run(&["/news/x", "--host", "gb.example"]).stdout;
    assert!(
        text.starts_with("site main, host gb.example, /news/x\napi::page.page by /{*slug}\n"),
        "{text}"
    );
    assert!(text.contains("   matches too, but is for other hosts\n"), "{text}");
}

#[test]
fn explain_refuses_a_host_that_the_site_lacks() {
    for (host, expected) in [
        ("fr.example", "site \"main\" has no host `fr.example`; there are: us.example, gb.example"),
        ("us.example:80", "site \"main\" has no host `us.example:80`; there are:"),
        ("https://us.example", "\"https://us.example\" is not a host such as example.com:"),
    ] {
        let ended = settings().run(&["explain", "--host", host, "/news/x"]);
        assert_eq!((ended.status, ended.stdout.as_str()), (Some(2), ""), "{}", ended.stderr);
        assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    }
    let with_document = ["explain", "--host", "us.example", "--uid", "a", "--document", "b"];
    assert_eq!(settings().run(&with_document).status, Some(2));
}

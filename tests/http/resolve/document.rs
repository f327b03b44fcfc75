//! The members of `data` that tell about the document.

use serde_json::{Value, json};

use super::{by, document_of, until};
use crate::support::cms::Cms;
use crate::support::front_of_cms::list;
use crate::support::http;
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

const CONTENT: &str = r#"{
  "api::home.home": [{"documentId": "h1", "locale": "en"}, {"documentId": "h1", "locale": "pt_BR"}],
  "api::section.section": [{"documentId": "s1", "locale": "en", "slug": "news"}],
  "api::article.article": [
    {"documentId": "a1", "locale": "pt_BR", "slug": "olá", "section": {"slug": "notícias"}},
    {"documentId": "a1", "locale": "en", "slug": "hello", "section": {"slug": "news"},
     "updatedAt": "2024-03-06T22:19:54.649Z"},
    {"documentId": "a2", "locale": "en", "slug": "later", "section": {"slug": "none"}}
  ],
  "api::author.author": [{"documentId": "u1", "slug": "ada"}]
}"#;

fn settings() -> Settings {
    site("main")
        .front_end_url("https://www.example.com/base")
        .locales(&["en", "pt_BR"])
        .resolve("documents")
        .rule("api::home.home", "/{locale}")
        .rule("api::section.section", "/{locale}/{slug}")
        .rule("api::article.article", "/{locale}/{section.slug}/{slug}")
        .rule("api::author.author", "/authors/{slug}")
        .files(CONTENT)
}

fn service() -> Service {
    let service = settings().start();
    for pathname in ["/en", "/en/x", "/en/x/y", "/authors/x"] {
        until(&service, &document_of(pathname), |response| response.status == 200);
    }
    service
}

fn data(service: &Service, pathname: &str) -> Value {
    let response = http::get(service.addr(), &document_of(pathname));
    assert_eq!(response.status, 200, "{}", response.text());
    response.json()["data"].clone()
}

#[test]
fn document_has_its_path_its_dates_its_breadcrumbs_and_its_alternates() {
    let service = service();
    let response = http::get(service.addr(), &document_of("/en/news/hello"));
    let url = "https://www.example.com/base";
    let crumb = |path: &str, uid: &str, id: &str| {
        format!(
            r#"{{"path":"{path}","url":"{url}{path}","contentType":"{uid}","documentId":"{id}"}}"#
        )
    };
    let crumbs =
        [crumb("/en", "api::home.home", "h1"), crumb("/en/news", "api::section.section", "s1")];
    let expected = format!(
        r#"{{"data":{{"site":"main","pathname":"/en/news/hello","locale":"en","matched":{{"collectionType":"api::article.article","rule":"/{{locale}}/{{section.slug}}/{{slug}}","params":{{"locale":"en","section.slug":"news","slug":"hello"}}}},"kind":"document","resolvedBy":"documents","documentId":"a1","canonicalPath":"/en/news/hello","canonicalUrl":"{url}/en/news/hello","isCanonical":true,"resource":null,"lastModified":"2024-03-06T22:19:54.649Z","breadcrumbs":[{}],"alternates":{{"en":"{url}/en/news/hello","pt-BR":"{url}/pt_BR/not%C3%ADcias/ol%C3%A1","x-default":"{url}/en/news/hello"}}}},"meta":{{}}}}"#,
        crumbs.join(",")
    );
    assert_eq!(response.text(), expected);
    assert_eq!(by(&response), "documents");
}

#[test]
fn breadcrumbs_skip_prefixes_without_a_document() {
    let service = service();
    let ids = |pathname: &str| -> Vec<Value> {
        let data = data(&service, pathname);
        let crumbs = data["breadcrumbs"].as_array().expect("a list");
        crumbs.iter().map(|crumb| crumb["documentId"].clone()).collect()
    };
    assert_eq!(ids("/en/none/later"), [json!("h1")]);
    assert_eq!(ids("/pt_BR/not%C3%ADcias/ol%C3%A1"), [json!("h1")]);
    assert!(ids("/en").is_empty() && ids("/authors/ada").is_empty());
}

#[test]
fn pathname_is_canonical_if_it_is_the_path_encoded_or_not() {
    let service = service();
    for (pathname, is_canonical) in [
        ("/en/news/hello", true),
        ("/en/news/hello%3Fpage=2%23top", true),
        ("/pt_BR/not%25C3%25ADcias/ol%25c3%25a1", true),
        ("/pt_BR/not%C3%ADcias/ol%C3%A1", true),
        ("/en/news//hello", false),
        ("/en/news/hello/", false),
        ("/authors/ada", true),
    ] {
        let data = data(&service, pathname);
        assert_eq!(data["isCanonical"], is_canonical, "{pathname}");
        assert_eq!(data["kind"], "document");
    }
}

#[test]
fn members_without_a_document_are_empty() {
    let service = service();
    let data = data(&service, "/en/news/none");
    let of = |names: &[&str]| names.iter().map(|name| data[*name].clone()).collect::<Vec<_>>();
    assert_eq!(of(&["kind", "resolvedBy"]), [json!("none"), json!("rules")]);
    for name in
        ["documentId", "canonicalPath", "canonicalUrl", "isCanonical", "resource", "lastModified"]
    {
        assert!(data.get(name).is_some_and(Value::is_null), "{name}");
    }
    assert_eq!(of(&["breadcrumbs", "alternates"]), [json!([]), json!({})]);
}

/// One article, localized; one author and a homepage, which are not.
fn strapi() -> Cms {
    Cms::start(|target| {
        let single = || Script::json(200, r#"{"data":{"documentId":"h1"},"meta":{}}"#);
        let rows = match target.split(['?', '/']).nth(2).unwrap_or_default() {
            "home" => return single(),
            "authors" => vec![("u1", r#","slug":"ada""#)],
            "posts" if target.contains("locale=en") => {
                vec![(
                    "a1",
                    r#","locale":"en","slug":"x","section":{"documentId":"s","slug":"news"}"#,
                )]
            }
            _ => Vec::new(),
        };
        list(if target.contains("$gt") { &[] } else { &rows }, 100, rows.len())
    })
}

#[test]
fn resource_is_the_document_in_the_api_of_the_cms() {
    let cms = strapi();
    let endpoints = "[[content_type]]\nuid = \"api::home.home\"\nendpoint = \"home\"\nkind = \"single\"\n\
                     [[content_type]]\nuid = \"api::article.article\"\nendpoint = \"posts\"\n";
    let service = settings().strapi(&cms).without_endpoints().more(endpoints).start();
    for (pathname, expected) in [
        ("/en/news/x", "/api/posts/a1?locale=en"),
        ("/authors/ada", "/api/authors/u1"),
        ("/en", "/api/home"),
    ] {
        until(&service, &document_of(pathname), |response| response.status == 200);
        assert_eq!(data(&service, pathname)["resource"], expected, "{pathname}");
    }
}

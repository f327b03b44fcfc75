//! `/api/redirects`: each former path with where its document is now.

use std::io::Read;

use flate2::read::GzDecoder;
use serde_json::Value;

use super::{apply, assert_leads, documents, edit, pages, settings, start};
use crate::support::cms::Cms;
use crate::support::front_of_cms::refusal;
use crate::support::http::{self, Response};
use crate::support::service::Service;

const TEMPLATE: &str = "/{locale}/{slug}";
const LIST: &str = "/api/redirects?site=main";

fn get(service: &Service) -> Response {
    let response = http::get(service.addr(), LIST);
    assert_eq!(response.status, 200, "{}", response.text());
    response
}

/// The rows, after `/api/resolve` has been asked for each of them: it must redirect in the same way.
fn checked_rows(service: &Service) -> Vec<Value> {
    let data = get(service).json()["data"].clone();
    let rows = data["redirects"].as_array().expect("a list").clone();
    assert_eq!(data["count"], rows.len());
    for row in &rows {
        let text = |name: &str| http::query(row[name].as_str().unwrap_or_default());
        let (from, host) = (text("from"), text("host"));
        let target = format!("/api/resolve?site=main&pathname={from}&host={host}");
        let found = http::get(service.addr(), &target).json()["data"].clone();
        assert_eq!(found["kind"], "redirect", "{row}");
        for name in ["to", "path", "status", "documentId", "locale", "since"] {
            assert_eq!(found["redirect"][name], row[name], "{row}");
        }
    }
    rows
}

/// `from path` of each row, in order; with several hosts `host from to`.
fn pairs(service: &Service) -> Vec<String> {
    let text = |row: &Value, name: &str| row[name].as_str().unwrap_or_default().to_owned();
    let pair = |row: &Value| match row["host"].as_str() {
        Some(host) => format!("{host} {} {}", text(row, "from"), text(row, "to")),
        None => format!("{} {}", text(row, "from"), text(row, "path")),
    };
    let mut pairs: Vec<_> = checked_rows(service).iter().map(pair).collect();
    pairs.sort();
    pairs
}

fn gone(service: &Service) -> u64 {
    get(service).json()["data"]["gone"].as_u64().expect("a number")
}

#[test]
fn list_has_each_former_path_byte_by_byte() {
    let service = start(&settings(TEMPLATE), &pages(&[("a1", "en", "old"), ("a2", "en", "gone")]));
    let empty = r#"{"data":{"redirects":[],"count":0,"gone":0},"meta":{}}"#;
    assert_eq!(get(&service).text(), empty);
    edit(&service, &pages(&[("a1", "en", "n ew")]));
    let response = get(&service);
    let since = response.json()["data"]["redirects"][0]["since"].as_str().expect("text").to_owned();
    let row = format!(
        r#"{{"from":"/en/old","to":"https://www.example.com/base/en/n%20ew","path":"/en/n%20ew","status":308,"documentId":"a1","contentType":"api::page.page","locale":"en","since":"{since}"}}"#
    );
    let expected = format!(r#"{{"data":{{"redirects":[{row}],"count":1,"gone":1}},"meta":{{}}}}"#);
    assert_eq!(response.text(), expected);
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    assert_eq!(response.header("vary").as_deref(), Some("accept, accept-encoding"));
    assert!(response.header("age").is_some() && response.header("cache-status").is_some());
    let headers = [("Accept", "application/x-ndjson")];
    let lines = http::send(service.addr(), "GET", LIST, &headers);
    assert_eq!(lines.text(), format!("{row}\n{{\"count\":1,\"gone\":1}}\n"));
    assert_eq!(lines.header("content-type").as_deref(), Some("application/x-ndjson"));
    assert_eq!(http::send(service.addr(), "HEAD", LIST, &[]).status, 200);
    assert_eq!(pairs(&service), ["/en/old /en/n%20ew"]);
}

#[test]
fn list_is_flat_and_has_no_live_path() {
    let all = |one: &str, two: &str, three: &str| {
        pages(&[("a", "en", one), ("b", "en", two), ("c", "", three)])
    };
    let service = start(&settings(TEMPLATE), &all("x", "y", "z"));
    // A chain, and a document that takes the first path.
    edit(&service, &all("x2", "y", "z2"));
    edit(&service, &all("x3", "x", "z3"));
    assert_eq!(pairs(&service), ["/en/x2 /en/x3", "/en/y /en/x", "/en/z /en/z3", "/en/z2 /en/z3"]);
    // Renamed back; an edited rule; a page outside the CMS in place of a former path.
    edit(&service, &all("x", "y", "z"));
    assert_eq!(pairs(&service), ["/en/x2 /en/x", "/en/x3 /en/x", "/en/z2 /en/z", "/en/z3 /en/z"]);
    let page = "[[site.page]]\nname = \"search\"\npath = \"/en/x2\"\n";
    apply(&service, &settings("/{locale}/p/{slug}").more(page));
    assert_eq!(
        pairs(&service),
        [
            "/en/x /en/p/x",
            "/en/x3 /en/p/x",
            "/en/y /en/p/y",
            "/en/z /en/p/z",
            "/en/z2 /en/p/z",
            "/en/z3 /en/p/z",
        ]
    );
    assert_eq!(gone(&service), 0);
    // Not published, or only as a draft.
    let draft = r#"{"api::page.page": [{"documentId": "a", "locale": "en", "slug": "x", "status": "draft"}]}"#;
    edit(&service, draft);
    assert_eq!(pairs(&service), Vec::<String>::new());
    assert_eq!(gone(&service), 9);
}

#[test]
fn path_of_a_document_that_a_rule_of_another_type_hides_is_no_former_path() {
    let settings = settings("/{slug}").rule("api::tree.tree", "/{*slug}");
    let content = |page: &str, tree: &str| {
        let [page, tree] = [page, tree].map(|slug| documents(&[("a", "en", slug)]));
        format!(r#"{{"api::page.page": {page}, "api::tree.tree": {tree}}}"#)
    };
    let service = start(&settings, &content("sale", "other"));
    edit(&service, &content("spring", "other"));
    assert_eq!(pairs(&service), ["/sale /spring"]);
    edit(&service, &content("spring", "sale"));
    assert_leads(&service, &[("/sale", "none"), ("/other", "gone")]);
    assert_eq!(pairs(&service), Vec::<String>::new());
}

#[test]
fn list_has_the_host_of_each_path_where_the_site_has_several() {
    let one = settings(TEMPLATE);
    let service = start(&one, &pages(&[("a", "en", "x"), ("a", "de", "y")]));
    edit(&service, &pages(&[("a", "en", "u"), ("a", "de", "y")]));
    let bases = r#"{ en = "https://a.example", de = "https://b.example:8443" }"#;
    apply(&service, &settings(TEMPLATE).front_end_url(bases));
    // From when the site had one host: found on each of them. Of each path the document's own host has
    // the document.
    let moved = "a.example /en/x https://a.example/en/u";
    let expected = [
        moved,
        "a.example /de/y https://b.example:8443/de/y",
        "b.example:8443 /en/u https://a.example/en/u",
        "b.example:8443 /en/x https://a.example/en/u",
    ];
    let mut expected = expected.to_vec();
    expected.sort_unstable();
    assert_eq!(pairs(&service), expected);
    edit(&service, &pages(&[("a", "en", "u"), ("a", "de", "w")]));
    let with_own = pairs(&service);
    assert!(with_own.contains(&"b.example:8443 /de/y https://b.example:8443/de/w".to_owned()));
    assert!(with_own.contains(&moved.to_owned()), "{with_own:?}");
    // Back to one host: what only one of several had is not found.
    edit(&service, &pages(&[("a", "en", "u"), ("a", "de", "v")]));
    apply(&service, &one);
    assert_eq!(pairs(&service), ["/de/y /de/v", "/en/x /en/u"]);
}

#[test]
fn list_of_several_types_without_a_base_url() {
    let settings = settings(TEMPLATE)
        .without_front_end_url()
        .rule("api::story.story", "/{locale}/stories/{slug}");
    let content = |page: &str, story: &str| {
        format!(
            r#"{{"api::page.page": {}, "api::story.story": {}}}"#,
            documents(&[("p", "en", page)]),
            documents(&[("s", "de", story)])
        )
    };
    let service = start(&settings, &content("x", "y"));
    edit(&service, &content("x2", "y2"));
    assert_eq!(pairs(&service), ["/de/stories/y /de/stories/y2", "/en/x /en/x2"]);
    let rows = checked_rows(&service);
    assert!(rows.iter().all(|row| row["to"].is_null()));
    let types: Vec<_> = rows.iter().map(|row| row["contentType"].clone()).collect();
    assert!(types.contains(&"api::story.story".into()), "{types:?}");
}

#[test]
fn long_list_is_complete_also_compressed() {
    let content = |prefix: &str| {
        let rows: Vec<_> = (0..3_000).map(|n| (format!("d{n}"), format!("{prefix}{n}"))).collect();
        let rows: Vec<_> = rows.iter().map(|(id, slug)| (&**id, "en", &**slug)).collect();
        pages(&rows)
    };
    let service = start(&settings(TEMPLATE), &content("a"));
    edit(&service, &content("b"));
    let response = get(&service);
    let data = response.json()["data"].clone();
    assert_eq!(data["count"], 3_000);
    let froms: std::collections::BTreeSet<_> = data["redirects"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|row| row["from"].to_string())
        .collect();
    assert_eq!(froms.len(), 3_000);
    let gzip = http::send(service.addr(), "GET", LIST, &[("Accept-Encoding", "gzip")]);
    assert_eq!(gzip.header("content-encoding").as_deref(), Some("gzip"));
    let mut text = String::new();
    GzDecoder::new(&*gzip.body).read_to_string(&mut text).expect("gzip");
    assert_eq!(text, response.text());
}

#[test]
fn list_needs_a_site_that_resolves_by_documents_and_the_token() {
    let service = settings(TEMPLATE)
        .site("rules")
        .without_front_end_url()
        .rule("api::page.page", TEMPLATE)
        .files(&pages(&[]))
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "right")
        .start();
    for (query, token, status) in [
        ("", "right", 400),
        ("site=no", "right", 400),
        ("site=main", "", 401),
        ("site=main", "wrong", 403),
        ("site=rules", "wrong", 403),
        ("site=rules", "right", 501),
        ("site=main", "right", 200),
    ] {
        let bearer = format!("Bearer {token}");
        let headers = [("Authorization", &*bearer)];
        let headers = if token.is_empty() { &headers[..0] } else { &headers[..] };
        let target = format!("/api/redirects?{query}");
        let response = http::send(service.addr(), "GET", &target, headers);
        assert_eq!(response.status, status, "{query} {token}: {}", response.text());
    }
}

#[test]
fn list_is_an_error_while_a_type_is_not_known() {
    let cms = Cms::start(|_| refusal(500, "Error", "{}"));
    let service = settings(TEMPLATE).strapi(&cms).without_endpoints().start();
    let response = http::get(service.addr(), LIST);
    let as_pages = http::get(service.addr(), "/api/pages?site=main");
    assert_eq!(response.status / 100, 5, "{}", response.text());
    assert_eq!(response.json()["error"]["name"], as_pages.json()["error"]["name"]);
}

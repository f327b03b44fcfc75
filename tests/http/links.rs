//! `/api/links` and `frontend-map links`: the links in content, and what is at each.

use serde_json::{Value, json};

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const TOKEN: &str = "canary-8c1e-validate";
const LINKS: &str = "/api/links?site=main";

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about",
     "body": "Read [the team](/en/team), [contact](/en/contact/ 'x'), <a href='/en/none'>none</a> and [here](#top).",
     "zone": [
       {"__component": "a.text", "text": "<p><a href=\"https://www.example.com/de/ueber\">auf Deutsch</a></p>"},
       {"__component": "a.media", "file": null},
       {"__component": "a.text", "text": "[out](https://elsewhere.example/x) [mail](mailto:a@b)"}
     ],
     "blocks": [{"type": "paragraph", "children": [
       {"type": "link", "url": "http://www.example.com/en/team", "children": [{"type": "text", "text": "by http"}]}]}],
     "seo": {"canonicalUrl": "/en/about"}},
    {"documentId": "p1", "locale": "de", "slug": "ueber", "body": null, "zone": [], "blocks": null, "seo": null},
    {"documentId": "p2", "locale": "en", "slug": "team", "body": "[old](/en/old) [gone](/en/away) [login](/en/login)"},
    {"documentId": "p3", "locale": "en", "slug": "contact", "body": "[draft](/en/draft)"},
    {"documentId": "p4", "locale": "en", "slug": "draft", "status": "draft", "body": "[no](/en/secret)"}
  ],
  "api::menu.menu": [{"documentId": "m1", "link": "/EN/Team"}],
  "api::redirect.redirect": [
    {"documentId": "r1", "from": "/en/old", "to": "/en/contact", "code": 301},
    {"documentId": "r2", "from": "/en/away", "code": 410, "to": null}
  ]
}"#;

const LINK_SETTINGS: &str = r#"
[[site.page]]
name = "login"
path = "/{locale}/login"

[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
status = "code"

[[site.links]]
content_type = "api::page.page"
fields = ["body", "zone.text", "blocks", "seo.canonicalUrl"]

[[site.links]]
content_type = "api::menu.menu"
fields = ["link"]
"#;

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{slug}")
        .with(LINK_SETTINGS)
        .files(CONTENT)
}

fn service() -> Service {
    let service = settings().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN).start();
    until_so("the content is read", || get(&service, LINKS).status == 200);
    service
}

fn get(service: &Service, target: &str) -> Response {
    send(service, "GET", target)
}

fn send(service: &Service, method: &str, target: &str) -> Response {
    let bearer = format!("Bearer {TOKEN}");
    http::send(service.addr(), method, target, &[("Authorization", &bearer)])
}

/// Verdict, document, address and target of each row.
fn rows(service: &Service, target: &str) -> Vec<[String; 4]> {
    let response = get(service, target);
    assert_eq!(response.status, 200, "{}", response.text());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let row = |row: &Value| ["verdict", "documentId", "address", "to"].map(|name| text(&row[name]));
    response.json()["data"]["links"].as_array().unwrap().iter().map(row).collect()
}

#[test]
fn links_of_each_format_have_the_verdict_of_what_is_at_their_addresses() {
    let service = service();
    let url = |path: &str| format!("https://www.example.com{path}");
    let expected = [
        ["ok", "p1", "/en/team", ""].map(str::to_owned),
        ["not_canonical", "p1", "/en/contact/", &url("/en/contact")].map(str::to_owned),
        ["no_such_page", "p1", "/en/none", ""].map(str::to_owned),
        ["other_locale", "p1", &url("/de/ueber"), &url("/en/about")].map(str::to_owned),
        ["not_canonical", "p1", "http://www.example.com/en/team", &url("/en/team")]
            .map(str::to_owned),
        ["ok", "p1", "/en/about", ""].map(str::to_owned),
        ["moved", "p2", "/en/old", &url("/en/contact")].map(str::to_owned),
        ["gone", "p2", "/en/away", ""].map(str::to_owned),
        ["ok", "p2", "/en/login", ""].map(str::to_owned),
        ["no_such_page", "p3", "/en/draft", ""].map(str::to_owned),
        ["not_canonical", "m1", "/EN/Team", &url("/en/team")].map(str::to_owned),
    ];
    assert_eq!(rows(&service, LINKS), expected);
    let data = get(&service, LINKS).json()["data"].clone();
    let verdicts = json!({"ok": 3, "moved": 1, "gone": 1, "no_such_page": 2, "other_locale": 1, "not_canonical": 3, "unknown": 0});
    assert_eq!((&data["verdicts"], &data["broken"]), (&verdicts, &json!(3)), "{data}");
    assert_eq!((&data["count"], &data["documents"]), (&json!(11), &json!(4)));
    assert_eq!((&data["leftOut"], &data["unreadable"]), (&json!(0), &json!(0)));
    assert!(data["readAt"].is_string());
    let report = get(&service, "/api/validations?site=main").json()["data"]["links"].clone();
    assert_eq!((&report["broken"], &report["documents"]), (&json!(3), &json!(3)), "{report}");
    let report = get(&service, "/api/validations?site=main&documentId=p3").json();
    assert_eq!(report["data"]["links"]["broken"], 1);
    let report = get(&service, "/api/validations?site=main&contentType=api::page.page").json();
    assert!(report["data"].get("links").is_none());
    assert!(!data.to_string().contains("secret"), "no draft is read");
    let first = json!({"contentType": "api::page.page", "documentId": "p1", "locale": "en",
        "url": "https://www.example.com/en/about", "field": "body", "text": "the team",
        "address": "/en/team", "path": "/en/team", "verdict": "ok", "to": null});
    assert_eq!(data["links"][0], first);
    assert_eq!(data["links"][3]["field"], "zone.text");
    assert_eq!(data["links"][4]["text"], "by http");
}

#[test]
fn links_are_filtered_by_document_target_and_verdict() {
    let service = service();
    let addresses = |query: &str| -> Vec<String> {
        let rows = rows(&service, &format!("{LINKS}&{query}"));
        rows.into_iter().map(|[_, _, address, _]| address).collect()
    };
    assert_eq!(addresses("documentId=p3"), ["/en/draft"]);
    assert_eq!(addresses("verdict=gone"), ["/en/away"]);
    assert_eq!(addresses("verdict=gone,no_such_page"), ["/en/none", "/en/away", "/en/draft"]);
    assert_eq!(addresses("to=/en/contact"), ["/en/contact/", "/en/old"]);
    assert_eq!(addresses("to=/en/contact&verdict=moved"), ["/en/old"]);
    assert_eq!(addresses("documentId=none"), [""; 0]);
    let figures = get(&service, &format!("{LINKS}&to=/en/team&verdict=gone")).json();
    assert_eq!(figures["data"]["verdicts"]["not_canonical"], 2, "counted for all verdicts");
    assert_eq!(figures["data"]["count"], 0);
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Accept", "application/x-ndjson"), ("Authorization", &bearer)];
    let lines = http::send(service.addr(), "GET", LINKS, &headers);
    assert_eq!(lines.text().lines().count(), 12);
    assert!(lines.text().lines().last().unwrap().starts_with(r#"{"count":11,"#));
}

#[test]
fn bad_parameters_tokens_and_sites_are_refused() {
    let service = service();
    for (query, message) in [
        (
            "verdict=dead",
            "`verdict` must be one or several of ok, moved, gone, no_such_page, other_locale, not_canonical, unknown, not \"dead\"",
        ),
        ("to=en", "`to` must start with a slash, not \"en\""),
        ("documentId=a/b", "documentId"),
    ] {
        let response = get(&service, &format!("{LINKS}&{query}"));
        assert_eq!(response.status, 400, "{query}");
        assert!(response.text().contains(&message.replace('"', "\\\"")), "{}", response.text());
    }
    assert_eq!(http::get(service.addr(), LINKS).status, 401);
    assert_eq!(get(&service, "/api/links?site=none").status, 400);
    assert_eq!(send(&service, "POST", LINKS).status, 202);
    assert_eq!(http::send(service.addr(), "POST", LINKS, &[]).status, 401);
    let without =
        site("main").resolve("documents").rule("api::page.page", "/{slug}").files(CONTENT);
    let without = without.start();
    let response = http::get(without.addr(), LINKS);
    assert_eq!(response.status, 501);
    assert!(response.text().contains(r#"site \"main\" has no [[site.links]]"#));
    assert!(!without.log().contains("links in content"));
}

#[test]
fn command_lists_links_and_its_status_says_whether_one_is_broken() {
    let service = service();
    let address = format!("http://{}", service.addr());
    let run = |args: &[&str]| {
        let common = ["links", "--site", "main", "--service", &address];
        let setup = settings().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN);
        setup.run(&[&common, args].concat())
    };
    let table = run(&[]);
    assert_eq!(table.status, Some(1), "{}", table.stderr);
    assert!(table.stdout.starts_with("site main: 3 broken links\n  ok: 3\n"), "{}", table.stdout);
    assert!(table.stdout.contains("no_such_page   p1"), "{}", table.stdout);
    assert!(!table.stdout.contains("  ok  "), "{}", table.stdout);
    let csv = run(&["--format", "csv", "--document", "p3"]);
    let line = "no_such_page,api::page.page,p3,en,body,draft,/en/draft,/en/draft,,https://www.example.com/en/contact,\r\n";
    assert!(csv.stdout.ends_with(line), "{}", csv.stdout);
    let json = run(&["--format", "json", "--to", "/en/team"]);
    assert_eq!(json.status, Some(0), "{}", json.stderr);
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    assert_eq!(json["data"]["links"].as_array().unwrap().len(), 3);
    assert_eq!(json["data"]["broken"], 0);
    let refused = run(&["--verdict", "dead"]);
    assert_eq!(refused.status, Some(2));
    assert!(refused.stderr.contains("`verdict` must be one or several of"), "{}", refused.stderr);
    let refresh = run(&["--refresh"]);
    assert_eq!(refresh.status, Some(0), "{}", refresh.stderr);
}

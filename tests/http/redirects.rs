//! Redirects that are documents of the CMS: responses, tables and exports. `tests/cache/redirects.rs` has
//! their edits.

use serde_json::json;

use crate::support::api::{data, get};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "home"},
    {"documentId": "p1", "locale": "de", "slug": "start"},
    {"documentId": "p2", "locale": "en", "slug": "imprint"}
  ],
  "api::redirect.redirect": [
    {"documentId": "r1", "from": "/old", "to": "/en/home?a=1", "target": null, "code": 301, "force": null},
    {"documentId": "r2", "from": "/en/imprint", "to": "/en/home", "target": null, "code": null, "force": true},
    {"documentId": "r3", "from": "/de/alt", "to": null, "target": {"documentId": "p1"}, "code": null, "force": null},
    {"documentId": "r4", "from": "/x/*", "to": "https://other.example/y/*", "target": null, "code": "moved_302", "force": null},
    {"documentId": "r5", "from": "/gone", "to": null, "target": null, "code": 410, "force": null},
    {"documentId": "r6", "from": "/evil", "to": "https://evil.example/", "target": null, "code": null, "force": null},
    {"documentId": "r7", "from": "/en/home", "to": "/old", "target": null, "code": null, "force": null},
    {"documentId": "r8", "from": "/a?b", "to": "/old", "target": null, "code": null, "force": null},
    {"documentId": "r9", "from": "/loop", "to": "/loop", "target": null, "code": null, "force": null}
  ]
}"#;

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .set("redirect_hosts = [\"other.example\"]")
        .redirects()
        .rule("api::page.page", "/{locale}/{slug}")
        .files(CONTENT)
}

fn known() -> Service {
    let service = settings().start();
    until_known(&service);
    service
}

/// Waits until the redirects and the pages are known.
fn until_known(service: &Service) {
    until_so("all is known", || {
        let of = |path| get(service, &format!("/api/resolve?site=main&pathname={path}")).status;
        ["/nothing", "/en/nothing"].map(of) == [404, 200]
    });
}

#[test]
fn resolve_has_the_target_and_names_the_redirect() {
    let service = known();
    for (path, expected) in [
        (
            "/old",
            json!({
                "to": "https://www.example.com/en/home?a=1", "path": "/en/home?a=1", "status": 301,
                "documentId": "p1", "locale": "en", "since": null, "entry": "r1",
            }),
        ),
        (
            "/en/imprint",
            json!({
                "to": "https://www.example.com/en/home", "path": "/en/home", "status": 308,
                "documentId": "p1", "locale": "en", "since": null, "entry": "r2",
            }),
        ),
        (
            "/de/alt",
            json!({
                "to": "https://www.example.com/de/start", "path": "/de/start", "status": 308,
                "documentId": "p1", "locale": "de", "since": null, "entry": "r3",
            }),
        ),
        (
            "/x/a%20b/c",
            json!({
                "to": "https://other.example/y/a%20b/c", "path": "/y/a%20b/c", "status": 302,
                "documentId": null, "locale": "en", "since": null, "entry": "r4",
            }),
        ),
    ] {
        let target =
            format!("/api/resolve?site=main&pathname={}", crate::support::http::query(path));
        let response = get(&service, &target);
        assert_eq!(response.header("x-resolved-by").as_deref(), Some("redirects"), "{path}");
        assert_eq!(
            response.header("cache-control").as_deref(),
            Some("public, max-age=60, stale-if-error=60")
        );
        let found = data(&service, &target);
        assert_eq!(found["kind"], "redirect", "{path}");
        assert_eq!(found["redirect"], expected, "{path}");
        assert_eq!(
            (&found["resolvedBy"], &found["documentId"]),
            (&json!("redirects"), &json!(null))
        );
    }
    let gone = data(&service, "/api/resolve?site=main&pathname=/gone");
    assert_eq!(gone["gone"], json!({"since": null, "status": 410, "entry": "r5"}));
    assert_eq!((&gone["kind"], &gone["matched"]), (&json!("none"), &json!(null)));
    for path in ["/evil", "/loop", "/a"] {
        let response = get(&service, &format!("/api/resolve?site=main&pathname={path}"));
        assert_eq!(response.status, 404, "{path}");
    }
    let live = data(&service, "/api/resolve?site=main&pathname=/en/home");
    assert_eq!((&live["kind"], &live["documentId"]), (&json!("document"), &json!("p1")));
}

#[test]
fn redirects_are_in_no_list_and_the_specified_operations_do_not_know_them() {
    let service = known();
    let matched = get(&service, "/api/get-content-type?site=main&pathname=/old");
    assert_eq!(matched.status, 404);
    let list = get(&service, "/api/build-sitemap?site=main&contentType=api::redirect.redirect");
    assert_eq!(list.status, 400, "{}", list.text());
    let url = "/api/frontend-url?uid=api::redirect.redirect&documentId=r1";
    assert_eq!(get(&service, url).status, 404);
    let pages = data(&service, "/api/pages?site=main");
    assert_eq!(pages["count"], 3);
}

#[test]
fn problems_list_redirects_that_do_not_do_what_they_say() {
    let service = known();
    let problems = data(&service, "/api/problems?site=main");
    let row = |kind: &str, id: &str, more: serde_json::Value| {
        let mut row = json!({
            "kind": kind, "contentType": "api::redirect.redirect", "documentId": id, "locale": "en",
        });
        row.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        row
    };
    let expected = [
        row("redirect_unusable", "r6", json!({"reason": "target_host_not_allowed"})),
        row("redirect_unusable", "r8", json!({"reason": "from_not_allowed"})),
        row("redirect_shadowed", "r7", json!({"path": "/en/home"})),
        row("redirect_hides_page", "r2", json!({"path": "/en/imprint"})),
        row("redirect_loop", "r9", json!({"path": "/loop"})),
    ];
    assert_eq!(problems["count"], expected.len());
    for row in &expected {
        assert!(problems["problems"].as_array().unwrap().contains(row), "{row} {problems}");
    }
}

#[test]
fn table_and_exports_have_what_each_format_can_express() {
    let service = known();
    let table = data(&service, "/api/redirects?site=main");
    let mut rows: Vec<String> = table["redirects"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| {
            format!(
                "{} {} {} {}",
                row["from"], row["to"], row["status"], row["entry"]["documentId"]
            )
        })
        .collect();
    rows.sort();
    let expected = [
        r#""/de/alt" "https://www.example.com/de/start" 308 "r3""#,
        r#""/en/imprint" "https://www.example.com/en/home" 308 "r2""#,
        r#""/gone" null 410 "r5""#,
        r#""/old" "https://www.example.com/en/home?a=1" 301 "r1""#,
        r#""/x/*" "https://other.example/y/*" 302 "r4""#,
    ];
    assert_eq!(rows, expected);
    let url = format!("http://{}", service.addr());
    let export = |format: &str| {
        let args = ["redirects", "--site", "main", "--service", &url, "--format", format];
        let ended = settings().run(&args);
        assert_eq!(ended.status, Some(0), "{}", ended.stderr);
        (ended.stdout, ended.stderr)
    };
    let (netlify, left_out) = export("netlify");
    assert_eq!(
        netlify,
        "/de/alt /de/start 301\n/en/imprint /en/home 301!\n/old /en/home?a=1 301\n\
         /x/* https://other.example/y/:splat 302\n"
    );
    assert!(left_out.contains("cannot express them: 1 redirect"), "{left_out}");
    let (next, _) = export("next");
    let next: serde_json::Value = serde_json::from_str(&next).unwrap();
    assert_eq!(next[2]["destination"], "/en/home?a=1");
    assert_eq!(next.as_array().unwrap().len(), 3, "a path with `*` would be before live pages");
    let (nginx, left_out) = export("nginx");
    assert!(!nginx.contains("/x/") && nginx.contains("\"/de/alt\""), "{nginx}");
    assert!(left_out.contains("cannot express them: 3 redirects"), "{left_out}");
    let (csv, _) = export("csv");
    assert!(csv.contains("/x/*,https://other.example/y/*,302,,/y/*,,,en,\r\n"), "{csv}");
}

#[test]
fn mistakes_in_the_settings_are_named() {
    let with = |lines: &str| {
        let settings =
            site("main").resolve("documents").set(lines).rule("api::page.page", "/{slug}");
        settings.files("{}").run(&["check"]).stderr
    };
    let section = "[[site.redirects]]\ncontent_type = \"api::redirect.redirect\"\n";
    for (lines, expected) in [
        (format!("{section}to = \"to\"\n"), "`from` is required"),
        (format!("{section}from = \"from\"\n"), "`to`, `document` or both are required"),
        (
            "[[site.redirects]]\ncontent_type = \"api::page.page\"\nfrom = \"from\"\nto = \"to\"\n"
                .to_owned(),
            "api::page.page has a rule of the site as well: remove one of both",
        ),
        (
            format!("{section}from = \"a\"\nto = \"b\"\n{section}from = \"a\"\nto = \"b\"\n"),
            "api::redirect.redirect is named twice",
        ),
        ("redirect_hosts = [\"a/b\"]\n".to_owned(), "is not a host, such as www.example.com"),
    ] {
        let problems = with(&lines);
        assert!(problems.contains(expected), "{lines}: {problems}");
    }
}

/// Previews and staging have other hosts than the site, or name none: a path then stands for the path on each.
#[test]
fn request_without_a_host_of_the_site_is_not_sent_in_circles() {
    let content = r#"{
      "api::page.page": [
        {"documentId": "p1", "locale": "en", "slug": "home"},
        {"documentId": "p2", "locale": "en", "slug": "six"},
        {"documentId": "p3", "locale": "en", "slug": "seven"}
      ],
      "api::redirect.redirect": [
        {"documentId": "r1", "from": "/en/home", "to": null, "target": {"documentId": "p1"}, "code": null, "force": true},
        {"documentId": "r2", "from": "/en/six", "to": "/en/seven", "target": null, "code": null, "force": true},
        {"documentId": "r3", "from": "/en/seven", "to": "/en/six", "target": null, "code": null, "force": true},
        {"documentId": "r4", "from": "/zz/*", "to": "/zz/b", "target": null, "code": null, "force": null}
      ]
    }"#;
    let hosts = r#"{ en = "https://shop.example.com", de = "https://shop.example.de/start" }"#;
    let service = site("main")
        .locales(&["en", "de"])
        .front_end_url(hosts)
        .resolve("documents")
        .set("redirect_hosts = [\"other.example\"]")
        .redirects()
        .rule("api::page.page", "/{locale}/{slug}")
        .files(content)
        .start();
    until_known(&service);
    for host in ["", "&host=unknown.example", "&host=shop.example.com"] {
        let target = |path: &str| format!("/api/resolve?site=main&pathname={path}{host}");
        for path in ["/en/home", "/en/six", "/en/seven"] {
            assert_eq!(data(&service, &target(path))["kind"], "document", "{path} {host}");
        }
        assert_eq!(get(&service, &target("/zz/b")).status, 404, "{host}");
        assert_eq!(data(&service, &target("/zz/a"))["redirect"]["path"], "/zz/b", "{host}");
    }
}

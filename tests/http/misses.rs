//! `/api/misses` and `frontend-map misses`: the paths that `/api/resolve` found nothing for.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::resolve::knowledge::{Faults, setup as behind_cms};
use crate::support::http::{self, Response, query};
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const TOKEN: &str = "canary-51cd-validate";
const MISSES: &str = "/api/misses?site=main";

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about-us"},
    {"documentId": "p1", "locale": "de", "slug": "ueber-uns"},
    {"documentId": "p2", "locale": "en", "slug": "best-hotels-in-rome"},
    {"documentId": "p3", "locale": "en", "slug": "hidden", "status": "draft"}
  ]
}"#;

fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/{slug}")
        .files(CONTENT)
}

fn started(setup: Setup) -> Service {
    let service = setup.env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN).start();
    until_so("the documents are known", || request(&service, "/en/about-us").status == 200);
    service
}

fn service() -> Service {
    started(settings().setup())
}

/// A page is requested, with this path.
fn request(service: &Service, path: &str) -> Response {
    http::get(service.addr(), &format!("/api/resolve?site=main&pathname={}", query(path)))
}

fn send(service: &Service, method: &str, target: &str) -> Response {
    let bearer = format!("Bearer {TOKEN}");
    http::send(service.addr(), method, target, &[("Authorization", &bearer)])
}

#[track_caller]
fn data(service: &Service) -> Value {
    let response = send(service, "GET", MISSES);
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    response.json()["data"].clone()
}

/// Each path with its number of requests, in order.
fn counts(service: &Service) -> Vec<(String, u64)> {
    let rows = data(service)["misses"].as_array().unwrap().clone();
    let path = |row: &Value| row["path"].as_str().unwrap_or("scanners").to_owned();
    rows.iter().map(|row| (path(row), row["count"].as_u64().unwrap())).collect()
}

fn pairs(expected: &[(&str, u64)]) -> Vec<(String, u64)> {
    expected.iter().map(|(path, count)| ((*path).to_owned(), *count)).collect()
}

#[test]
fn missed_paths_are_listed_with_the_page_that_was_perhaps_meant() {
    let service = service();
    for (path, times) in [
        ("/en/About-Us", 3),
        ("/en/none/of/these?utm_source=canary-query#x", 2),
        ("/de/about-us", 1),
        ("/en/about-us.html", 1),
        ("/en/top-hotels-rome", 1),
        ("/en/hidden", 1),
        ("/wp-login.php", 1),
        ("/.git/config", 1),
        // Found.
        ("/en/about-us", 1),
        ("/en//about-us/", 1),
    ] {
        for _ in 0..times {
            let response = request(&service, path);
            assert!([200, 404].contains(&response.status), "{path}: {}", response.text());
        }
    }
    // Neither a draft nor a document by its id is a published path.
    for query in ["pathname=/en/draft&status=draft", "uid=api::page.page&documentId=p9"] {
        http::get(service.addr(), &format!("/api/resolve?site=main&{query}"));
    }
    http::get(service.addr(), "/api/get-content-type?site=main&pathname=/a/b/c");
    let data = data(&service);
    assert_eq!((&data["count"], &data["uncounted"]), (&json!(7), &json!(0)), "{data}");
    let shown = |row: &Value| {
        let suggestion = &row["suggestion"];
        (
            row["path"].clone(),
            row["count"].clone(),
            suggestion["reason"].clone(),
            suggestion["url"].clone(),
        )
    };
    let rows: Vec<_> = data["misses"].as_array().unwrap().iter().map(shown).collect();
    let url = |path: &str| json!(format!("https://www.example.com{path}"));
    let expected = [
        (json!("/en/About-Us"), json!(3), json!("other_case"), url("/en/about-us")),
        (json!("/en/none/of/these"), json!(2), json!(null), json!(null)),
        (json!("/de/about-us"), json!(1), json!("other_locale"), url("/de/ueber-uns")),
        (json!("/en/about-us.html"), json!(1), json!("same_slug"), url("/en/about-us")),
        (json!("/en/hidden"), json!(1), json!(null), json!(null)),
        (json!("/en/top-hotels-rome"), json!(1), json!("similar"), url("/en/best-hotels-in-rome")),
        (json!(null), json!(2), json!(null), json!(null)),
    ];
    assert_eq!(rows, expected);
    assert_eq!(data["misses"][6]["kind"], "scanners");
    let first = &data["misses"][0];
    assert!(first["firstAt"].as_str() <= first["lastAt"].as_str() && first["firstAt"].is_string());
    let expected = json!({"path": "/en/about-us", "url": "https://www.example.com/en/about-us", "locale": "en",
        "contentType": "api::page.page", "documentId": "p1", "reason": "other_case"});
    assert_eq!(first["suggestion"], expected);
    assert!(!data.to_string().contains("canary-query"), "no query is kept");
    let bearer = format!("Bearer {TOKEN}");
    let headers = [("Accept", "application/x-ndjson"), ("Authorization", &bearer)];
    let lines = http::send(service.addr(), "GET", MISSES, &headers);
    assert_eq!(lines.text().lines().count(), 8);
    assert!(lines.text().ends_with("{\"count\":7,\"uncounted\":0}\n"));
}

const REDIRECTS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
"#;

/// Each path with the redirect in the CMS that an editor would create for it.
fn redirects(service: &Service) -> Vec<(Value, Value)> {
    let rows = data(service)["misses"].as_array().unwrap().clone();
    rows.iter().map(|row| (row["path"].clone(), row["redirect"].clone())).collect()
}

#[test]
fn row_has_the_redirect_that_an_editor_would_create_and_which_is_read_as_this_path() {
    let content = |entries: &[Value]| {
        let mut content: Value = serde_json::from_str(CONTENT).unwrap();
        content["api::redirect.redirect"] = entries.into();
        content.to_string()
    };
    let settings = settings().set(REDIRECTS).file("content.json", &content(&[]));
    let service = started(settings);
    let expected = [
        ("/en/About-Us", json!({"from": "/en/About-Us", "to": "/en/about-us", "locale": "en"})),
        ("/de/%C3%BCber%20alles", json!({"from": "/de/über%20alles", "locale": "de"})),
        ("/en/100%25", json!({"from": "/en/100%25", "locale": "en"})),
        ("/what%3F", json!({"from": "/what%3F"})),
        ("/en/a%2Fb", json!(null)),
        ("/en/old/%2A", json!(null)),
        ("/x%2Ay", json!(null)),
    ];
    for (times, (path, _)) in expected.iter().rev().enumerate() {
        (0..=times).for_each(|_| drop(request(&service, path)));
    }
    request(&service, "/wp-login.php");
    let mut rows: Vec<_> = expected.map(|(path, redirect)| (json!(path), redirect)).into();
    rows.push((json!(null), json!(null)));
    assert_eq!(redirects(&service), rows);
    // With these entries, each path redirects and its row ends.
    let entries: Vec<Value> = rows
        .iter()
        .filter_map(|(path, redirect)| {
            let (id, to) = (path.as_str()?.len().to_string(), "/en/about-us");
            let from = redirect["from"].as_str()?;
            Some(json!({"documentId": id, "from": from, "to": redirect["to"].as_str().unwrap_or(to)}))
        })
        .collect();
    assert_eq!(entries.len(), 4);
    service.rewrite("content.json", &content(&entries));
    service.send_signal("HUP");
    let leads_to = |path: &Value| {
        let response = request(&service, path.as_str().unwrap());
        response.json()["data"]["redirect"]["path"].clone()
    };
    until_so("the entries are known", || leads_to(&rows[0].0) == "/en/about-us");
    for (path, _) in rows.iter().filter(|(_, redirect)| !redirect.is_null()) {
        assert_eq!(leads_to(path), "/en/about-us", "{path}");
    }
    let left: Vec<_> = redirects(&service).into_iter().map(|(path, _)| path).collect();
    assert_eq!(left, [json!("/en/a%2Fb"), json!("/en/old/%2A"), json!("/x%2Ay"), json!(null)]);
}

#[test]
fn redirect_of_a_site_with_several_hosts_has_the_locale_of_its_host_and_a_url_to_another_one() {
    let bases = r#"{ en = "https://example.com/shop", de = "https://example.de" }"#;
    let mut content: Value = serde_json::from_str(CONTENT).unwrap();
    content["api::redirect.redirect"] = json!([]);
    let settings = settings().front_end_url(bases).set(REDIRECTS);
    let service = started(settings.file("content.json", &content.to_string()));
    for (path, host) in [
        ("/en/About-Us", "&host=example.com"),
        ("/en/about-us.html", "&host=example.de"),
        ("/about-us", ""),
    ] {
        let target = format!("/api/resolve?site=main&pathname={path}{host}");
        until_so("it is known", || http::get(service.addr(), &target).status != 503);
    }
    let mut found = redirects(&service);
    found.sort_by_key(|(path, _)| path.to_string());
    let expected = [
        ("/about-us", json!({"from": "/about-us", "to": "https://example.com/shop/en/about-us"})),
        ("/en/About-Us", json!({"from": "/en/About-Us", "to": "/en/about-us", "locale": "en"})),
        (
            "/en/about-us.html",
            json!({
                "from": "/en/about-us.html", "to": "https://example.com/shop/en/about-us",
                "locale": "de",
            }),
        ),
    ];
    assert_eq!(found, expected.map(|(path, redirect)| (json!(path), redirect)));
}

#[test]
fn path_that_may_exist_is_not_counted() {
    let faults = Faults::default();
    faults.set("story", 500);
    let cms = faults.start();
    let service = behind_cms(&cms).start();
    until_so("the pages are known", || request(&service, "/en/about").status == 200);
    // A story could have it.
    assert_eq!(request(&service, "/en/missing").status, 503);
    faults.heal();
    until_so("the stories are known", || request(&service, "/en/journey").status == 200);
    assert_eq!(counts(&service), []);
    assert_eq!(request(&service, "/en/missing").json()["data"]["kind"], "none");
    assert_eq!(counts(&service), pairs(&[("/en/missing", 1)]));
}

#[test]
fn row_ends_when_the_path_exists_or_redirects() {
    let service = started(settings().file("content.json", CONTENT));
    for path in ["/en/new", "/en/renamed", "/en/none"] {
        request(&service, path);
    }
    assert_eq!(counts(&service).len(), 3);
    let edit = |from: &str, to: &str, exists: &str| {
        let before = std::fs::read_to_string(service.path().join("content.json")).unwrap();
        service.rewrite("content.json", &before.replace(from, to));
        service.send_signal("HUP");
        until_so(exists, || request(&service, exists).json()["data"]["kind"] == "document");
    };
    edit("about-us", "renamed", "/en/renamed");
    edit("best-hotels-in-rome", "new", "/en/new");
    assert_eq!(counts(&service), pairs(&[("/en/none", 1)]));
    // The present page is renamed: its path redirects, and is no miss.
    edit("renamed", "again", "/en/again");
    assert_eq!(request(&service, "/en/renamed").json()["data"]["kind"], "redirect");
    assert_eq!(counts(&service), pairs(&[("/en/none", 1)]));
}

#[test]
fn rows_are_cleared_one_by_one_or_all() {
    let service = service();
    for path in ["/en/a", "/en/b%20c", "/en/d", "/.env", "/en/a"] {
        request(&service, path);
    }
    let clear = |more: &str| send(&service, "DELETE", &format!("{MISSES}{more}"));
    for (more, expected) in [
        ("&pathname=/en/b%2520c", 1),
        ("&pathname=/en/b%2520c", 0),
        // Normalized as the pathname of a request.
        ("&pathname=//en/a/", 1),
        ("&pathname=/x.php", 1),
    ] {
        let response = clear(more);
        let text = format!(r#"{{"data":{{"cleared":{expected}}},"meta":{{}}}}"#);
        assert_eq!((response.status, response.text()), (200, text.as_str()), "{more}");
    }
    assert_eq!(counts(&service), pairs(&[("/en/d", 1)]));
    request(&service, "/wp-login.php");
    assert_eq!(clear("").json()["data"]["cleared"], 2);
    assert_eq!(counts(&service), []);
    request(&service, "/en/d");
    assert_eq!(counts(&service), pairs(&[("/en/d", 1)]));
    assert_eq!(clear("&pathname=en").status, 400);
}

#[test]
fn list_needs_the_token_and_clearing_needs_that_one_is_set() {
    let service = service();
    let right = format!("Bearer {TOKEN}");
    for (target, sent, status) in [
        ("/api/misses", Some(&*right), 400),
        ("/api/misses?site=x", Some(&right), 400),
        (MISSES, None, 401),
        (MISSES, Some("Bearer x"), 403),
        (MISSES, Some(&right), 200),
    ] {
        let headers: Vec<_> = sent.iter().map(|value| ("Authorization", *value)).collect();
        for method in ["GET", "DELETE"] {
            let response = http::send(service.addr(), method, target, &headers);
            assert_eq!(response.status, status, "{method} {target} {sent:?}");
        }
    }
    let allowed = http::send(service.addr(), "OPTIONS", MISSES, &[]);
    assert_eq!(allowed.header("allow").as_deref(), Some("GET, HEAD, DELETE, OPTIONS"));
    assert_eq!(send(&service, "HEAD", MISSES).body.len(), 0);
    assert_eq!(send(&service, "POST", MISSES).status, 405);
    let open = settings().start();
    until_so("the documents are known", || request(&open, "/en/about-us").status == 200);
    assert_eq!(http::get(open.addr(), MISSES).status, 200);
    let refused = http::send(open.addr(), "DELETE", MISSES, &[]);
    assert_eq!(refused.status, 501, "{}", refused.text());
    let by_rules = site("main").rule("api::page.page", "/{slug}").start();
    assert_eq!(http::get(by_rules.addr(), MISSES).status, 501);
}

#[test]
fn hosts_of_a_site_have_rows_of_their_own() {
    let bases = r#"{ en = "https://example.com", de = "https://example.de:8443" }"#;
    let service = started(settings().front_end_url(bases).setup());
    for host in ["example.com", "example.de:8443", "example.de:8443", "elsewhere.example"] {
        let target = format!("/api/resolve?site=main&pathname=/en/missing&host={host}");
        http::get(service.addr(), &target);
    }
    http::get(service.addr(), "/api/resolve?site=main&pathname=/en/missing");
    let shown =
        |row: &Value| (row["host"].as_str().unwrap_or_default().to_owned(), row["count"].clone());
    let rows = data(&service)["misses"].as_array().unwrap().iter().map(shown).collect::<Vec<_>>();
    let expected = [("example.de:8443", 2), ("", 1), ("example.com", 1)]
        .map(|(host, n)| (host.to_owned(), json!(n)));
    assert_eq!(rows, expected);
    for query in ["&host=example.com", "&pathname=/en/missing&host=elsewhere.example"] {
        assert_eq!(send(&service, "DELETE", &format!("{MISSES}{query}")).status, 400, "{query}");
    }
    let one = send(&service, "DELETE", &format!("{MISSES}&pathname=/en/missing&host=example.com"));
    assert_eq!(one.json()["data"]["cleared"], 1);
    assert_eq!(data(&service)["count"], 2);
}

/// Paths that are no text for a terminal, a page or a spreadsheet. Unmatchable segments stay as written.
const HOSTILE: [&str; 6] = [
    "/en/<script>alert(1)</script>",
    "/en/%zz\u{202e}\"<b>",
    "/en/%zz=cmd|'/C calc'!A0",
    "/en/caf\u{e9}",
    "/%zz,\"\\",
    "/en/a%2Fb",
];

#[test]
fn hostile_paths_are_bounded_and_escaped_in_each_format() {
    let service = service();
    for path in HOSTILE {
        request(&service, path);
    }
    // Refused before they are resolved: control characters, and what is too long.
    for (pathname, status) in [("/en/%1b%5b2J", 400), ("/en/a%0Ab", 400), ("/en/%250a", 404)] {
        let target = format!("/api/resolve?site=main&pathname={pathname}");
        assert_eq!(http::get(service.addr(), &target).status, status, "{pathname}");
    }
    assert_eq!(request(&service, &format!("/{}", "a".repeat(9_000))).status, 414);
    assert_eq!(request(&service, &format!("/{}", "a".repeat(2_048))).status, 400);
    request(&service, &format!("/{}", "a".repeat(2_000)));
    let all = data(&service);
    assert_eq!((&all["count"], &all["uncounted"]), (&json!(7), &json!(1)), "{all}");
    let paths: BTreeSet<String> = counts(&service).into_iter().map(|(path, _)| path).collect();
    let expected = [
        "/%zz,\"\\",
        "/en/%0a",
        "/en/%3Cscript%3Ealert%281%29%3C/script%3E",
        "/en/%zz=cmd|'/C%20calc%27%21A0",
        "/en/%zz\u{202e}\"<b>",
        "/en/a%2Fb",
        "/en/caf%C3%A9",
    ];
    assert_eq!(paths, expected.map(str::to_owned).into());
    let setup = settings().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN);
    let url = format!("http://{}", service.addr());
    let run = |format: &str| {
        let ended = setup.run(&["misses", "--site", "main", "--service", &url, "--format", format]);
        assert_eq!(ended.status, Some(0), "{format}: {}", ended.stderr);
        ended.stdout
    };
    for format in ["table", "csv"] {
        let text = run(format);
        let is_harmless = |c: char| !c.is_control() || "\r\n".contains(c);
        assert!(text.chars().all(is_harmless) && !text.contains('\u{202e}'), "{format}: {text}");
        assert!(text.contains("\\u{202e}"), "{format}: {text}");
    }
    let csv = run("csv");
    assert_eq!(csv.split_terminator("\r\n").count(), 8, "a record for each row: {csv}");
    assert!(csv.split([',', '\n']).all(|field| !field.starts_with(['=', '+', '-', '@'])), "{csv}");
}

#[test]
fn flood_of_random_paths_is_bounded_and_leaves_what_is_requested_often() {
    let service = service();
    for _ in 0..20 {
        request(&service, "/en/wanted");
    }
    std::thread::scope(|scope| {
        for flood in 0..4 {
            let service = &service;
            scope.spawn(move || {
                for n in 0..400 {
                    request(service, &format!("/{flood}/{n}/{}", "x".repeat(700)));
                }
            });
        }
    });
    let data = data(&service);
    let rows = data["misses"].as_array().unwrap();
    assert_eq!(rows.len(), 1_000);
    assert_eq!((&rows[0]["path"], &rows[0]["count"]), (&json!("/en/wanted"), &json!(20)));
    let counted: u64 = rows.iter().map(|row| row["count"].as_u64().unwrap()).sum();
    assert_eq!(counted + data["uncounted"].as_u64().unwrap(), 1_620, "each request counts once");
}

#[test]
fn command_lists_what_the_service_has() {
    let service = service();
    let url = format!("http://{}", service.addr());
    let setup = settings().env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN);
    let run = |more: &[&str]| {
        setup.run(&[&["misses", "--site", "main", "--service", &url], more].concat())
    };
    assert_eq!(run(&[]).stdout, "site main: no paths that were not found\n");
    for path in ["/en/About-Us", "/en/About-Us", "/wp-login.php"] {
        request(&service, path);
    }
    let rows = data(&service)["misses"].clone();
    let [first, last] =
        ["firstAt", "lastAt"].map(|name| rows[0][name].as_str().unwrap().to_owned());
    let at = rows[1]["firstAt"].as_str().unwrap().to_owned();
    let expected = format!(
        "site main: 2 rows of paths that were not found

paths
  requests  error  first                     last                      reason      suggestion    path
  2         0      {first}  {last}  other_case  /en/about-us  /en/About-Us
  1         0      {at}  {at}                            (requests of scanners)
"
    );
    assert_eq!(run(&[]).stdout, expected);
    let csv = run(&["--format", "csv"]).stdout;
    let expected = format!(
        "kind,host,path,count,error,firstAt,lastAt,reason,suggestedPath,suggestedUrl\r\n\
         path,,/en/About-Us,2,0,{first},{last},other_case,/en/about-us,https://www.example.com/en/about-us\r\n\
         scanners,,,1,0,{at},{at},,,\r\n"
    );
    assert_eq!(csv, expected);
    let wrong = settings().setup().run(&["misses", "--site", "main", "--service", &url]);
    assert_eq!((wrong.status, wrong.stdout.as_str()), (Some(1), ""));
    assert!(wrong.stderr.contains("set auth.validate_token_file"), "{}", wrong.stderr);
    let unknown = setup.run(&["misses", "--site", "x"]);
    assert!(unknown.status == Some(1) && unknown.stderr.contains("unknown site `x`"));
}

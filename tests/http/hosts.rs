//! A site with a host for each locale.

mod files;
mod mistakes;
mod names;
mod own_templates;
mod resolve;
mod validation;

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::support::api::{data, get};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

/// Two locales share the first host; `at` and `de` have one segment on different hosts.
const BASES: &str = r#"{ en = "https://example.com", fr = "https://example.com", de = "https://example.de/start", at = "http://example.at:8080" }"#;

const LOCALES: [&str; 4] =
    ["en", "fr", "de", r#"{ code = "at", segment = "de", hreflang = "de-AT" }"#];

/// With a segment of its own for each, so that all of them may share a host.
const OF_OWN_SEGMENTS: [&str; 4] = ["en", "fr", "de", "at"];

/// `x` is on each host; `two` has the path of `one` on one host.
const CONTENT: &str = r#"{
  "api::post.post": [
    {"documentId": "one", "locale": "en", "slug": "x"},
    {"documentId": "one", "locale": "fr", "slug": "un"},
    {"documentId": "one", "locale": "de", "slug": "x"},
    {"documentId": "one", "locale": "at", "slug": "x"},
    {"documentId": "two", "locale": "fr", "slug": "x"},
    {"documentId": "two", "locale": "at", "slug": "only"}],
  "api::page.page": [
    {"documentId": "p", "locale": "de", "slug": "x"},
    {"documentId": "p", "locale": "at", "slug": "x"}],
  "api::note.note": [{"documentId": "n", "slug": "note"}]
}"#;

fn settings() -> Settings {
    with_posts_at("/posts/{slug}")
}

fn with_posts_at(template: &str) -> Settings {
    site("main")
        .front_end_url(BASES)
        .locales(&LOCALES)
        .resolve("documents")
        .rule("api::post.post", template)
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::note.note", "/notes/{slug}")
        .files(CONTENT)
}

/// Once the documents are known.
fn started(setup: Setup) -> Service {
    let service = setup.start();
    let is_known = |path: &str| {
        let target = format!("/api/resolve?site=main&pathname={path}");
        http::get(service.addr(), &target).status == 200
    };
    until_so("the documents are known", || {
        ["/posts/missing", "/de/missing", "/notes/missing"].into_iter().all(is_known)
    });
    service
}

#[test]
fn url_is_below_the_base_url_of_its_locale() {
    let service = started(settings().setup());
    for (locale, url, path) in [
        ("en", "https://example.com/posts/x", "/posts/x"),
        ("fr", "https://example.com/posts/un", "/posts/un"),
        ("de", "https://example.de/start/posts/x", "/posts/x"),
        ("at", "http://example.at:8080/posts/x", "/posts/x"),
    ] {
        let query = format!("uid=api::post.post&documentId=one&locale={locale}");
        let found = data(&service, &format!("/api/frontend-url?{query}"));
        assert_eq!(found, json!({"url": url, "path": path}));
        let batch = data(&service, &format!("/api/frontend-urls?{query}"));
        assert_eq!(batch["results"][0]["url"], url);
    }
    let note = data(&service, "/api/frontend-url?uid=api::note.note&documentId=n&locale=de");
    assert_eq!(note["url"], "https://example.com/notes/note", "not localized: the first locale");
}

/// The owner of a path is chosen for each host.
const POSTS: [&str; 5] = [
    "https://example.com/posts/x",
    "https://example.com/posts/un",
    "https://example.de/start/posts/x",
    "http://example.at:8080/posts/only",
    "http://example.at:8080/posts/x",
];

#[test]
fn lists_have_the_urls_of_all_hosts_and_a_path_once_for_each_host() {
    let service = started(settings().setup());
    let list = data(&service, "/api/build-sitemap?site=main&contentType=api::post.post");
    assert_eq!(list, json!({"count": 5, "urls": POSTS}));
    let xml = "/api/build-sitemap?site=main&contentType=api::post.post&xml=true";
    let xml = get(&service, xml);
    assert_eq!(xml.header("content-length"), Some(xml.text().len().to_string()));
    assert_eq!(locs(xml.text()), POSTS.iter().map(|url| (*url).to_owned()).collect());
    let pages = data(&service, "/api/pages?site=main&contentType=api::post.post");
    let urls: Vec<&Value> = pages["pages"].as_array().unwrap().iter().map(|p| &p["url"]).collect();
    assert_eq!(urls, POSTS);
    let problems = data(&service, "/api/problems?site=main");
    let shared: Vec<&Value> = problems["problems"].as_array().unwrap().iter().collect();
    assert_eq!(shared.len(), 1, "{problems}");
    assert_eq!(shared[0]["path"], "/posts/x");
    assert_eq!(shared[0]["owner"]["locale"], "en");
    assert_eq!(shared[0]["others"][0]["locale"], "fr");
}

#[test]
fn pages_on_two_hosts_with_one_segment_have_the_code_of_their_own_locale() {
    let service = started(settings().setup());
    let pages = data(&service, "/api/pages?site=main&contentType=api::page.page");
    let row = |page: &Value| {
        (page["url"].clone(), page["locale"].clone(), page["params"]["locale"].clone())
    };
    let rows: Vec<_> = pages["pages"].as_array().unwrap().iter().map(row).collect();
    let expected = [("https://example.de/start/de/x", "de"), ("http://example.at:8080/de/x", "at")];
    assert_eq!(rows, expected.map(|(url, code)| (json!(url), json!(code), json!(code))));
}

#[test]
fn locale_without_a_base_url_makes_lists_and_files_a_501() {
    let bases = r#"{ en = "https://example.com", fr = "https://example.com", at = "" }"#;
    let settings = settings().front_end_url(bases).locales(&OF_OWN_SEGMENTS);
    let service = started(settings.env("FRONT_END_URL_MAIN_FR", ""));
    let message = |target: &str| {
        let response = get(&service, target);
        assert_eq!(response.status, 501, "{target}: {}", response.text());
        response.json()["error"]["message"].as_str().unwrap().to_owned()
    };
    let of = |locale: &str| {
        format!("/api/frontend-url?uid=api::post.post&documentId=one&locale={locale}")
    };
    assert_eq!(message(&of("fr")), "FRONT_END_URL_MAIN_FR is not configured");
    assert_eq!(message(&of("at")), "FRONT_END_URL_MAIN_AT is not configured");
    assert_eq!(get(&service, &of("en")).status, 200);
    for target in [
        "/api/build-sitemap?site=main&contentType=api::post.post",
        "/api/build-sitemap?site=main&contentType=api::post.post&validate=true",
        "/sitemaps/main/index.xml",
        "/sitemaps/main/api.post.post-1.xml",
    ] {
        assert_eq!(message(target), "FRONT_END_URL_MAIN_FR is not configured");
    }
    let pages = data(&service, "/api/pages?site=main&contentType=api::post.post");
    let urls: BTreeSet<String> =
        pages["pages"].as_array().unwrap().iter().map(|page| page["url"].to_string()).collect();
    let expected = ["null", "\"https://example.com/posts/x\""].map(str::to_owned);
    assert_eq!(urls, expected.into());
    let batch = data(&service, "/api/frontend-urls?uid=api::post.post&documentId=one&locale=de");
    assert_eq!(batch["results"][0]["reason"], "no_base_url");
    let checked = settings.run(&["check"]);
    let warning = "warning: site main: no base URL for the locale `de`, so each list and sitemap file with URLs of this locale is a 501; set front_end_url or FRONT_END_URL_MAIN_DE";
    assert!(checked.stdout.contains(warning), "{}", checked.stdout);
}

#[test]
fn locale_without_a_base_url_does_not_matter_to_types_without_urls_in_it() {
    let bases = r#"{ en = "https://example.com", fr = "https://example.fr" }"#;
    let settings = with_posts_at(r#"{ en = "/posts/{slug}", fr = "/posts/{slug}" }"#)
        .front_end_url(bases)
        .locales(&OF_OWN_SEGMENTS);
    let service = started(settings.setup());
    let status = |target: &str| get(&service, target).status;
    assert_eq!(status("/api/build-sitemap?site=main&contentType=api::post.post"), 200);
    assert_eq!(status("/sitemaps/main/example.fr/api.post.post-1.xml"), 200);
    assert_eq!(status("/sitemaps/main/example.fr/robots.txt"), 200);
    assert_eq!(status("/api/build-sitemap?site=main&contentType=api::page.page"), 501);
    assert_eq!(status("/sitemaps/main/example.fr/api.page.page-1.xml"), 501);
    // It lists the files of all types.
    assert_eq!(status("/sitemaps/main/example.fr/index.xml"), 501);
    let found = data(&service, "/api/resolve?site=main&pathname=/posts/x&host=example.com");
    let urls: Vec<&str> =
        found["alternates"].as_object().unwrap().keys().map(String::as_str).collect();
    assert_eq!(urls, ["en", "fr", "x-default"]);
    let ended = settings.run(&["sitemap", "--site", "main", "--out", "out"]);
    assert_eq!(ended.status, Some(1), "{}", ended.stdout);
    let expected =
        "has no base URL for the locale `de`: set front_end_url or FRONT_END_URL_MAIN_DE";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
}

#[test]
fn rules_of_the_admin_address_say_whether_each_locale_has_a_base_url() {
    for (bases, expected) in [
        (r#"{ en = "https://example.com", fr = "https://example.com" }"#, false),
        (
            r#"{ en = "https://a.example", fr = "https://b.example", de = "https://c.example", at = "https://d.example" }"#,
            true,
        ),
    ] {
        let service = settings().front_end_url(bases).locales(&OF_OWN_SEGMENTS).start();
        let rules = http::get(service.admin(), "/rules").json();
        assert_eq!(rules["sites"][0]["hasBaseUrl"], expected, "{bases}");
    }
}

#[test]
fn variable_of_a_locale_wins_over_that_of_the_site_and_that_over_the_file() {
    let url = |setup: Setup, locale: &str| {
        let service = started(setup);
        let query = format!("uid=api::post.post&documentId=one&locale={locale}");
        let response = get(&service, &format!("/api/frontend-url?{query}"));
        response.json()["data"]["url"].as_str().map(str::to_owned)
    };
    let of_site =
        || settings().locales(&OF_OWN_SEGMENTS).env("FRONT_END_URL_MAIN", "https://site.example");
    let of_locale = || of_site().env("FRONT_END_URL_MAIN_DE", "https://locale.example");
    for (setup, locale, expected) in [
        (of_site(), "de", Some("https://site.example/posts/x")),
        (of_locale(), "de", Some("https://locale.example/posts/x")),
        (of_locale(), "en", Some("https://site.example/posts/x")),
        (of_locale().env("FRONT_END_URL_MAIN", ""), "en", None),
        (of_locale().env("FRONT_END_URL_MAIN", ""), "de", Some("https://locale.example/posts/x")),
        (of_site().env("FRONT_END_URL_MAIN_DE", ""), "de", None),
    ] {
        assert_eq!(url(setup, locale), expected.map(str::to_owned));
    }
}

/// The texts of all `loc` elements.
fn locs(text: &str) -> BTreeSet<String> {
    let document = roxmltree::Document::parse(text).expect("XML");
    let locs = document.descendants().filter(|node| node.tag_name().name() == "loc");
    locs.filter_map(|node| node.text().map(str::to_owned)).collect()
}

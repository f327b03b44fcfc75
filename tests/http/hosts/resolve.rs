//! The parameter `host`: the locale of a path and its document on a host.

use serde_json::{Value, json};

use super::{data, get, settings, started};
use crate::support::http;

#[test]
fn locale_is_that_of_the_path_then_of_the_host_then_of_the_parameter() {
    let service = started(settings().setup());
    for (path, host, locale, expected) in [
        // The path has a locale.
        ("/de/missing", "example.com", "", "de"),
        ("/fr/missing", "example.de", "", "fr"),
        ("/de/missing", "", "", "de"),
        ("/de/missing", "example.at:8080", "", "at"),
        ("/de/missing", "example.de", "", "de"),
        // The host has one locale.
        ("/posts/missing", "example.de", "en", "de"),
        ("/posts/missing", "example.at:8080", "", "at"),
        // The host has several.
        ("/posts/missing", "example.com", "fr", "fr"),
        ("/posts/missing", "example.com", "de", "en"),
        ("/posts/missing", "example.com", "", "en"),
        // Absent, or a host that the site lacks.
        ("/posts/missing", "", "de", "de"),
        ("/posts/missing", "other.example", "de", "de"),
        ("/posts/missing", "", "", "en"),
        // As in a base URL: letter case, the default port, IDN.
        ("/posts/missing", "EXAMPLE.de:443", "", "de"),
        ("/posts/missing", "example.de:80", "", "en"),
        ("/posts/missing", "example.at", "", "en"),
        ("/posts/missing", "b%C3%BCcher.example", "", "en"),
        ("/posts/missing", "[::1]:3000", "", "en"),
    ] {
        let query = format!("site=main&pathname={path}&host={host}&locale={locale}");
        for operation in ["get-content-type", "resolve"] {
            let found = data(&service, &format!("/api/{operation}?{query}"));
            assert_eq!(found["locale"], expected, "{operation} {query}");
            assert_eq!(found["matched"]["params"]["locale"], expected, "{operation} {query}");
        }
    }
}

#[test]
fn malformed_host_is_a_400() {
    let service = started(settings().setup());
    for host in [
        "https://example.com",
        "example.com/",
        "a%20b",
        "a@b",
        "example.com:0",
        "example.com:99999",
        "a..b",
        "[::1",
        "127.1",
        "a%3Fb",
    ] {
        for operation in ["get-content-type", "resolve"] {
            let target = format!("/api/{operation}?site=main&pathname=/posts/x&host={host}");
            let response = get(&service, &target);
            assert_eq!(response.status, 400, "{target}: {}", response.text());
            assert!(response.text().contains("`host` is not a host"), "{}", response.text());
        }
    }
}

#[test]
fn path_leads_to_the_document_that_owns_it_on_the_host() {
    let service = started(settings().setup());
    for (path, host, url, locale) in [
        ("/posts/x", "", "https://example.com/posts/x", "en"),
        ("/posts/x", "example.com", "https://example.com/posts/x", "en"),
        ("/posts/x", "example.de", "https://example.de/start/posts/x", "de"),
        ("/posts/x", "example.at:8080", "http://example.at:8080/posts/x", "at"),
        ("/posts/only", "", "http://example.at:8080/posts/only", "at"),
        ("/de/x", "", "https://example.de/start/de/x", "de"),
        ("/de/x", "example.de", "https://example.de/start/de/x", "de"),
        ("/de/x", "example.at:8080", "http://example.at:8080/de/x", "at"),
        // Not localized: its one URL is on the host of the first locale.
        ("/notes/note", "example.de", "https://example.com/notes/note", "de"),
        ("/notes/note", "", "https://example.com/notes/note", "en"),
    ] {
        let query = format!("site=main&pathname={path}&host={host}");
        let matched = data(&service, &format!("/api/get-content-type?{query}"));
        let found = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!(
            (&matched["locale"], &matched["matched"]),
            (&found["locale"], &found["matched"])
        );
        // The page of a document that is not localized is on one host, to which others redirect.
        let is_canonical = host.is_empty() || url.contains(&format!("//{host}/"));
        assert_eq!(found["isCanonical"], is_canonical, "{path} {host}");
        let found = (&found["canonicalUrl"], &found["locale"], &found["kind"]);
        assert_eq!(found, (&json!(url), &json!(locale), &json!("document")), "{path} {host}");
    }
    for (path, host) in [("/posts/only", "example.de"), ("/de/x", "example.com")] {
        let found = data(&service, &format!("/api/resolve?site=main&pathname={path}&host={host}"));
        assert_eq!((&found["kind"], &found["canonicalUrl"]), (&json!("none"), &Value::Null));
    }
}

#[test]
fn alternates_are_on_their_own_hosts() {
    let service = started(settings().setup());
    let found = data(&service, "/api/resolve?site=main&pathname=/posts/x&host=example.de");
    let expected = json!({
        "en": "https://example.com/posts/x",
        "fr": "https://example.com/posts/un",
        "de": "https://example.de/start/posts/x",
        "de-AT": "http://example.at:8080/posts/x",
        "x-default": "https://example.com/posts/x",
    });
    assert_eq!(found["alternates"], expected);
}

#[test]
fn header_host_decides_nothing() {
    let service = started(settings().setup());
    for (host, expected) in
        [("", "https://example.com/posts/x"), ("example.de", "https://example.de/start/posts/x")]
    {
        for header in ["example.com", "example.de", "example.at:8080", "other.example"] {
            let target = format!("/api/resolve?site=main&pathname=/posts/x&host={host}");
            let response = http::send(service.addr(), "GET", &target, &[("Host", header)]);
            assert_eq!(response.json()["data"]["canonicalUrl"], expected, "{target} {header}");
        }
    }
}

#[test]
fn host_of_a_site_with_one_host_is_as_without() {
    let one = settings().front_end_url("https://example.com").locales(&["en", "de"]);
    let service = started(one.setup());
    for host in ["", "example.com", "example.de"] {
        let query = format!("site=main&pathname=/posts/x&host={host}&locale=de");
        let found = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!(found["locale"], "de", "{host}");
        assert_eq!(found["canonicalUrl"], "https://example.com/posts/x");
    }
}

//! Hosts that a base URL may have: IDN, upper case, IPv6 and ports; and several locales on one of them.

use std::collections::BTreeSet;

use super::{data, get, locs};
use crate::support::service::Service;
use crate::support::settings::Settings;
use crate::support::wait::until_so;

const CONTENT: &str = r#"{"api::post.post": [
    {"documentId": "a", "locale": "en", "slug": "x"},
    {"documentId": "a", "locale": "fr", "slug": "x"},
    {"documentId": "a", "locale": "de", "slug": "x"},
    {"documentId": "b", "locale": "fr", "slug": "y"},
    {"documentId": "b", "locale": "en", "slug": "y"},
    {"documentId": "c", "locale": "fr", "slug": "z"},
    {"documentId": "d", "locale": "de", "slug": "z"},
    {"documentId": "e", "locale": "en", "slug": "z"}]}"#;

/// Posts by this template on these hosts.
fn settings(bases: &str, template: &str) -> Settings {
    super::with_posts_at(template).front_end_url(bases).locales(&["en", "fr", "de"]).files(CONTENT)
}

fn started(settings: &Settings) -> Service {
    let service = settings.start();
    let target = "/api/build-sitemap?site=main&contentType=api::post.post";
    until_so("the list is there", || get(&service, target).status == 200);
    until_so("the index is there", || {
        get(&service, "/api/get-content-type?site=main&pathname=/x").header("x-resolved-by")
            != Some("rules; index=missing".to_owned())
    });
    service
}

fn loc_set(service: &Service, path: &str) -> BTreeSet<String> {
    // The file of another content type may not be there yet.
    until_so("the file is there", || get(service, path).status == 200);
    let response = get(service, path);
    locs(response.text())
}

#[test]
fn each_form_of_a_host_has_its_files_and_its_paths() {
    let bases = r#"{ en = "https://BÜCHER.example:8443/a", fr = "http://[::1]:3000", de = "HTTPS://Example.DE:443" }"#;
    let service = started(&settings(bases, "/posts/{slug}"));
    for (locale, names, url) in [
        (
            "en",
            &["xn--bcher-kva.example:8443", "xn--bcher-kva.example%3A8443"][..],
            "https://xn--bcher-kva.example:8443/a",
        ),
        ("fr", &["%5B::1%5D:3000", "%5b%3a%3a1%5d%3a3000"], "http://[::1]:3000"),
        ("de", &["example.de"], "https://example.de"),
    ] {
        let host = url.split("://").nth(1).unwrap().split('/').next().unwrap();
        let query = format!("site=main&pathname=/posts/x&host={host}");
        let found = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!(found["canonicalUrl"], format!("{url}/posts/x"), "{host}");
        assert_eq!(found["locale"], locale, "{host}");
        for name in names {
            let index = loc_set(&service, &format!("/sitemaps/main/{name}/index.xml"));
            let file = format!("{url}/sitemaps/api.post.post-1.xml");
            assert_eq!(index, BTreeSet::from([file]), "{name}");
            let urls = loc_set(&service, &format!("/sitemaps/main/{name}/api.post.post-1.xml"));
            assert!(urls.contains(&format!("{url}/posts/x")), "{name}: {urls:?}");
            assert!(urls.iter().all(|own| own.starts_with(url)), "{name}: {urls:?}");
        }
    }
    // Decoded once, and compared with the form of the base URL.
    for name in
        ["b%C3%BCcher.example:8443", "XN--BCHER-KVA.example:8443", "[::1]", "%255B::1%255D:3000"]
    {
        let path = format!("/sitemaps/main/{name}/index.xml");
        assert_eq!(get(&service, &path).status, 404, "{name}");
    }
}

const TWO: &str =
    r#"{ en = "https://example.com", fr = "https://example.com", de = "https://example.de" }"#;

#[test]
fn locales_of_one_host_have_a_path_each_with_segments() {
    let service =
        started(&settings(TWO, "/{locale}/{slug}").set("locale_prefix = \"except-default\""));
    for (path, host, url, locale) in [
        ("/x", "example.com", "https://example.com/x", "en"),
        ("/fr/x", "example.com", "https://example.com/fr/x", "fr"),
        ("/de/x", "example.de", "https://example.de/de/x", "de"),
        ("/fr/z", "", "https://example.com/fr/z", "fr"),
    ] {
        let query = format!("site=main&pathname={path}&host={host}");
        let found = data(&service, &format!("/api/resolve?{query}"));
        assert_eq!((&found["canonicalUrl"], &found["locale"]), (&url.into(), &locale.into()));
    }
    let other = data(&service, "/api/resolve?site=main&pathname=/fr/x&host=example.de");
    assert_eq!((&other["kind"], &other["locale"]), (&"none".into(), &"fr".into()));
    let files = loc_set(&service, "/sitemaps/main/example.com/api.post.post-1.xml");
    let expected =
        ["x", "y", "z", "fr/x", "fr/y", "fr/z"].map(|path| format!("https://example.com/{path}"));
    assert_eq!(files, expected.into());
}

#[test]
fn locales_of_one_host_share_a_path_without_segments() {
    let service = started(&settings(TWO, "/{slug}"));
    let files = loc_set(&service, "/sitemaps/main/example.com/api.post.post-1.xml");
    let expected = ["x", "y", "z"].map(|path| format!("https://example.com/{path}"));
    assert_eq!(files, expected.into());
    for (path, locale, expected) in
        [("/x", "", "en"), ("/x", "fr", "fr"), ("/z", "", "en"), ("/x", "de", "en")]
    {
        let query = format!("site=main&pathname={path}&host=example.com&locale={locale}");
        let found = data(&service, &format!("/api/get-content-type?{query}"));
        assert_eq!(found["locale"], expected, "{query}");
    }
    let shared = data(&service, "/api/problems?site=main");
    let row = &shared["problems"][0];
    let versions = [&row["owner"], &row["others"][0]].map(|version| &version["documentId"]);
    assert_eq!((&shared["count"], versions), (&1.into(), [&"e".into(), &"c".into()]), "{shared}");
}

//! `/api/get-content-type`: the content type of a pathname.

use serde_json::json;

use super::{assert_body, assert_error, service};
use crate::support::http;
use crate::support::settings::{Settings, site};

#[test]
fn get_content_type_returns_the_rule_and_the_values_of_its_placeholders() {
    let service = service();
    let body = |pathname: &str, locale: &str, slug: &str| {
        format!(
            r#"{{"data":{{"site":"main","pathname":"{pathname}","locale":"{locale}","matched":{{"collectionType":"plugin::cms.article","rule":"/{{locale}}/articles/{{slug}}","params":{{"locale":"{locale}","slug":"{slug}"}}}}}},"meta":{{}}}}"#
        )
    };
    for (query, pathname, locale, slug) in [
        ("pathname=/en/articles/hello-world", "/en/articles/hello-world", "en", "hello-world"),
        ("pathname=%2Fde%2Farticles%2Fhallo", "/de/articles/hallo", "de", "hallo"),
        // Echoed unchanged, though normalized for the match.
        ("pathname=//en//articles/x/?a=b%23c", "//en//articles/x/?a=b#c", "en", "x"),
        // Decoded once as a parameter, once as a segment.
        ("pathname=/en/articles/a%2520b", "/en/articles/a%20b", "en", "a b"),
        ("pathname=/en/articles/a+b", "/en/articles/a b", "en", "a b"),
        ("pathname=/en/articles/a%252Bb", "/en/articles/a%2Bb", "en", "a+b"),
        ("pathname=/fr/articles/%C3%A9t%C3%A9", "/fr/articles/été", "fr", "été"),
        // The path decides the locale.
        ("pathname=/de/articles/x&locale=en", "/de/articles/x", "de", "x"),
        ("pathname=/de/articles/x&locale=xx", "/de/articles/x", "de", "x"),
        ("pathname=/de/articles/x&compact=FALSE&debug=1", "/de/articles/x", "de", "x"),
    ] {
        let target = format!("/api/get-content-type?site=main&{query}");
        assert_body(service.addr(), &target, 200, &body(pathname, locale, slug));
    }
}

#[test]
fn get_content_type_compact_returns_the_content_type_alone() {
    let service = service();
    for compact in ["true", "TRUE", "1"] {
        let target =
            format!("/api/get-content-type?site=main&pathname=/en/articles/x&compact={compact}");
        assert_body(
            service.addr(),
            &target,
            200,
            r#"{"data":{"contentType":"plugin::cms.article"},"meta":{}}"#,
        );
    }
}

#[test]
fn get_content_type_prefers_the_most_specific_rule_in_any_order_of_the_settings() {
    let service = service();
    for (pathname, locale, uid, params) in [
        ("/en/about", "en", "plugin::cms.page", json!({"locale": "en", "slug": "about"})),
        ("/en/articles", "en", "plugin::cms.page", json!({"locale": "en", "slug": "articles"})),
        ("/help/refund.html", "en", "api::faq.faq", json!({"locale": "en", "slug": "refund"})),
        ("/help/a.html.html", "en", "api::faq.faq", json!({"locale": "en", "slug": "a.html"})),
        ("/docs/a", "en", "api::doc.doc", json!({"locale": "en", "path": "a"})),
        ("/docs/a/b%20c/d", "en", "api::doc.doc", json!({"locale": "en", "path": "a/b c/d"})),
        (
            "/en/stories/news/x",
            "en",
            "api::story.story",
            json!({"locale": "en", "category.slug": "news", "slug": "x"}),
        ),
        ("/de/stories/s1", "de", "api::story.story", json!({"locale": "de", "documentId": "s1"})),
    ] {
        let target = format!("/api/get-content-type?site=main&pathname={}", http::query(pathname));
        let response = http::get(service.addr(), &target);
        assert_eq!(response.status, 200, "{pathname}: {}", response.text());
        let data = &response.json()["data"];
        assert_eq!(data["matched"]["collectionType"], uid, "{pathname}");
        assert_eq!(data["matched"]["params"], params, "{pathname}");
        assert_eq!(data["locale"], locale, "{pathname}");
        assert_eq!(data["pathname"], pathname);
    }
}

#[test]
fn get_content_type_reads_the_locale_from_the_path_the_parameter_or_the_default() {
    let service = service();
    for (parameter, locale) in [
        ("", "en"),
        ("&locale=", "en"),
        ("&locale=de", "de"),
        ("&locale=xx", "en"),
        ("&locale=DE", "en"),
    ] {
        let target =
            format!("/api/get-content-type?site=main&pathname=/help/refund.html{parameter}");
        let data = &http::get(service.addr(), &target).json()["data"];
        assert_eq!(
            (&data["locale"], &data["matched"]["params"]["locale"]),
            (&json!(locale), &json!(locale)),
            "{target}"
        );
    }
}

#[test]
fn get_content_type_without_a_match_is_404_with_the_normalized_path() {
    let service = service();
    for (query, pathname, normal) in [
        ("/no/such/path/at/all", "/no/such/path/at/all", "/no/such/path/at/all"),
        ("//no///such/path//at/all///", "//no///such/path//at/all///", "/no/such/path/at/all"),
        ("/no/such/path/at/a?x=/y", "/no/such/path/at/a?x=/y", "/no/such/path/at/a"),
        ("/no/such/path/at/a%23x?y", "/no/such/path/at/a#x?y", "/no/such/path/at/a"),
        ("/no/such/path/at/%C3%BC+c", "/no/such/path/at/ü c", "/no/such/path/at/%C3%BC%20c"),
        ("/no/such/path/at/%257Ex%2541", "/no/such/path/at/%7Ex%41", "/no/such/path/at/~xA"),
        ("/no/such/path/at/%25c3%25bc", "/no/such/path/at/%c3%bc", "/no/such/path/at/%C3%BC"),
        ("/no/such/path/at/a@b:c", "/no/such/path/at/a@b:c", "/no/such/path/at/a%40b%3Ac"),
        ("/no/such/path/at/a%25252Fb", "/no/such/path/at/a%252Fb", "/no/such/path/at/a%252Fb"),
        // Segments that never match stay as written.
        ("/en/articles/..", "/en/articles/..", "/en/articles/.."),
        ("/en/articles/%252e%252E", "/en/articles/%2e%2E", "/en/articles/%2e%2E"),
        ("/en/articles/a%252fb", "/en/articles/a%2fb", "/en/articles/a%2fb"),
        ("/en/articles/100%25", "/en/articles/100%", "/en/articles/100%"),
        ("/en/articles/%25ff", "/en/articles/%ff", "/en/articles/%ff"),
        ("/", "/", "/"),
        ("///", "///", "/"),
        ("/?x", "/?x", "/"),
    ] {
        let target = format!("/api/get-content-type?site=main&pathname={query}");
        let details = format!(r#"{{"pathname":"{pathname}","normalizedPath":"{normal}"}}"#);
        let message = assert_error(service.addr(), &target, 404, "NotFoundError", &details);
        assert!(
            message.to_lowercase().contains("no content type matches the given pathname"),
            "{message}"
        );
    }
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table")]
fn get_content_type_debug_lists_the_candidates_in_order_of_evaluation_with_reasons() {
    // `articles` (static) before `{slug}`; `/` and the catch-all have each reason.
    let service = site("main")
        .without_front_end_url()
        .locales(&["en", "de"])
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::article.article", "/{locale}/articles/{slug}")
        .rule("api::doc.doc", "/docs/{*path}")
        .rule("api::faq.faq", "/docs/{slug}.html")
        .site("bare")
        .without_front_end_url()
        .start();
    let faq = |rest: &str| {
        format!(r#"{{"collectionType":"api::faq.faq","rule":"/docs/{{slug}}.html",{rest}}}"#)
    };
    let doc = |rest: &str| {
        format!(r#"{{"collectionType":"api::doc.doc","rule":"/docs/{{*path}}",{rest}}}"#)
    };
    let article = |rest: &str| {
        format!(
            r#"{{"collectionType":"api::article.article","rule":"/{{locale}}/articles/{{slug}}",{rest}}}"#
        )
    };
    let page = |rest: &str| {
        format!(r#"{{"collectionType":"api::page.page","rule":"/{{locale}}/{{slug}}",{rest}}}"#)
    };
    let count = r#""reason":"segment_count""#;
    let fault =
        |reason: &str, segment: usize| format!(r#""reason":"{reason}","segment":{segment}"#);
    let cases = [
        ("main", "/docs", [faq(count), doc(count), article(count), page(count)]),
        (
            "main",
            "/xx/articles/y",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("unknown_locale", 0)),
                page(count),
            ],
        ),
        (
            "main",
            "/en/blog/y",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("static_mismatch", 1)),
                page(count),
            ],
        ),
        (
            "main",
            "/en/articles/..",
            [
                faq(count),
                doc(&fault("static_mismatch", 0)),
                article(&fault("constraint", 2)),
                page(count),
            ],
        ),
        (
            "main",
            "/docs/..",
            [
                faq(&fault("constraint", 1)),
                doc(&fault("constraint", 1)),
                article(count),
                page(&fault("unknown_locale", 0)),
            ],
        ),
        (
            "main",
            "/EN/x",
            [
                faq(&fault("static_mismatch", 0)),
                doc(&fault("static_mismatch", 0)),
                article(count),
                page(&fault("unknown_locale", 0)),
            ],
        ),
    ];
    for (site, pathname, candidates) in cases {
        let target = format!("/api/get-content-type?site={site}&pathname={pathname}&debug=1");
        let details = format!(
            r#"{{"pathname":"{pathname}","normalizedPath":"{pathname}","candidates":[{}]}}"#,
            candidates.join(",")
        );
        assert_error(service.addr(), &target, 404, "NotFoundError", &details);
    }
    let bare = "/api/get-content-type?site=bare&pathname=/x&debug=1";
    assert_error(
        service.addr(),
        bare,
        404,
        "NotFoundError",
        r#"{"pathname":"/x","normalizedPath":"/x","candidates":[]}"#,
    );
    let off = "/api/get-content-type?site=bare&pathname=/x&debug=true";
    assert_error(
        service.addr(),
        off,
        404,
        "NotFoundError",
        r#"{"pathname":"/x","normalizedPath":"/x"}"#,
    );
}

#[test]
fn get_content_type_debug_lists_at_most_50_candidates() {
    let with =
        |site: Settings, n| site.rule(&format!("api::t{n}.t{n}"), &format!("/t{n}/{{slug}}"));
    let service = (0..60).fold(site("main"), with).start();
    let response =
        http::get(service.addr(), "/api/get-content-type?site=main&pathname=/x/y/z&debug=1");
    assert_eq!(
        response.json()["error"]["details"]["candidates"].as_array().map(Vec::len),
        Some(50)
    );
}

#[test]
fn invalid_parameters_get_400_that_names_them_and_echoes_at_most_128_characters() {
    let service = service();
    let long = "x".repeat(200);
    for (target, named) in [
        ("/api/get-content-type?pathname=/en/x".to_owned(), vec!["site"]),
        ("/api/get-content-type?pathname=/en/x&site=nope".to_owned(), vec!["site", "nope"]),
        ("/api/get-content-type?site=main".to_owned(), vec!["pathname"]),
        ("/api/get-content-type?site=main&pathname=x".to_owned(), vec!["pathname"]),
        (
            "/api/get-content-type?site=main&pathname=/x&compact=maybe".to_owned(),
            vec!["compact", "maybe"],
        ),
        ("/api/get-content-type?site=main&pathname=/x&locale=-".to_owned(), vec!["locale"]),
        ("/api/get-content-type?site=main&pathname=/x&debug=%00".to_owned(), vec!["debug"]),
        ("/api/get-content-type?site=main&site=main&pathname=/x".to_owned(), vec!["site"]),
        ("/api/frontend-url?documentId=a".to_owned(), vec!["uid"]),
        ("/api/frontend-url?uid=plugin::cms.article".to_owned(), vec!["documentId"]),
        ("/api/frontend-url?uid=plugin::cms.article&documentId=a.b".to_owned(), vec!["documentId"]),
        (
            "/api/frontend-url?uid=plugin::cms.article&documentId=a&status=new".to_owned(),
            vec!["status", "new"],
        ),
        (
            "/api/frontend-url?uid=plugin::cms.article&documentId=a&site=nope".to_owned(),
            vec!["site", "nope"],
        ),
        ("/api/build-sitemap?contentType=plugin::cms.article".to_owned(), vec!["site"]),
        ("/api/build-sitemap?site=main".to_owned(), vec!["contentType"]),
        (
            "/api/build-sitemap?site=nope&contentType=plugin::cms.article".to_owned(),
            vec!["nope", "plugin::cms.article"],
        ),
        (
            "/api/build-sitemap?site=main&contentType=plugin::cms.event".to_owned(),
            vec!["main", "plugin::cms.event"],
        ),
        (
            "/api/build-sitemap?site=main&contentType=plugin::cms.article&xml=yes".to_owned(),
            vec!["xml", "yes"],
        ),
        (format!("/api/get-content-type?pathname=/x&site={long}"), vec!["site"]),
        (
            format!("/api/build-sitemap?site=main&contentType={}", "y".repeat(128)),
            vec!["main", "yyyyyyyy"],
        ),
    ] {
        let message = assert_error(service.addr(), &target, 400, "ValidationError", "");
        for text in named {
            assert!(message.contains(text), "{target}: {text:?} is not named in {message:?}");
        }
        assert!(!message.contains(&"x".repeat(129)), "{message:?} echoes too much");
    }
}

//! What holds for each response: HEAD, 405, 404, CORS.

use serde_json::{Value, json};

use super::{ARTICLES, ORIGIN, service, settings};
use crate::support::http::{self, Response};

const TARGETS: &[(&str, u16)] = &[
    ("/api/get-content-type?site=main&pathname=/en/articles/x", 200),
    ("/api/get-content-type?site=main&pathname=/en/articles/x&compact=1", 200),
    ("/api/get-content-type?site=main&pathname=/a/b/c/d/e&debug=1", 404),
    ("/api/get-content-type?site=nope&pathname=/x", 400),
    ("/api/frontend-url?uid=plugin::cms.article&documentId=one", 200),
    ("/api/frontend-url?uid=plugin::cms.article&documentId=one&status=draft", 200),
    ("/api/frontend-url?uid=plugin::cms.article&documentId=six", 404),
    ("/api/frontend-url?uid=plugin::cms.event&documentId=launch", 501),
    (ARTICLES, 200),
    ("/api/build-sitemap?site=main&contentType=plugin::cms.article&xml=true", 200),
    ("/api/build-sitemap?site=main", 400),
];

/// POST is a method of this route alone.
const BATCH: &str = "/api/frontend-urls?uid=plugin::cms.article&documentId=one,two";

#[test]
fn head_has_the_headers_of_get_and_no_body() {
    let service = service();
    let headers = |response: &Response| {
        let mut headers = response.headers.clone();
        // The second response may be a second older, and comes from the snapshot that the first one made.
        headers.retain(|(name, _)| !["date", "age", "cache-status"].contains(&name.as_str()));
        headers.sort();
        headers
    };
    for (target, status) in TARGETS.iter().copied().chain([("/nope", 404), (BATCH, 200)]) {
        let get = http::get(service.addr(), target);
        let head = http::send(service.addr(), "HEAD", target, &[]);
        assert_eq!((get.status, head.status), (status, status), "{target}");
        assert_eq!(headers(&get), headers(&head), "{target}");
        assert!(get.header("content-length").is_some(), "{target}: {:?}", get.headers);
    }
}

#[test]
fn other_methods_get_405_with_allow() {
    let service = service();
    for (target, _) in TARGETS {
        for method in ["POST", "PUT", "PATCH", "DELETE", "TRACE", "PURGE"] {
            let response = http::send(service.addr(), method, target, &[]);
            assert_eq!(response.status, 405, "{method} {target}");
            let allow = response.header("allow").unwrap_or_default();
            let mut allow: Vec<&str> = allow.split(',').map(str::trim).collect();
            allow.sort_unstable();
            assert_eq!(allow, ["GET", "HEAD", "OPTIONS"], "{method} {target}");
            let error = &response.json()["error"];
            assert_eq!(
                (&error["status"], &error["name"]),
                (&json!(405), &json!("MethodNotAllowedError")),
                "{method} {target}"
            );
            assert_eq!(response.json()["data"], Value::Null);
            assert_eq!(response.header("x-content-type-options").as_deref(), Some("nosniff"));
        }
    }
}

#[test]
fn unknown_routes_get_404_in_the_envelope_for_each_method() {
    let service = service();
    for target in
        ["/", "/nope", "/api/get-content-type/", "/api//frontend-url", "/api/./build-sitemap"]
    {
        for method in ["GET", "POST", "OPTIONS", "DELETE"] {
            let response = http::send(
                service.addr(),
                method,
                target,
                &[("Origin", ORIGIN), ("Access-Control-Request-Method", "GET")],
            );
            assert_eq!(response.status, 404, "{method} {target}");
            let json = response.json();
            assert_eq!(
                (&json["data"], &json["error"]["name"]),
                (&Value::Null, &json!("NotFoundError")),
                "{method} {target}"
            );
        }
    }
}

#[test]
fn cors_allows_configured_origins_and_no_others() {
    let service = service();
    for (target, status) in TARGETS {
        for origin in [ORIGIN, "http://localhost:1337"] {
            let response = http::send(service.addr(), "GET", target, &[("Origin", origin)]);
            assert_eq!(
                (response.status, response.header("access-control-allow-origin").as_deref()),
                (*status, Some(origin)),
                "{target}"
            );
            assert_eq!(response.header("access-control-allow-credentials"), None, "{target}");
            assert!(varies_by_origin(&response), "{target}: {:?}", response.headers);
        }
        for origin in [
            "https://evil.example",
            "null",
            "HTTPS://admin.example.com",
            "https://admin.example.com:443",
        ] {
            let response = http::send(service.addr(), "GET", target, &[("Origin", origin)]);
            assert_eq!(response.status, *status, "{target}");
            assert!(
                !response.headers.iter().any(|(name, _)| name.starts_with("access-control-")),
                "{origin}: {:?}",
                response.headers
            );
            assert!(varies_by_origin(&response), "{target}: {:?}", response.headers);
        }
        assert!(varies_by_origin(&http::get(service.addr(), target)), "{target} without an origin");
    }
}

#[test]
fn cors_preflight_gets_200_without_a_body() {
    let service = service();
    for (target, _) in TARGETS {
        let preflight = |origin| {
            http::send(
                service.addr(),
                "OPTIONS",
                target,
                &[("Origin", origin), ("Access-Control-Request-Method", "GET")],
            )
        };
        let listed = preflight(ORIGIN);
        assert_eq!((listed.status, listed.body.as_slice()), (200, &b""[..]), "{target}");
        assert_eq!(
            listed.header("access-control-allow-origin").as_deref(),
            Some(ORIGIN),
            "{target}"
        );
        assert!(
            listed.header("access-control-allow-methods").unwrap_or_default().contains("GET"),
            "{target}"
        );
        let other = preflight("https://evil.example");
        assert_eq!((other.status, other.body.as_slice()), (200, &b""[..]), "{target}");
        assert!(
            !other.headers.iter().any(|(name, _)| name.starts_with("access-control-")),
            "{:?}",
            other.headers
        );
        let plain = http::send(service.addr(), "OPTIONS", target, &[]);
        assert_eq!((plain.status, plain.body.as_slice()), (200, &b""[..]), "{target}");
        for response in [listed, other, plain] {
            assert!(
                response.header("allow").unwrap_or_default().contains("GET"),
                "{target}: {:?}",
                response.headers
            );
            assert!(varies_by_origin(&response), "{target}: {:?}", response.headers);
            assert_eq!(
                response.header("x-content-type-options").as_deref(),
                Some("nosniff"),
                "{target}"
            );
        }
    }
}

#[test]
fn cors_without_configured_origins_adds_no_headers() {
    let service = settings().start();
    for method in ["GET", "OPTIONS"] {
        let response = http::send(
            service.addr(),
            method,
            ARTICLES,
            &[("Origin", ORIGIN), ("Access-Control-Request-Method", "GET")],
        );
        assert_eq!(response.status, 200);
        assert!(
            !response.headers.iter().any(|(name, _)| name.starts_with("access-control-")),
            "{:?}",
            response.headers
        );
    }
}

fn varies_by_origin(response: &Response) -> bool {
    let vary = response.header("vary").unwrap_or_default();
    vary.split(',').any(|name| name.trim().eq_ignore_ascii_case("origin"))
}

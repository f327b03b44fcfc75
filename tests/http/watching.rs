//! The admin address: metrics, readiness in detail and the rules in use.
#![expect(clippy::float_cmp, reason = "counts are whole numbers")]

use std::net::TcpListener;

use serde_json::json;

use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::service::Setup;
use crate::support::settings::site;

const RESOLVE: &str = "/api/get-content-type?site=main&pathname=/en/articles/x";

#[test]
fn metrics_count_requests_by_route_and_class() {
    let service = Setup::fixture().start();
    let of =
        |route: &str, class: &str| format!("requests_total{{route=\"{route}\",class=\"{class}\"}}");
    let before = scrape(service.admin());
    assert_eq!(before.of(&of("/api/get-content-type", "2xx")), 0.0);
    let tag = http::get(service.addr(), RESOLVE).header("etag").unwrap();
    for _ in 0..3 {
        http::get(service.addr(), RESOLVE);
    }
    http::send(service.addr(), "GET", RESOLVE, &[("If-None-Match", &tag)]);
    http::get(service.addr(), "/api/get-content-type?site=nosuch");
    http::send(service.addr(), "POST", "/livez", &[]);
    http::get(service.addr(), "/api/resolve?site=main&pathname=/en/x");
    http::get(service.addr(), "/sitemaps/nourl/index.xml");
    http::get(service.addr(), "/no/such/page");
    let page = scrape(service.admin());
    for (route, class, count) in [
        ("/api/get-content-type", "2xx", 4.0),
        ("/api/get-content-type", "3xx", 1.0),
        ("/api/get-content-type", "4xx", 1.0),
        ("/livez", "4xx", 1.0),
        ("/api/resolve", "5xx", 1.0),
        ("/sitemaps", "5xx", 1.0),
        ("other", "4xx", 1.0),
        ("other", "2xx", 0.0),
    ] {
        assert_eq!(page.of(&of(route, class)), count, "{route} {class}");
    }
    let latency = |what: &str| page.of(&format!("request_seconds_{what}"));
    assert_eq!(latency("count{route=\"/api/get-content-type\"}"), 6.0);
    assert_eq!(latency("bucket{le=\"+Inf\",route=\"/api/get-content-type\"}"), 6.0);
    assert!(latency("sum{route=\"/api/get-content-type\"}") > 0.0);
    assert_eq!(page.of("requests_in_flight"), 0.0);
    assert!(page.of("connections_accepted_total") >= 10.0);
}

#[test]
fn metrics_have_the_same_series_whatever_is_requested() {
    let service = Setup::fixture().start();
    let before = scrape(service.admin());
    for (at, method) in ["GET", "HEAD", "POST", "OPTIONS", "BREW"].into_iter().enumerate() {
        for path in [
            "/",
            "/metrics",
            "/api/frontend-url",
            "/sitemaps/x/y",
            "/readyz",
            "//",
            "/api/build-sitemap",
        ] {
            let target =
                format!("{path}?site=made-up-{at}&uid=api::{method}.x&contentType=api::a{at}.b");
            http::send(service.addr(), method, &target, &[("X-Request-Id", "made-up")]);
        }
        http::send(service.admin(), method, &format!("/made/up/{at}"), &[]);
    }
    http::get(service.addr(), "/api/build-sitemap?site=main&contentType=plugin::cms.article");
    assert_eq!(scrape(service.admin()).names(), before.names());
}

#[test]
fn metrics_describe_a_snapshot_once_it_is_cached() {
    let service = Setup::fixture()
        .file(
            "content.json",
            r#"{"plugin::cms.article": [
                {"documentId": "a", "locale": "en", "slug": "x"},
                {"documentId": "b", "locale": "en", "slug": "a/b"},
                {"documentId": "c", "locale": "en", "slug": "c/d"},
                {"documentId": "d", "locale": "en", "slug": "x"},
                {"documentId": "e", "locale": "tlh", "slug": "x"},
                {"documentId": "f", "locale": "not a code", "slug": "x"},
                {"documentId": "g", "locale": 5, "slug": "x"}
            ]}"#,
        )
        .start();
    let labels = "site=\"main\",content_type=\"plugin::cms.article\"";
    let before = scrape(service.admin());
    assert!(before.of(&format!("snapshot_age_seconds{{{labels}}}")).is_nan());
    assert_eq!(before.of(&format!("walks_total{{{labels},outcome=\"ok\"}}")), 0.0);
    http::get(service.addr(), "/api/build-sitemap?site=main&contentType=plugin::cms.article");
    let page = scrape(service.admin());
    let of = |what: &str, more: &str| page.of(&format!("{what}{{{labels}{more}}}"));
    assert!(of("snapshot_age_seconds", "") >= 0.0);
    assert_eq!(of("snapshot_urls", ""), 1.0);
    assert!(of("snapshot_bytes", "") > 0.0);
    assert_eq!(of("snapshot_duplicates", ""), 1.0);
    assert_eq!(of("snapshot_failing", ""), 0.0);
    assert_eq!(of("snapshot_skipped", ",reason=\"has_slash\""), 2.0);
    // A version in Klingon belongs to another site; a value that is no locale is a fault.
    assert_eq!(of("snapshot_skipped", ",reason=\"locale_unknown\""), 2.0);
    assert_eq!(of("snapshot_skipped", ",reason=\"missing\""), 0.0);
    assert_eq!(of("walks_total", ",outcome=\"ok\""), 1.0);
    assert_eq!(of("walks_total", ",outcome=\"failed\""), 0.0);
}

#[test]
fn readyz_of_the_admin_address_lists_each_snapshot() {
    let service = Setup::fixture().start();
    http::get(service.addr(), "/api/build-sitemap?site=main&contentType=plugin::cms.article");
    let answer = http::get(service.admin(), "/readyz");
    assert_eq!(answer.status, 200);
    let mut ready = answer.json();
    assert!(ready["since"].take().as_str().unwrap().ends_with('Z'));
    let of = |site, uid, urls: Option<u64>| {
        json!({"site": site, "contentType": uid, "ageSeconds": urls.map(|_| 0), "urls": urls,
            "stale": false, "failing": false, "awaited": false, "shared": null})
    };
    assert!(ready["settings"]["loadedAt"].take().as_str().unwrap().ends_with('Z'));
    ready["contentTypes"][0]["ageSeconds"] = json!(0);
    let expected = json!({
        "ready": true,
        "starting": false,
        "draining": false,
        "version": env!("CARGO_PKG_VERSION"),
        "since": null,
        "settings": {"loadedAt": null, "problems": null},
        "cms": null,
        "store": null,
        "shared": null,
        "contentTypes": [
            of("main", "plugin::cms.article", Some(2)),
            of("main", "plugin::cms.page", None),
            of("nourl", "plugin::cms.event", None),
        ],
    });
    assert_eq!(ready, expected);
}

#[test]
fn refused_reload_shows_in_readyz_and_metrics() {
    let mut service = Setup::fixture().start();
    service.rewrite("settings.toml", "[server]\nno_such_key = 1\n");
    service.send_signal("HUP");
    assert!(service.logs("the reload is refused"), "{}", service.log());
    let ready = http::get(service.admin(), "/readyz").json();
    assert_eq!(ready["ready"], true);
    assert!(ready["settings"]["problems"].as_str().unwrap().contains("no_such_key"), "{ready}");
    let page = scrape(service.admin());
    assert_eq!(page.of("reloads_total{outcome=\"refused\"}"), 1.0);
    assert_eq!(page.of("settings_refused"), 1.0);
    service.signal("TERM");
}

#[test]
fn graceful_shutdown_shows_in_readyz_and_metrics_to_its_end() {
    let mut service = Setup::fixture().env("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "20000").start();
    assert_eq!(scrape(service.admin()).of("draining"), 0.0);
    service.send_signal("TERM");
    assert!(service.logs("stopping"), "{}", service.log());
    let answer = http::get(service.admin(), "/readyz");
    assert_eq!((answer.status, &answer.json()["draining"]), (503, &json!(true)));
    assert_eq!(scrape(service.admin()).of("draining"), 1.0);
    // A second signal ends the process at once.
    service.signal("TERM").expect("it ends");
}

#[test]
fn rules_are_listed_in_the_order_of_their_precedence() {
    let service = site("main")
        .front_end_url("https://user.example")
        .locales(&["en", "de"])
        .rule("api::a.a", "/{locale}/{part?}/{slug}")
        .rule("api::b.b", r#"{ en = "/{locale}/news", de = "/{locale}/neues" }"#)
        .start();
    let expected = r#"{"sites":[{"key":"main","locales":["en","de"],"hasBaseUrl":true,"resolve":"rules","rules":[{"contentType":"api::b.b","template":"/{locale}/news","locales":["en"]},{"contentType":"api::b.b","template":"/{locale}/neues","locales":["de"]},{"contentType":"api::a.a","template":"/{locale}/{part?}/{slug}"}]}]}"#;
    assert_eq!(http::get(service.admin(), "/rules").text(), expected);
}

#[test]
fn public_and_the_admin_address_share_no_route_but_readyz() {
    let service = Setup::fixture().start();
    for path in ["/metrics", "/rules", "/"] {
        assert_eq!(http::get(service.addr(), path).status, 404, "{path}");
        assert_eq!(http::get(service.admin(), path).status, 200, "{path}");
        assert_eq!(http::send(service.admin(), "HEAD", path, &[]).status, 200, "{path}");
    }
    assert_eq!(http::get(service.addr(), "/readyz").text(), "ready\n");
    let answer = http::get(service.admin(), RESOLVE);
    assert_eq!(
        (answer.status, answer.json()["error"]["name"].as_str()),
        (404, Some("NotFoundError"))
    );
    for method in ["POST", "OPTIONS", "DELETE"] {
        let answer = http::send(service.admin(), method, "/metrics", &[]);
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow").as_deref(), Some("GET, HEAD"), "{method}");
        assert_eq!(answer.json()["error"]["status"], 405, "{method}");
        assert_eq!(answer.header("x-content-type-options").as_deref(), Some("nosniff"));
    }
    // Connections to the admin address are not counted.
    let page = scrape(service.admin());
    assert_eq!(page.of("connections_accepted_total"), 4.0);
}

#[test]
fn admin_address_in_use_is_an_error_that_names_address_and_setting() {
    let taken = TcpListener::bind("127.0.0.1:0").expect("a free port");
    let addr = taken.local_addr().expect("an address").to_string();
    let ended = Setup::fixture().env("FRONTEND_MAP__SERVER__ADMIN_LISTEN", &addr).run(&["serve"]);
    assert_eq!((ended.status, ended.stdout.as_str()), (Some(1), ""));
    assert!(ended.stderr.contains(&addr), "{}", ended.stderr);
    assert!(ended.stderr.contains("server.admin_listen"), "{}", ended.stderr);
}

#[test]
fn empty_admin_address_disables_the_admin_routes() {
    let ended = Setup::fixture().env("FRONTEND_MAP__SERVER__ADMIN_LISTEN", "").run(&["serve"]);
    assert_eq!(ended.stdout.lines().count(), 1, "{}", ended.stdout);
    let ended = Setup::fixture().env("FRONTEND_MAP__SERVER__ADMIN_LISTEN", "x").run(&["check"]);
    assert_eq!(ended.status, Some(78));
    assert!(ended.stderr.contains("server.admin_listen"), "{}", ended.stderr);
}

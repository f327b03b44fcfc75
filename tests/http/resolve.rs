//! `resolve = "documents"`: ties settled by the document that owns the path, and `/api/resolve`.

mod document;
mod drafts;
pub(super) mod knowledge;
mod not_localized;
mod readiness;
mod version_locale;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};

/// How long the background may take before the test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

const CONTENT: &str = r#"{
  "api::page.page": [
    {"documentId": "p1", "locale": "en", "slug": "about"},
    {"documentId": "p2", "locale": "en", "slug": "both"},
    {"documentId": "p3", "locale": "en", "slug": "hidden", "status": "draft"}
  ],
  "api::story.story": [
    {"documentId": "s2", "locale": "en", "slug": "both"},
    {"documentId": "s1", "locale": "de", "slug": "reise nach köln"},
    {"documentId": "s1", "locale": "en", "slug": "journey"},
    {"documentId": "s3", "locale": "en", "slug": "hidden"}
  ],
  "api::faq.faq": [{"documentId": "f1", "slug": "refund"}]
}"#;

fn rules(settings: Settings) -> Settings {
    settings
        .rule("api::page.page", "/{locale}/{slug}")
        .rule("api::story.story", "/{locale}/{slug}")
        .rule("api::faq.faq", "/help/{slug}.html")
}

fn settings() -> Settings {
    let main = site("main").front_end_url("https://www.example.com/base").resolve("documents");
    let main = rules(main.locales(&["en", "de"]));
    let bare = main.site("bare").without_front_end_url().resolve("documents");
    let bare = rules(bare.locales(&["en", "de"]));
    let plain = rules(bare.site("plain").without_front_end_url().locales(&["en", "de"]));
    plain.more("[snapshots]\nsoft_seconds = 1").files(CONTENT)
}

/// Content from a file, once both indexes are there.
fn service() -> Service {
    let service = settings().start();
    for site in ["main", "bare"] {
        for pathname in ["/en/missing", "/help/missing.html"] {
            let target = format!("/api/resolve?site={site}&pathname={pathname}");
            until(&service, &target, |answer| answer.status == 200);
        }
    }
    service
}

fn behind(cms: &Cms) -> Service {
    settings().strapi(cms).singular_endpoints().start()
}

/// Asks until the answer is as it should be.
#[track_caller]
fn until(service: &Service, target: &str, fine: impl Fn(&Response) -> bool) -> Response {
    let started = Instant::now();
    loop {
        let answer = http::get(service.addr(), target);
        if fine(&answer) {
            return answer;
        }
        assert!(started.elapsed() < PATIENCE, "{target}: {answer:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn by(answer: &Response) -> String {
    answer.header("x-resolved-by").unwrap_or_default()
}

fn resolve(site: &str, pathname: &str) -> String {
    format!("/api/get-content-type?site={site}&pathname={pathname}")
}

fn document_of(pathname: &str) -> String {
    format!("/api/resolve?site=main&pathname={pathname}")
}

fn uid(answer: &Response) -> String {
    answer.json()["data"]["matched"]["collectionType"].as_str().unwrap_or_default().to_owned()
}

#[test]
fn tie_between_rules_goes_to_the_document_that_owns_the_path() {
    let service = service();
    for (pathname, expected, decided) in [
        ("/en/about", "api::page.page", "documents"),
        ("/en/journey", "api::story.story", "documents"),
        ("//en/journey/?x", "api::story.story", "documents"),
        ("/de/reise%2520nach%2520k%25C3%25B6ln", "api::story.story", "documents"),
        // A draft owns nothing.
        ("/en/hidden", "api::story.story", "documents"),
        // Two rules have it: the order of the settings decides.
        ("/en/both", "api::page.page", "documents"),
        ("/en/missing", "api::page.page", "rules"),
        ("/de/about", "api::page.page", "rules"),
        // No tie.
        ("/help/refund.html", "api::faq.faq", "documents"),
    ] {
        let answer = http::get(service.addr(), &resolve("main", pathname));
        assert_eq!(
            (uid(&answer).as_str(), by(&answer).as_str()),
            (expected, decided),
            "{pathname}"
        );
        assert_eq!(
            answer.header("cache-control").as_deref(),
            Some("public, max-age=60, stale-if-error=86400")
        );
    }
    let compact = http::get(service.addr(), &(resolve("main", "/en/journey") + "&compact=1"));
    assert_eq!(compact.text(), r#"{"data":{"contentType":"api::story.story"},"meta":{}}"#);
}

#[test]
fn site_that_resolves_by_rules_needs_no_index() {
    let service = service();
    let answer = http::get(service.addr(), &resolve("plain", "/en/journey"));
    assert_eq!((uid(&answer).as_str(), answer.header("x-resolved-by")), ("api::page.page", None));
    let body = r#"{"data":{"site":"plain","pathname":"/en/journey","locale":"en","matched":{"collectionType":"api::page.page","rule":"/{locale}/{slug}","params":{"locale":"en","slug":"journey"}}},"meta":{}}"#;
    assert_eq!(answer.text(), body);
    let refused = http::get(service.addr(), "/api/resolve?site=plain&pathname=/en/journey");
    let body = r#"{"data":null,"error":{"status":501,"name":"NotImplementedError","message":"site \"plain\" does not have resolve = \"documents\""}}"#;
    assert_eq!((refused.status, refused.text()), (501, body));
}

#[test]
fn pathname_resolves_to_its_document() {
    let service = service();
    let [journey, reise] = [
        "https://www.example.com/base/en/journey",
        "https://www.example.com/base/de/reise%20nach%20k%C3%B6ln",
    ];
    for (query, decided, body) in [
        (
            "site=main&pathname=/en//journey/",
            "documents",
            format!(
                r#"{{"data":{{"site":"main","pathname":"/en//journey/","locale":"en","matched":{{"collectionType":"api::story.story","rule":"/{{locale}}/{{slug}}","params":{{"locale":"en","slug":"journey"}}}},"kind":"document","redirect":{{"to":"{journey}","path":"/en/journey","status":308,"documentId":"s1","locale":"en","since":null}},"resolvedBy":"documents","documentId":"s1","canonicalPath":"/en/journey","canonicalUrl":"{journey}","isCanonical":false,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{{"en":"{journey}","de":"{reise}","x-default":"{journey}"}}}},"meta":{{}}}}"#
            ),
        ),
        (
            "site=main&pathname=/help/refund.html&locale=de",
            "documents",
            r#"{"data":{"site":"main","pathname":"/help/refund.html","locale":"de","matched":{"collectionType":"api::faq.faq","rule":"/help/{slug}.html","params":{"locale":"de","slug":"refund"}},"kind":"document","resolvedBy":"documents","documentId":"f1","canonicalPath":"/help/refund.html","canonicalUrl":"https://www.example.com/base/help/refund.html","isCanonical":true,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{"en":"https://www.example.com/base/help/refund.html","x-default":"https://www.example.com/base/help/refund.html"}},"meta":{}}"#.to_owned(),
        ),
        (
            "site=main&pathname=/en/missing",
            "rules",
            r#"{"data":{"site":"main","pathname":"/en/missing","locale":"en","matched":{"collectionType":"api::page.page","rule":"/{locale}/{slug}","params":{"locale":"en","slug":"missing"}},"kind":"none","resolvedBy":"rules","documentId":null,"canonicalPath":null,"canonicalUrl":null,"isCanonical":null,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{}},"meta":{}}"#.to_owned(),
        ),
        (
            "site=bare&pathname=/en/about",
            "documents",
            r#"{"data":{"site":"bare","pathname":"/en/about","locale":"en","matched":{"collectionType":"api::page.page","rule":"/{locale}/{slug}","params":{"locale":"en","slug":"about"}},"kind":"document","resolvedBy":"documents","documentId":"p1","canonicalPath":"/en/about","canonicalUrl":null,"isCanonical":true,"resource":null,"lastModified":null,"breadcrumbs":[],"alternates":{}},"meta":{}}"#.to_owned(),
        ),
    ] {
        let target = format!("/api/resolve?{query}");
        let answer = http::get(service.addr(), &target);
        assert_eq!((answer.status, answer.text()), (200, body.as_str()), "{target}");
        assert_eq!(by(&answer), decided, "{target}");
        let head = http::send(service.addr(), "HEAD", &target, &[]);
        assert_eq!((head.status, head.body.len()), (200, 0), "{target}");
        assert_eq!(head.header("content-length"), Some(body.len().to_string()));
        let tag = answer.header("etag").expect("a tag");
        let again = http::send(service.addr(), "GET", &target, &[("If-None-Match", &tag)]);
        assert_eq!((again.status, again.body.len()), (304, 0), "{target}");
    }
}

#[test]
fn invalid_requests_are_refused() {
    let service = service();
    for (query, status, name) in [
        ("pathname=/en/about", 400, "ValidationError"),
        ("site=main", 400, "ValidationError"),
        ("site=other&pathname=/en/about", 400, "ValidationError"),
        ("site=main&pathname=en/about", 400, "ValidationError"),
        ("site=main&pathname=/en/about&locale=e+n", 400, "ValidationError"),
        ("site=main&site=main&pathname=/en/about", 400, "ValidationError"),
        // What is wrong with the parameters comes first.
        ("site=plain&pathname=x", 400, "ValidationError"),
        ("site=main&pathname=/no/such/path", 404, "NotFoundError"),
        ("site=main&pathname=/fr/about", 404, "NotFoundError"),
    ] {
        let answer = http::get(service.addr(), &format!("/api/resolve?{query}"));
        assert_eq!(
            (answer.status, &answer.json()["error"]["name"]),
            (status, &name.into()),
            "{query}"
        );
    }
    let missing = http::get(service.addr(), "/api/resolve?site=main&pathname=/no//such/path");
    let body = r#"{"data":null,"error":{"status":404,"name":"NotFoundError","message":"No content type matches the given pathname","details":{"pathname":"/no//such/path","normalizedPath":"/no/such/path"}}}"#;
    assert_eq!(missing.text(), body);
    let posted =
        http::send(service.addr(), "POST", "/api/resolve?site=main&pathname=/en/about", &[]);
    assert_eq!(posted.status, 405);
}

#[test]
fn missing_index_lets_the_rules_decide_at_once() {
    let silent = Cms::start(|_| Script::silence());
    let service = behind(&silent);
    // The walk has begun, and it will never end.
    let started = Instant::now();
    while silent.targets().is_empty() {
        assert!(started.elapsed() < PATIENCE, "the CMS is not asked");
        std::thread::sleep(Duration::from_millis(5));
    }
    let answer = http::get(service.addr(), &resolve("main", "/en/journey"));
    assert_eq!(uid(&answer), "api::page.page");
    assert_eq!(by(&answer), "rules; index=missing");
    assert_ne!(
        answer.header("cache-control").as_deref(),
        Some("public, max-age=60, stale-if-error=86400")
    );
    let refused = http::get(service.addr(), "/api/resolve?site=main&pathname=/en/journey");
    assert_eq!(refused.status, 503, "{}", refused.text());
}

/// A CMS whose only story has the slug that `slug` holds; `down` makes it fail.
fn one_story(slug: &Arc<Mutex<String>>, down: &Arc<AtomicUsize>) -> Cms {
    let (slug, down) = (Arc::clone(slug), Arc::clone(down));
    Cms::start(move |target| {
        if down.load(Ordering::Relaxed) > 0 {
            return refusal(500, "InternalServerError", "{}");
        }
        let of_english = target.contains("locale=en");
        if !target.starts_with("/api/story") || !of_english {
            return list(&[], 100, 0);
        }
        let more = format!(r#","locale":"en","slug":"{}""#, slug.lock().expect("no panic"));
        let rows = [("story", more.as_str())];
        let none_left = target.contains("$gt") || target.contains("%24gt");
        list(if none_left { &[] } else { &rows }, 100, 1)
    })
}

#[test]
fn index_follows_the_content_and_survives_a_failing_cms() {
    let (slug, down) = (Arc::new(Mutex::new("old".to_owned())), Arc::default());
    let cms = one_story(&slug, &down);
    let service = behind(&cms);
    until(&service, &resolve("main", "/en/old"), |answer| uid(answer) == "api::story.story");
    "new".clone_into(&mut slug.lock().expect("no panic"));
    let answer =
        until(&service, &resolve("main", "/en/new"), |answer| uid(answer) == "api::story.story");
    assert_eq!(by(&answer), "documents");
    let answer = http::get(service.addr(), &resolve("main", "/en/old"));
    assert_eq!((uid(&answer).as_str(), by(&answer).as_str()), ("api::page.page", "rules"));

    down.store(1, Ordering::Relaxed);
    assert!(service.logs("a walk failed"), "{}", service.log());
    let answer = http::get(service.addr(), &resolve("main", "/en/new"));
    assert_eq!((uid(&answer).as_str(), by(&answer).as_str()), ("api::story.story", "documents"));
    // Ten refreshes later the index is stale.
    let stale =
        until(&service, &resolve("main", "/en/new"), |answer| by(answer) == "rules; index=stale");
    assert_eq!(uid(&stale), "api::page.page");

    down.store(0, Ordering::Relaxed);
    until(&service, &resolve("main", "/en/new"), |answer| by(answer) == "documents");
}

#[test]
fn stop_does_not_wait_for_an_index() {
    let mut service = behind(&Cms::start(|_| Script::silence()));
    assert_eq!(service.signal("TERM"), Some(0));
}

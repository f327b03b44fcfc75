//! Responses about a path while the documents that may have it as their own path are not known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::json;

use super::{get, settings};
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http::Response;
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

/// A site whose lists of pages fail at first.
struct Fixture {
    fails: Arc<AtomicBool>,
    service: Service,
    _cms: Cms,
}

/// Endpoint, locale, `documentId`, and more members of a document.
type Row = (&'static str, &'static str, &'static str, &'static str);

/// A page with the own path `custom`, and the news `first`.
const ROWS: &[Row] = &[
    ("page", "en", "d", r#","slug":"a","customPath":"custom","hidden":false"#),
    ("news", "en", "d", r#","slug":"first""#),
];

fn listed(rows: &[Row], target: &str) -> Script {
    let is_listed = |(endpoint, locale, ..): &&Row| {
        let path = target.split('?').next() == Some(&format!("/api/{endpoint}"));
        path && target.contains(&format!("locale={locale}"))
    };
    let listed: Vec<(&str, String)> = rows
        .iter()
        .filter(is_listed)
        .map(|(_, locale, id, more)| (*id, format!(r#","locale":"{locale}"{more}"#)))
        .collect();
    let mut listed: Vec<_> = listed.iter().map(|(id, more)| (*id, more.as_str())).collect();
    listed.sort_unstable();
    listed.retain(|_| !target.contains("$gt"));
    list(&listed, 100, listed.len())
}

impl Fixture {
    fn start() -> Self {
        Self::with(settings(), ROWS)
    }

    fn with(settings: Settings, rows: &'static [Row]) -> Self {
        let fails = Arc::new(AtomicBool::new(true));
        let cms = {
            let fails = Arc::clone(&fails);
            Cms::start(move |target| {
                if fails.load(Ordering::Relaxed) && target.starts_with("/api/page?") {
                    return refusal(500, "InternalServerError", "{}");
                }
                listed(rows, target)
            })
        };
        let settings = settings.strapi(&cms).singular_endpoints();
        let service = settings.more("[snapshots]\nsoft_seconds = 1").start();
        Self { fails, service, _cms: cms }
    }

    fn ask(&self, operation: &str, path: &str) -> Response {
        get(&self.service, &format!("/api/{operation}?site=main&pathname={path}"))
    }

    fn by(&self, operation: &str, path: &str) -> (u16, String) {
        let response = self.ask(operation, path);
        (response.status, response.header("x-resolved-by").unwrap_or_default())
    }

    fn decides(&self, operation: &str, path: &str, status: u16, by: &str) {
        assert_eq!(self.by(operation, path), (status, by.to_owned()), "{operation} {path}");
    }
}

#[test]
fn any_path_that_no_document_owns_is_a_503_until_own_paths_are_known() {
    let fixture = Fixture::start();
    until_so("the news and the notes are known", || {
        let news = fixture.by("resolve", "/en/news/first").0 == 200;
        news && !fixture.ask("resolve", "/notes/x").text().contains("api::note.note")
    });
    for path in ["/en/news/missing", "/en/custom", "/x/y/z", "/notes/x", "/en/pages/a"] {
        let response = fixture.ask("resolve", path);
        assert_eq!(response.status, 503, "{path} {}", response.text());
        assert!(response.text().contains("the documents of api::page.page are not known"));
        assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
        assert_eq!(response.header("retry-after").as_deref(), Some("5"));
    }
    fixture.decides("resolve", "/en/news/first", 200, "documents; index=missing");
    for (path, status, by) in [
        ("/en/news/first", 200, "documents; index=missing"),
        ("/en/news/missing", 200, "rules; index=missing"),
        ("/en/custom", 404, "rules; index=missing"),
        ("/en/pages/a", 200, "rules; index=missing"),
    ] {
        fixture.decides("get-content-type", path, status, by);
    }
    fixture.fails.store(false, Ordering::Relaxed);
    until_so("the pages are known", || fixture.by("resolve", "/en/custom").0 == 200);
    for (path, status, by) in [
        ("/en/custom", 200, "documents"),
        ("/en/news/missing", 200, "rules"),
        ("/x/y/z", 404, "rules"),
        ("/en/pages/a", 200, "rules"),
    ] {
        for operation in ["resolve", "get-content-type"] {
            fixture.decides(operation, path, status, by);
        }
    }
}

#[test]
fn stale_copy_still_has_the_own_paths() {
    let fixture = Fixture::start();
    fixture.fails.store(false, Ordering::Relaxed);
    until_so("the pages are known", || fixture.by("resolve", "/en/custom").0 == 200);
    until_so("the news are known", || fixture.by("resolve", "/en/news/first").0 == 200);
    fixture.fails.store(true, Ordering::Relaxed);
    until_so("the pages are stale", || {
        fixture.by("get-content-type", "/en/custom").1 == "documents; index=stale"
    });
    for operation in ["resolve", "get-content-type"] {
        fixture.decides(operation, "/en/custom", 200, "documents; index=stale");
        fixture.decides(operation, "/x/y/z", 404, "rules; index=stale");
        fixture.decides(operation, "/en/news/missing", 200, "rules; index=stale");
        fixture.decides(operation, "/en/news/first", 200, "documents");
    }
    let resolved = fixture.ask("resolve", "/en/custom");
    assert_eq!(resolved.json()["data"]["documentId"], "d");
    assert!(resolved.header("age").is_some());
    assert!(fixture.ask("resolve", "/x/y/z").header("age").is_some());
}

#[test]
fn response_about_a_path_that_may_be_an_own_path_is_cached_for_a_short_time() {
    let rows: &[Row] = &[
        ("page", "en", "page", r#","slug":"a","customPath":"custom","hidden":false"#),
        ("page", "en", "front", r#","slug":"b","customPath":"news/first","hidden":false"#),
        ("news", "en", "news", r#","slug":"first""#),
        ("note", "en", "own", r#","slug":"n","seo":{"path":"en/custom"}"#),
        ("note", "en", "note", r#","slug":"plain","seo":null"#),
    ];
    let fixture = Fixture::with(settings(), rows);
    let id = |path: &str| fixture.ask("resolve", path).json()["data"]["documentId"].clone();
    until_so("the news and the notes are known", || {
        id("/en/news/first") == "news" && id("/notes/plain") == "note"
    });
    let (short, long) = ("public, max-age=5", "public, max-age=60, stale-if-error=86400");
    for (path, owner, by, cache_control) in [
        ("/en/news/first", "news", "documents; index=missing", short),
        ("/en/custom", "own", "documents; index=missing", short),
        // Own paths of pages begin with a locale.
        ("/notes/plain", "note", "documents", long),
    ] {
        for operation in ["resolve", "get-content-type"] {
            fixture.decides(operation, path, 200, by);
            let response = fixture.ask(operation, path);
            let found = response.header("cache-control");
            assert_eq!(found.as_deref(), Some(cache_control), "{operation} {path}");
        }
        assert_eq!(id(path), owner, "{path}");
    }
    fixture.fails.store(false, Ordering::Relaxed);
    until_so("the pages are known", || id("/en/custom") == "page");
    assert_eq!((id("/en/news/first"), id("/notes/plain")), (json!("front"), json!("note")));
    for path in ["/en/news/first", "/en/custom", "/notes/plain"] {
        fixture.decides("resolve", path, 200, "documents");
    }
}

#[test]
fn path_without_a_host_is_a_503_while_an_earlier_host_may_have_it_as_an_own_path() {
    let rows: &[Row] = &[
        ("page", "en", "page", r#","slug":"a","customPath":"x/y""#),
        ("news", "de", "same", r#","slug":"x/y""#),
        ("news", "de", "german", r#","slug":"deep/de""#),
        ("news", "en", "english", r#","slug":"deep/en""#),
        ("news", "it", "italian", r#","slug":"deep/it""#),
    ];
    // `en` is on a host of its own; `de` has its segment on another one.
    let hosts = site("main")
        .front_end_url(
            r#"{ en = "https://a.example", de = "https://b.example", it = "https://b.example" }"#,
        )
        .locales(&["en", r#"{ code = "de", segment = "en", hreflang = "de" }"#, "it"])
        .resolve("documents")
        .rule("api::page.page", "/{locale}/pages/{slug}")
        .with("path_field = \"customPath\"")
        .rule("api::news.news", "/{locale}/{*slug}");
    let fixture = Fixture::with(hosts, rows);
    let id = |path: &str| fixture.ask("resolve", path).json()["data"]["documentId"].clone();
    until_so("the news are known", || id("/en/deep/en") == "english");
    for (path, owner) in [
        ("/en/x/y", None),
        ("/en/x/y&host=a.example", None),
        ("/en/x/y&host=b.example", Some("same")),
        ("/en/deep/de", None),
        ("/en/deep/de&host=b.example", Some("german")),
        ("/en/deep/en", Some("english")),
        // The first host has no own path with this locale.
        ("/it/deep/it", Some("italian")),
    ] {
        let response = fixture.ask("resolve", path);
        let Some(owner) = owner else {
            assert_eq!(response.status, 503, "{path}: {}", response.text());
            assert!(response.text().contains("the documents of api::page.page are not known"));
            fixture.decides("get-content-type", path, 200, "rules; index=missing");
            continue;
        };
        assert_eq!(response.json()["data"]["documentId"], owner, "{path}");
        for operation in ["resolve", "get-content-type"] {
            fixture.decides(operation, path, 200, "documents; index=missing");
        }
    }
    fixture.fails.store(false, Ordering::Relaxed);
    until_so("the pages are known", || id("/en/x/y") == "page");
    for (path, owner) in
        [("/en/x/y&host=b.example", "same"), ("/en/deep/de", "german"), ("/it/deep/it", "italian")]
    {
        assert_eq!(id(path), owner, "{path}");
        fixture.decides("resolve", path, 200, "documents");
    }
}

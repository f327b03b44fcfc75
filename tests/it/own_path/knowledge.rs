//! Responses about a path while the documents that may have it as their own path are not known.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::{get, settings};
use crate::support::cms::Cms;
use crate::support::front_of_cms::{list, refusal};
use crate::support::http::Response;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// A page with the own path `custom`, and the news `first`. Lists of pages fail at first.
struct Fixture {
    fails: Arc<AtomicBool>,
    service: Service,
    _cms: Cms,
}

fn rows(target: &str) -> Script {
    let row = match target.split('?').next() {
        Some("/api/page") => r#","locale":"en","slug":"a","customPath":"custom","hidden":false"#,
        Some("/api/news") => r#","locale":"en","slug":"first""#,
        _ => return list(&[], 100, 0),
    };
    if !target.contains("locale=en") {
        return list(&[], 100, 0);
    }
    let rows = [("d", row)];
    list(if target.contains("$gt") { &[] } else { &rows }, 100, 1)
}

impl Fixture {
    fn start() -> Self {
        let fails = Arc::new(AtomicBool::new(true));
        let cms = {
            let fails = Arc::clone(&fails);
            Cms::start(move |target| {
                if fails.load(Ordering::Relaxed) && target.starts_with("/api/page?") {
                    return refusal(500, "InternalServerError", "{}");
                }
                rows(target)
            })
        };
        let source = format!("source = \"strapi\"\nurl = \"http://{}\"", cms.addr());
        let settings = settings("").replace("source = \"files\"\npath = \"content.json\"", &source);
        let endpoints = ["page", "news", "note"].map(|name| {
            format!("[[content_type]]\nuid = \"api::{name}.{name}\"\nendpoint = \"{name}\"\n")
        });
        let soft = "[snapshots]\nsoft_seconds = 1\n";
        let service = Setup::new(&(settings + &endpoints.concat() + soft)).start();
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
    fixture.decides("resolve", "/en/news/first", 200, "documents");
    for (path, status, by) in [
        ("/en/news/first", 200, "documents"),
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

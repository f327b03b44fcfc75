//! The responses that the pages show, compared with those of a service on the demo's content.

use std::collections::BTreeSet;

use crate::support::front_end::{FrontEnd, answer};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;
use frontend_map_rules::{Fault, MismatchReason};

use super::pages::{all, all_sources, page, source_texts};

pub(super) const DEMO: &str = include_str!("../../config/demo/settings.toml");
/// Where the demo's frontend listens.
pub(super) const DEMO_FRONT_END: &str = "http://127.0.0.1:8081";

/// The demo's settings with a frontend that answers 200 to everything.
struct Demo {
    service: Service,
    front_end: FrontEnd,
}

impl Demo {
    async fn start(settings: &str) -> Self {
        let front_end = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
        let service = Setup::new(settings)
            .env("FRONTEND_MAP__SERVER__LISTEN", "127.0.0.1:0")
            .env("FRONT_END_URL_MAIN", &front_end.url("http", ""))
            .start();
        Self { service, front_end }
    }

    fn send(&self, method: &str, target: &str) -> Response {
        http::send(self.service.addr(), method, target, &[])
    }

    /// The body, with the frontend at the demo's address.
    fn text(&self, target: &str) -> String {
        self.shown(&http::get(self.service.addr(), target))
    }

    /// The body of a response, with the frontend at the demo's address.
    fn shown(&self, response: &Response) -> String {
        response.text().replace(&self.front_end.url("http", ""), DEMO_FRONT_END)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_curl_returns_exactly_the_response_shown() {
    let demo = Demo::start(DEMO).await;
    let pages = all();
    let curls: Vec<_> = pages.iter().flat_map(|page| page.curls()).collect();
    assert!(curls.len() >= 10, "the pages show {}", curls.len());
    for (target, shown) in curls {
        assert_eq!(demo.text(target).trim_end(), shown, "{target}");
    }
    assert!(page("README.md").curls().len() == 3);
}

#[tokio::test(flavor = "multi_thread")]
async fn resolve_returns_exactly_the_response_shown() {
    let settings = DEMO.replace("key = \"main\"", "key = \"main\"\nresolve = \"documents\"");
    let demo = Demo::start(&settings).await;
    let target = "/api/resolve?site=main&pathname=/en/about";
    until_so("the index is there", || demo.text(target).contains("p1about"));
    let api = page("docs/http-api.md");
    assert!(api.blocks("json").contains(&demo.text(target).as_str()));
    for query in [
        "site=main&pathname=/en/articles/welcome-back&status=draft",
        "uid=plugin::cms.article&documentId=a1welcome&status=draft",
    ] {
        let text = demo.text(&format!("/api/resolve?{query}"));
        assert!(api.blocks("json").contains(&text.as_str()), "{text}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn batch_returns_exactly_the_response_shown() {
    let demo = Demo::start(DEMO).await;
    let api = page("docs/http-api.md");
    let blocks = api.blocks("json");
    let request = blocks.iter().position(|block| block.starts_with(r#"{"documents":"#));
    let request = request.expect("a batch is shown");
    let length = blocks[request].len().to_string();
    let headers = [("Content-Length", length.as_str())];
    let addr = demo.service.addr();
    let response = http::send_with(addr, "POST", "/api/frontend-urls", &headers, blocks[request]);
    assert_eq!(demo.shown(&response), blocks[request + 1]);
}

#[tokio::test(flavor = "multi_thread")]
async fn each_error_of_the_table_is_the_real_one() {
    let demo = Demo::start(DEMO).await;
    let api = page("docs/http-api.md");
    let rows = api.table("Request");
    assert!(rows.len() >= 20, "{} rows", rows.len());
    for row in rows {
        let [request, status, name, message] = row[..] else { panic!("{row:?}") };
        let (method, target) = request.split_once(' ').expect(request);
        let response = demo.send(method, target);
        let error = &response.json()["error"];
        assert_eq!(
            (response.status.to_string(), error["name"].as_str(), error["message"].as_str()),
            (status.to_owned(), Some(name), Some(message)),
            "{request}"
        );
    }
}

#[test]
fn table_of_errors_has_each_name_of_the_source() {
    let api = page("docs/http-api.md");
    let listed = api.table("Status");
    let listed: BTreeSet<&str> = listed.iter().map(|row| row[1]).collect();
    let sources = source_texts("crates/service/src/http");
    let literals = sources.iter().flat_map(|source| source.split('"').skip(1).step_by(2));
    let names = literals
        .filter(|text| text.ends_with("Error") && *text != "Error")
        .filter(|text| text.chars().all(|c| c.is_ascii_alphabetic()));
    let names: BTreeSet<&str> = names.collect();
    assert!(names.len() >= 10, "{names:?}");
    let missing: Vec<_> = names.difference(&listed).collect();
    assert!(missing.is_empty(), "{missing:?}");
    let unknown: Vec<_> = listed.difference(&names).filter(|name| **name != "(no body)").collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

#[test]
fn each_message_of_the_page_is_in_the_source() {
    let sources = all_sources().join("\n");
    for row in page("docs/http-api.md").table("Message") {
        let message = row[0].trim_start_matches('`').split('`').next().unwrap_or_default();
        for fixed in message.split('…').map(str::trim) {
            assert!(sources.contains(fixed), "{fixed:?} of {message:?}");
        }
    }
}

#[test]
fn each_reason_of_a_table_is_in_the_source() {
    let sources = all_sources().join("\n");
    // Their names are derived from those of the variants.
    let faults = Fault::ALL.iter().map(|fault| fault.as_str());
    let derived: BTreeSet<&str> =
        faults.chain(MismatchReason::ALL.iter().map(|reason| reason.as_str())).collect();
    let reasons = [
        ("docs/http-api.md", "Candidate's `reason`", ""),
        ("docs/http-api.md", "`reason`", "fetch failed: "),
        ("docs/urls.md", "`details.reason`", "slug_"),
        ("docs/rules.md", "`X-Resolved-By`", ""),
    ];
    for (path, heading, prefix) in reasons {
        for row in page(path).table(heading) {
            let reason = row[0].strip_prefix(prefix).unwrap_or(row[0]);
            // The placeholder of a page tree is called `path` on the page.
            let reason = reason.strip_prefix("path_").unwrap_or(reason);
            let is_there = |reason: &str| {
                derived.contains(reason) || sources.contains(&format!("\"{reason}\""))
            };
            let is_named = is_there(reason) || is_there(row[0]);
            assert!(is_named || reason.starts_with("timeout after"), "{path}: {reason}");
        }
    }
}

/// The sources below a folder of the repository.

#[tokio::test(flavor = "multi_thread")]
async fn each_route_of_the_contents_is_there() {
    let demo = Demo::start(DEMO).await;
    let api = page("docs/http-api.md");
    // One table for each audience.
    let rows = api.tables("Route").concat();
    let routes: Vec<&str> =
        rows.iter().flat_map(|row| row[0].split('`').skip(1).step_by(2)).collect();
    let description = http::get(demo.service.addr(), "/openapi.json").json();
    let paths = description["paths"].as_object().expect("paths").keys().map(String::as_str);
    let documented =
        |path| if str::starts_with(path, "/sitemaps/") { "/sitemaps/<site>/…" } else { path };
    let described: BTreeSet<&str> = paths.map(documented).collect();
    assert_eq!(routes.iter().copied().collect::<BTreeSet<_>>(), described);
    assert_eq!(routes.len(), described.len(), "each once: {routes:?}");
    for route in routes {
        let path = route.replace("<site>/…", "main/index.xml");
        assert_eq!(demo.send("OPTIONS", &path).status, 200, "{route}");
    }
    for row in api.table("Admin path") {
        assert_eq!(http::get(demo.service.admin(), row[0]).status, 200, "{row:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_header_of_a_response_is_on_the_page() {
    let demo = Demo::start(DEMO).await;
    let api = page("docs/http-api.md").text.to_lowercase();
    for target in [
        "/api/get-content-type?site=main&pathname=/en/about",
        "/api/frontend-url?uid=plugin::cms.article&documentId=a1welcome&status=draft",
        "/api/frontend-urls?uid=plugin::cms.article&documentId=a1welcome",
        "/api/build-sitemap?site=main&contentType=plugin::cms.page",
        "/api/build-sitemap?site=main&contentType=plugin::cms.page&validate=true",
        "/sitemaps/main/index.xml",
        "/sitemaps/main/plugin.cms.page-1.xml",
        "/sitemaps/main/robots.txt",
        "/livez",
        "/nope",
    ] {
        let response = http::get(demo.service.addr(), target);
        let usual = ["content-type", "content-length", "date", "connection"];
        for (name, _) in &response.headers {
            let named = api.contains(&format!("`{name}"));
            assert!(named || usual.contains(&name.as_str()), "{target}: {name}");
        }
    }
}

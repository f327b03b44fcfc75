//! The routes: each is declared on one page, limited and counted under its label.

use std::collections::BTreeSet;
use std::path::Path;

use super::{ARTICLES, service};
use crate::support::http;
use crate::support::metrics::scrape;

/// A target of each route, with its status and the label of its metrics.
const ROUTES: &[(&str, u16, &str)] = &[
    ("/api/get-content-type?site=main&pathname=/en/about", 200, "/api/get-content-type"),
    ("/api/resolve?site=main&pathname=/en/about", 501, "/api/resolve"),
    ("/api/frontend-url?uid=plugin::cms.article&documentId=one", 200, "/api/frontend-url"),
    ("/api/frontend-urls?uid=plugin::cms.article&documentId=one,two", 200, "/api/frontend-urls"),
    ("/api/document?uid=plugin::cms.article&documentId=one", 200, "/api/document"),
    ("/api/publish-preview?uid=api::none.none&documentId=one", 404, "/api/publish-preview"),
    ("/api/sites", 200, "/api/sites"),
    (ARTICLES, 200, "/api/build-sitemap"),
    ("/api/pages?site=main", 200, "/api/pages"),
    ("/api/problems?site=main", 200, "/api/problems"),
    ("/api/changes?site=main", 200, "/api/changes"),
    ("/sitemaps/main/index.xml", 200, "/sitemaps"),
    ("/api/misses?site=main", 501, "/api/misses"),
    ("/api/links?site=main", 501, "/api/links"),
    ("/api/redirects?site=main", 501, "/api/redirects"),
    ("/api/validations?site=main", 200, "/api/validations"),
    ("/hooks/cms", 405, "/hooks/cms"),
    ("/openapi.json", 200, "/openapi.json"),
    ("/livez", 200, "/livez"),
    ("/readyz", 200, "/readyz"),
    ("/nope", 404, "other"),
];

#[test]
fn each_route_is_counted_under_its_label() {
    let service = service();
    for (target, status, _) in ROUTES {
        assert_eq!(http::get(service.addr(), target).status, *status, "{target}");
    }
    let metrics = scrape(service.admin());
    for (target, status, label) in ROUTES {
        let class = status / 100;
        let series = format!("requests_total{{route=\"{label}\",class=\"{class}xx\"}}");
        assert!(metrics.of(&series) >= 1.0, "{target}");
    }
    let label = |series: &str| {
        let labels = series.strip_prefix("frontend_map_requests_total{route=\"")?;
        Some(labels.split('"').next().expect("a label").to_owned())
    };
    let labels: BTreeSet<String> = metrics.names().into_iter().filter_map(label).collect();
    let tested: BTreeSet<String> = ROUTES.iter().map(|(_, _, label)| (*label).to_owned()).collect();
    assert_eq!(labels, tested, "a target for each route");
}

#[test]
fn each_route_of_the_admin_listener_is_in_its_index() {
    let service = service();
    let index = http::get(service.admin(), "/");
    let paths: Vec<&str> = index.text().lines().filter_map(|line| line.split(' ').next()).collect();
    assert_eq!(paths, ["/metrics", "/readyz", "/rules", "/livez"]);
    for path in paths {
        assert_eq!(http::get(service.admin(), path).status, 200, "{path}");
        let post = http::send(service.admin(), "POST", path, &[]);
        assert_eq!(post.status, 405, "{path}");
        assert_eq!(post.header("allow").as_deref(), Some("GET, HEAD"), "{path}");
    }
    assert_eq!(http::get(service.admin(), "/nope").status, 404);
}

/// A router of its own would have routes without label or limit class.
#[test]
fn routes_are_declared_on_one_page() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("crates/service/src/http");
    let mut folders = vec![root.clone()];
    let mut pages = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if std::fs::read_to_string(&path).expect("a text").contains("Router::new(") {
                pages.push(path.strip_prefix(&root).expect("below it").display().to_string());
            }
        }
    }
    assert_eq!(pages, ["pipeline/routes.rs"]);
}

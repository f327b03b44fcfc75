//! The store through the real binary: what a service knows after a restart, and what happens where
//! the file cannot be used.

mod crashes;
mod export;
mod full_disk;
mod history;
mod history_copy;
mod imports;
mod misses;
mod unusable;
mod warm_start;

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::support::content::Content;
use crate::support::http::{self, Response};
use crate::support::metrics::scrape;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const LIST: &str = "/api/build-sitemap?site=main&contentType=api::article.article";
const PAGES: &str = "/api/pages?site=main";
const RESOLVE: &str = "/api/resolve?site=main&pathname=/en/articles/one";

/// A site whose documents decide about paths, with this template.
fn settings(template: &str) -> Settings {
    site("main").locales(&["en", "de"]).resolve("documents").rule("api::article.article", template)
}

const TEMPLATE: &str = "/{locale}/articles/{slug}";

/// A service that is started with these settings and this store, and walks at its start.
fn with_store(settings: &Settings, store: &Path) -> Setup {
    settings
        .env("FRONTEND_MAP__STORE__PATH", store.to_str().expect("a path in UTF-8"))
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("FRONTEND_MAP__HOOKS__SECRET", crate::support::hook::SECRET)
}

fn content() -> Content {
    Content::new(&[("en", "d1", "one"), ("de", "d1", "eins"), ("en", "d2", "two")])
}

/// Every request to the CMS fails from now on.
fn take_down(content: &Content) {
    content.fail(|_| Some(Script::raw("").and_close()));
}

fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    (folder, store)
}

fn written(service: &Service) -> f64 {
    scrape(service.admin()).of("store_writes_total{outcome=\"ok\"}")
}

/// Waits until the walk of the start and its snapshot in the store are complete.
fn until_stored(service: &Service) {
    until_so("the snapshot is stored", || written(service) >= 1.0);
}

fn state(service: &Service) -> Value {
    http::get(service.admin(), "/readyz").json()["store"].clone()
}

fn until_state(service: &Service, expected: &str) {
    until_so(expected, || state(service)["state"] == expected);
}

fn list(service: &Service) -> Response {
    http::get(service.addr(), LIST)
}

fn urls(response: &Response) -> Vec<String> {
    crate::support::front_of_cms::urls(response)
}

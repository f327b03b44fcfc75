//! The change log and restarts.

use std::path::Path;

use serde_json::json;

use super::{CHANGES, article, brief, content, cursor, read, report, settings, setup, started};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::settings::Settings;
use crate::support::wait::{until, until_so};

pub(super) fn with_store(settings: &Settings, store: &Path) -> Setup {
    setup(settings).env("FRONTEND_MAP__STORE__PATH", store.to_str().expect("a path in UTF-8"))
}

pub(super) fn folder() -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    (folder, store)
}

pub(super) fn until_walked(service: &Service) {
    until_so("it has walked", || http::get(service.addr(), "/api/pages?site=main").status == 200);
}

/// Waits until there are changes since a cursor.
fn until_changed(service: &Service, since: &str) -> Vec<String> {
    until("the change is listed", || {
        let read = read(service, since, &[]);
        assert_eq!(read["reset"], false);
        Some(brief(&read)).filter(|brief| !brief.is_empty())
    })
}

#[test]
fn cursor_without_a_store_is_reset_after_a_restart() {
    let content = content();
    let cms = content.start();
    let own = settings().strapi(&cms);
    let before = cursor(&started(&own));
    assert_eq!(read(&started(&own), &before, &[])["reset"], true);
}

#[test]
fn cursor_survives_a_kill_and_titles_are_no_change_then() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let own = settings().strapi(&cms);
    let mut first = with_store(&own, &store).start();
    until_walked(&first);
    let start = cursor(&first);
    article(&content, "a", "uno", "One", false);
    report(&first, "a");
    let moved = "moved a /en/articles/uno /en/articles/one";
    assert_eq!(until_changed(&first, &start), [moved]);
    let middle = cursor(&first);
    first.signal("KILL");
    article(&content, "c", "three", "Three", false);
    let second = with_store(&own, &store).start();
    // Titles are not stored: this difference alone is a change.
    assert_eq!(until_changed(&second, &middle), ["added c /en/articles/three"]);
    assert_eq!(brief(&read(&second, &start, &[])), [moved, "added c /en/articles/three"]);
    article(&content, "b", "two", "Zwei", false);
    report(&second, "b");
    let last = cursor(&second);
    assert_eq!(until_changed(&second, &last), ["updated b /en/articles/two"]);
}

#[test]
fn pages_outside_the_cms_change_with_the_settings() {
    let content = content();
    let cms = content.start();
    let (own, (_folder, store)) = (settings().strapi(&cms), folder());
    let page = |path: &str| {
        own.clone().more(&format!("[[site.page]]\nname = \"search\"\npath = \"{path}\""))
    };
    for with_a_store in [false, true] {
        let setup =
            |settings| if with_a_store { with_store(settings, &store) } else { setup(settings) };
        let service = setup(&page("/search")).start();
        until_walked(&service);
        if with_a_store {
            until_so("pages and articles are stored", || {
                let metrics = crate::support::metrics::scrape(service.admin());
                metrics.of("store_writes_total{outcome=\"ok\"}") >= 2.0
            });
        }
        let mut last = cursor(&service);
        let expected = json!({"contentType": "pages", "documentId": "search", "locale": "en"});
        for (settings, kind, path) in [
            (page("/find"), "moved", "/find"),
            (own.clone(), "gone", "/find"),
            (page("/search"), "added", "/search"),
        ] {
            service.rewrite("settings.toml", &settings.toml());
            service.send_signal("HUP");
            let read = until("the change is listed", || {
                let read = read(&service, &last, &[]);
                (read["changes"] != json!([])).then_some(read)
            });
            let change = &read["changes"][0];
            assert_eq!((&change["type"], &change["path"]), (&json!(kind), &json!(path)));
            for (name, value) in expected.as_object().expect("an object") {
                assert_eq!(&change[name], value, "{change}");
            }
            assert_eq!(read["changes"][1], json!(null), "{read}");
            read["cursor"].as_str().expect("text").clone_into(&mut last);
        }
    }
}

#[test]
fn content_type_that_loses_its_rule_is_gone_and_comes_back_as_added() {
    let content = content();
    let cms = content.start();
    let own = settings().strapi(&cms);
    let (_folder, store) = folder();
    let both = own.clone().rule("api::page.page", "/p/{locale}/{slug}");
    for with_a_store in [false, true] {
        let service = if with_a_store { with_store(&both, &store) } else { setup(&both) }.start();
        until_walked(&service);
        until_so("each type is known", || {
            http::get(service.addr(), "/api/pages?site=main").json()["data"]["count"] == 5
        });
        let types = |since: &str| {
            let response = http::get(service.addr(), &format!("{CHANGES}&since={since}")).json();
            assert_eq!(response["data"]["reset"], false, "{response}");
            let changes = response["data"]["changes"].as_array().expect("a list").clone();
            let brief = |change: &serde_json::Value| {
                format!("{} {}", change["type"], change["path"]).replace('"', "")
            };
            let mut changes: Vec<String> = changes.iter().map(brief).collect();
            changes.sort();
            changes
        };
        if with_a_store {
            until_so("both types are stored", || {
                let metrics = crate::support::metrics::scrape(service.admin());
                metrics.of("store_writes_total{outcome=\"ok\"}") >= 2.0
            });
        }
        let start = cursor(&service);
        service.rewrite("settings.toml", &own.toml());
        service.send_signal("HUP");
        let gone = ["gone /p/en/hidden", "gone /p/en/one", "gone /p/en/two"];
        until_so("the pages are gone", || types(&start) == gone);
        let middle = cursor(&service);
        service.rewrite("settings.toml", &both.toml());
        service.send_signal("HUP");
        let added = ["added /p/en/hidden", "added /p/en/one", "added /p/en/two"];
        until_so("the pages are back", || types(&middle) == added);
    }
}

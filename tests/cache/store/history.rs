//! Paths that documents had before survive a restart.

use serde_json::Value;

use super::{
    TEMPLATE, content, folder, list, settings, take_down, until_stored, urls, with_store, written,
};
use crate::support::content::Content;
use crate::support::hook::post_body;
use crate::support::http;
use crate::support::service::Service;
use crate::support::wait::until_so;

/// Where the path of the first document leads: the kind of the result, and the target of a redirect.
pub(super) fn resolved(service: &Service, path: &str) -> (Value, Value) {
    let target = format!("/api/resolve?site=main&pathname={path}");
    let data = http::get(service.addr(), &target).json()["data"].clone();
    (data["kind"].clone(), data["redirect"]["to"].clone())
}

pub(super) fn redirect(to: &str) -> (Value, Value) {
    ("redirect".into(), format!("https://www.example.com{to}").into())
}

/// Renames the document in the CMS and reports it.
pub(super) fn rename(service: &Service, content: &Content, id: &str, slug: &str) {
    content.publish("en", id, slug);
    let event = format!(
        r#"{{"event":"entry.publish","uid":"api::article.article","entry":{{"documentId":"{id}","publishedAt":"2024-03-06T22:19:54.649Z"}}}}"#
    );
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202"));
}

#[test]
fn redirect_survives_a_kill_while_the_cms_is_down() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    rename(&first, &content, "d1", "uno");
    until_so("the update is stored", || written(&first) >= 2.0);
    assert_eq!(resolved(&first, "/en/articles/one"), redirect("/en/articles/uno"));
    first.signal("KILL");
    take_down(&content);
    let second = with_store(&settings, &store).start();
    assert_eq!(resolved(&second, "/en/articles/one"), redirect("/en/articles/uno"));
    assert_eq!(resolved(&second, "/en/articles/uno").0, "document");
}

#[test]
fn document_that_is_renamed_while_no_service_runs_is_redirected() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    first.signal("TERM");
    content.publish("en", "d1", "uno");
    let second = with_store(&settings, &store).start();
    until_so("the old path is redirected", || {
        resolved(&second, "/en/articles/one") == redirect("/en/articles/uno")
    });
}

#[test]
fn rules_that_change_with_a_restart_redirect_the_old_paths() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut first = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    until_stored(&first);
    first.signal("TERM");
    let changed = settings("/{locale}/news/{slug}").strapi(&cms);
    let mut second = with_store(&changed, &store).start();
    until_stored(&second);
    assert_eq!(resolved(&second, "/en/articles/one"), redirect("/en/news/one"));
    second.signal("TERM");
    // The history is stored, and the snapshot by the first rules is not any more.
    take_down(&content);
    let mut third = with_store(&changed, &store).start();
    assert_eq!(resolved(&third, "/en/articles/one"), redirect("/en/news/one"));
    third.signal("TERM");
    let fourth = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    assert_eq!(list(&fourth).status, 503);
}

#[test]
fn path_by_the_rules_of_another_process_is_not_known_while_the_cms_is_down() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut first = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    until_stored(&first);
    first.signal("TERM");
    take_down(&content);
    let second = with_store(&settings("/{locale}/news/{slug}").strapi(&cms), &store).start();
    let status = |path: &str| {
        let target = format!("/api/resolve?site=main&pathname={path}");
        http::get(second.addr(), &target).status
    };
    assert_eq!(status("/en/articles/one"), 503);
    assert_eq!(status("/en/articles/no-such"), 404);
    content.heal();
    until_so("the old path is redirected", || {
        resolved(&second, "/en/articles/one") == redirect("/en/news/one")
    });
}

#[test]
fn history_made_without_the_file_is_written_when_this_is_released() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let settings = settings(TEMPLATE).strapi(&cms);
    let mut first = with_store(&settings, &store).start();
    until_stored(&first);
    // Its store is that of the first process.
    let mut second = with_store(&settings, &store).start();
    until_so("it has walked", || list(&second).status == 200 && urls(&list(&second)).len() == 3);
    rename(&second, &content, "d1", "uno");
    until_so("the old path is redirected", || {
        resolved(&second, "/en/articles/one") == redirect("/en/articles/uno")
    });
    first.signal("TERM");
    until_so("it stores what it has", || written(&second) >= 1.0);
    second.signal("TERM");
    take_down(&content);
    let third = with_store(&settings, &store).start();
    assert_eq!(resolved(&third, "/en/articles/one"), redirect("/en/articles/uno"));
}

#[test]
fn rules_that_change_in_a_rolling_restart_redirect_the_old_paths() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let mut first = with_store(&settings(TEMPLATE).strapi(&cms), &store).start();
    until_stored(&first);
    let second = with_store(&settings("/{locale}/news/{slug}").strapi(&cms), &store).start();
    until_so("it has walked", || list(&second).status == 200);
    assert_eq!(resolved(&second, "/en/articles/one").0, Value::Null, "the file is not its own yet");
    first.signal("TERM");
    until_so("the old path is redirected", || {
        resolved(&second, "/en/articles/one") == redirect("/en/news/one")
    });
}

#[test]
fn paths_of_a_content_type_that_loses_its_rule_with_a_restart_wait_for_its_return() {
    let (content, (_folder, store)) = (content(), folder());
    let cms = content.start();
    let own = settings(TEMPLATE).strapi(&cms);
    let with_pages = |template: &str| own.clone().rule("api::page.page", template);
    let mut first = with_store(&with_pages("/{locale}/pages/{slug}"), &store).start();
    until_so("both types are stored", || written(&first) >= 2.0);
    first.signal("TERM");
    let mut second = with_store(&own, &store).start();
    until_stored(&second);
    assert_eq!(resolved(&second, "/en/pages/one").0, Value::Null);
    second.signal("TERM");
    let third = with_store(&with_pages("/{locale}/p/{slug}"), &store).start();
    until_so("the old path is redirected", || {
        resolved(&third, "/en/pages/one") == redirect("/en/p/one")
    });
}

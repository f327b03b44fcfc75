//! Links in content behind a CMS: link scans, edits of either end, and what survives a restart.

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::content::{Content, Query, selected};
use crate::support::front_of_cms::{articles, refusal};
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::script::{Act, Script};
use crate::support::service::{Service, Setup};
use crate::support::wait::{until, until_so};

const UID: &str = "plugin::cms.article";
const LINKS: &str = "/api/links?site=main";
const FIELDS: &str = r#"
[[site.links]]
content_type = "plugin::cms.article"
fields = ["body", "zone.text"]
"#;

fn setup(cms: &Cms) -> Setup {
    articles()
        .resolve("documents")
        .with(FIELDS)
        .strapi(cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
}

fn put(content: &Content, id: &str, slug: &str, body: &str) {
    content.put("en", id, &format!(r#","slug":"{slug}","body":{},"zone":[]"#, Value::from(body)));
}

fn event(service: &Service, name: &str, id: &str) {
    let event = format!(
        r#"{{"event":"entry.{name}","createdAt":"2026-01-01T00:00:00.000Z","model":"article","uid":"{UID}","entry":{{"id":7,"documentId":"{id}","locale":"en"}}}}"#
    );
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202 "));
}

/// Address and verdict of each link; `None`: the content has not been read yet.
fn verdicts(service: &Service) -> Option<Vec<(String, String)>> {
    let response = http::get(service.addr(), LINKS);
    if response.status == 503 {
        return None;
    }
    assert_eq!(response.status, 200, "{}", response.text());
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    let data = response.json()["data"].clone();
    let rows = data["links"].as_array().unwrap().clone();
    Some(rows.iter().map(|row| (text(&row["address"]), text(&row["verdict"]))).collect())
}

#[track_caller]
fn until_verdicts(service: &Service, expected: &[(&str, &str)]) {
    let expected: Vec<(String, String)> =
        expected.iter().map(|(a, v)| ((*a).to_owned(), (*v).to_owned())).collect();
    until_so(&format!("{expected:?}"), || verdicts(service) == Some(expected.clone()));
}

/// Whether a request is one for content, and not one of a walk for URLs.
fn is_for_content(target: &str) -> bool {
    target.contains("=body")
}

#[test]
fn edit_of_either_end_changes_the_verdict_at_once() {
    let content = Content::default();
    put(&content, "a", "a", "[b](/en/articles/b) [none](/en/articles/c)");
    put(&content, "b", "b", "");
    let cms = content.start();
    let service = setup(&cms).start();
    until_verdicts(&service, &[("/en/articles/b", "ok"), ("/en/articles/c", "no_such_page")]);
    // The target gets the path, moves, and is unpublished.
    put(&content, "b", "c", "");
    event(&service, "publish", "b");
    until_verdicts(&service, &[("/en/articles/b", "moved"), ("/en/articles/c", "ok")]);
    content.unpublish("en", "b");
    event(&service, "unpublish", "b");
    until_verdicts(&service, &[("/en/articles/b", "gone"), ("/en/articles/c", "gone")]);
    // The text changes, and loses its links.
    put(&content, "a", "a", "[self](a)");
    event(&service, "publish", "a");
    until_verdicts(&service, &[("a", "ok")]);
    put(&content, "d", "d", "[new](/en/articles/d)");
    event(&service, "publish", "d");
    until_verdicts(&service, &[("a", "ok"), ("/en/articles/d", "ok")]);
    content.unpublish("en", "a");
    event(&service, "delete", "a");
    until_verdicts(&service, &[("/en/articles/d", "ok")]);
}

#[test]
fn pass_that_fails_leaves_the_table_as_it_was() {
    let content = Content::default();
    for n in 0..60 {
        put(&content, &format!("d{n:02}"), &format!("s{n}"), "[x](/en/articles/s1)");
    }
    let cms = content.start();
    let service = setup(&cms).env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "t").start();
    let send =
        |method: &str| http::send(service.addr(), method, LINKS, &[("Authorization", "Bearer t")]);
    let count = || send("GET").json()["data"]["count"].clone();
    until_so("the content is read", || count() == 60);
    content.fail(|target| {
        let is_later_page = Query::parse(target).is_some_and(|query| !query.after.is_empty());
        (is_for_content(target) && is_later_page).then(|| refusal(500, "InternalServerError", "{}"))
    });
    assert_eq!(send("POST").status, 202);
    until_so("the link scan has failed", || service.logs("links in content could not be read"));
    assert_eq!(count(), 60);
}

#[test]
fn links_survive_a_restart_and_are_read_again_after_it() {
    let content = Content::default();
    put(&content, "a", "a", "[none](/en/articles/c)");
    let cms = content.start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb").to_str().unwrap().to_owned();
    let start = || setup(&cms).env("FRONTEND_MAP__STORE__PATH", &path).start();
    let mut service = start();
    until_verdicts(&service, &[("/en/articles/c", "no_such_page")]);
    assert_eq!(service.signal("TERM"), Some(0));
    content.close();
    let service = start();
    until_verdicts(&service, &[("/en/articles/c", "no_such_page")]);
    put(&content, "a", "a", "[self](/en/articles/a)");
    content.open();
    until_verdicts(&service, &[("/en/articles/a", "ok")]);
}

#[test]
fn walks_request_the_same_with_and_without_links() {
    let requests = |fields: &str| {
        let content = Content::many(&["en"], 250);
        let cms = content.start();
        let settings = articles().resolve("documents").with(fields).strapi(&cms);
        let service = settings.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
        let target = "/api/resolve?site=main&pathname=/en/articles/s7";
        until_so("the documents are known", || http::get(service.addr(), target).status == 200);
        if !fields.is_empty() {
            until("the content is read", || verdicts(&service));
        }
        let all = cms.targets();
        all.into_iter().filter(|target| target.contains("=slug")).collect::<Vec<_>>()
    };
    assert_eq!(requests(FIELDS), requests(""));
}

#[test]
fn links_beyond_the_memory_are_left_out_and_counted() {
    let content = Content::default();
    let path = |n: usize, m: usize| format!("[x](/en/articles/{n}-{m}-{})\n", "y".repeat(150));
    let body = |n: usize| (0..100).map(|m| path(n, m)).collect::<Vec<_>>().concat();
    for n in 0..200 {
        put(&content, &format!("d{n:03}"), &format!("s{n}"), &body(n));
    }
    let cms = content.start();
    let service = setup(&cms).env("FRONTEND_MAP__LIMITS__LINKS_BYTES", "1048576").start();
    let data = until("the content is read", || {
        let response = http::get(service.addr(), LINKS);
        (response.status == 200).then(|| response.json()["data"].clone())
    });
    let [count, left_out] = ["count", "leftOut"].map(|name| data[name].as_u64().unwrap());
    assert_eq!(count + left_out, 20_000);
    assert!((3_000..8_000).contains(&count), "{count}");
}

/// The number of requests for content.
fn requests_for_content(cms: &Cms) -> usize {
    cms.targets().iter().filter(|target| is_for_content(target)).count()
}

#[test]
fn links_that_are_read_during_a_reload_are_kept() {
    let content = Content::default();
    put(&content, "a", "a", "[old](/en/articles/a)");
    let cms = content.start();
    let service = setup(&cms).start();
    until_verdicts(&service, &[("/en/articles/a", "ok")]);
    let before = requests_for_content(&cms);
    content.close();
    put(&content, "a", "a", "[new](/en/articles/new)");
    event(&service, "publish", "a");
    until_so("the document is requested", || requests_for_content(&cms) > before);
    service.send_signal("HUP");
    until_so("the reload", || service.logs("the settings are reloaded"));
    content.open();
    until_verdicts(&service, &[("/en/articles/new", "no_such_page")]);
}

#[test]
fn links_of_a_changed_file_are_read_again_after_a_reload() {
    let content = |body: &str| {
        format!(
            r#"{{"{UID}":[{{"documentId":"a","locale":"en","slug":"a","body":"{body}","zone":[]}}]}}"#
        )
    };
    let settings =
        articles().resolve("documents").with(FIELDS).files(&content("[x](/en/articles/a)"));
    let service = settings.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
    until_verdicts(&service, &[("/en/articles/a", "ok")]);
    service.rewrite("content.json", &content("[x](/en/articles/b)"));
    service.send_signal("HUP");
    until_verdicts(&service, &[("/en/articles/b", "no_such_page")]);
}

#[test]
fn documents_whose_content_is_too_long_together_are_read_one_by_one() {
    let content = Content::default();
    for id in ["a", "b", "c"] {
        put(&content, id, id, "[old](/en/articles/a)");
    }
    let cms = content.start();
    let service = setup(&cms).start();
    let old = ("/en/articles/a", "ok");
    until_verdicts(&service, &[old; 3]);
    content.fail(|target| {
        let is_of_several = selected(target).len() > 1;
        (is_for_content(target) && is_of_several).then(|| Script::json(200, "too long"))
    });
    for id in ["a", "b", "c"] {
        put(&content, id, id, "[new](/en/articles/b)");
    }
    for id in ["a", "b", "c"] {
        event(&service, "publish", id);
    }
    until_verdicts(&service, &[("/en/articles/b", "ok"); 3]);
}

#[test]
fn links_of_an_edit_survive_a_restart_without_the_cms() {
    let content = Content::default();
    put(&content, "a", "a", "[x](/en/articles/a)");
    let cms = content.start();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("store.redb").to_str().unwrap().to_owned();
    let start = || setup(&cms).env("FRONTEND_MAP__STORE__PATH", &path).start();
    let mut service = start();
    until_verdicts(&service, &[("/en/articles/a", "ok")]);
    put(&content, "a", "a", "[x](/en/articles/b)");
    event(&service, "publish", "a");
    until_verdicts(&service, &[("/en/articles/b", "no_such_page")]);
    assert_eq!(service.signal("TERM"), Some(0));
    content.close();
    let service = start();
    until_verdicts(&service, &[("/en/articles/b", "no_such_page")]);
}

#[test]
fn number_of_links_that_are_left_out_follows_an_edit() {
    let content = Content::default();
    let long = format!("[x](/en/{})", "y".repeat(3_000));
    put(&content, "a", "a", &long);
    let cms = content.start();
    let service = setup(&cms).start();
    let is_left_out = |count: u64| {
        let response = http::get(service.addr(), LINKS);
        response.status == 200 && response.json()["data"]["leftOut"] == count
    };
    until_so("one is left out", || is_left_out(1));
    put(&content, "a", "a", "");
    event(&service, "publish", "a");
    until_so("none is left out", || is_left_out(0));
    put(&content, "b", "b", &[&*long, &long].concat());
    event(&service, "publish", "b");
    until_so("two are left out", || is_left_out(2));
}

#[test]
fn scan_of_former_settings_ends_with_the_reload() {
    let content = Content::default();
    put(&content, "a", "a", "[x](/en/articles/a)");
    let cms = content.start();
    let settings = |fields: &str| {
        let fields = format!("[[site.links]]\ncontent_type = \"{UID}\"\nfields = [{fields}]\n");
        articles().resolve("documents").with(&fields).strapi(&cms)
    };
    content.fail(|target| {
        // The answer to the former settings never comes.
        let is_former = is_for_content(target) && !target.contains("zone");
        is_former.then(|| Script { acts: vec![Act::Silence] })
    });
    let setup = settings("\"body\"").env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true");
    let service = setup.start();
    until_so("the scan is in flight", || requests_for_content(&cms) > 0);
    service.rewrite("settings.toml", &settings("\"body\", \"zone.text\"").toml());
    service.send_signal("HUP");
    until_verdicts(&service, &[("/en/articles/a", "ok")]);
    // It was ended, and did not wait until the CMS's response was overdue.
    assert!(!service.log().contains("links in content could not be read"), "{}", service.log());
}

//! Who owns a path that several documents have, and which operations tell it (D22).

use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use serde_json::{Value, json};

use crate::support::api::{data, get, version};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{refusal, urls};
use crate::support::hook::{SECRET, post_body};
use crate::support::redis::Redis;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::{until, until_so};

const PAGE: &str = "api::page.page";
/// A request for dates of creation.
const DATES: &str = "=createdAt";

fn settings(cms: &Cms, resolve: &str, locales: &[&str]) -> Settings {
    site("main")
        .front_end_url("https://x.example")
        .locales(locales)
        .resolve(resolve)
        .rule(PAGE, "/{slug}")
        .strapi(cms)
}

fn setup(settings: &Settings, store: Option<&Path>) -> Setup {
    let setup = settings
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "0");
    match store {
        Some(store) => setup.env("FRONTEND_MAP__STORE__PATH", store.to_str().expect("UTF-8")),
        None => setup,
    }
}

fn started(setup: Setup) -> Service {
    let service = setup.start();
    until_so("the first walk", || get(&service, LIST).status == 200);
    service
}

fn start(cms: &Cms, resolve: &str, store: Option<&Path>) -> Service {
    started(setup(&settings(cms, resolve, LOCALES), store))
}

const LOCALES: &[&str] = &["en", "de"];
/// Other settings, in which the locales have other positions.
const OTHER_LOCALES: &[&str] = &["fr", "de", "en"];

const LIST: &str = "/api/build-sitemap?site=main&contentType=api::page.page";

/// Publishes a page with a date of creation.
fn publish(content: &Content, locale: &str, id: &str, slug: &str, created: &str) {
    content.put(locale, id, &format!(r#","slug":"{slug}","createdAt":"{created}""#));
}

/// The webhook about a document; without one, about any.
fn report(service: &Service, id: Option<&str>) {
    let body = id.map_or_else(String::new, |id| {
        format!(
            r#"{{"event":"entry.publish","model":"page","uid":"{PAGE}","entry":{{"documentId":"{id}"}}}}"#
        )
    });
    let response = post_body(service, body.as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
}

/// The document that a path opens.
fn owner(service: &Service, path: &str) -> Value {
    data(service, &format!("/api/resolve?site=main&pathname={path}"))["documentId"].clone()
}

/// How often dates of creation were requested.
fn date_requests(cms: &Cms) -> usize {
    cms.targets().iter().filter(|target| target.contains(DATES)).count()
}

const OLD: &str = "2024-01-01T00:00:00.000Z";
const NEW: &str = "2024-01-01T00:00:00.001Z";

#[test]
fn document_that_was_created_first_owns_a_path_that_is_new() {
    let content = Content::default();
    publish(&content, "en", "a", "x", NEW);
    publish(&content, "de", "b", "x", OLD);
    publish(&content, "en", "c", "y", NEW);
    let cms = content.start();
    let service = start(&cms, "documents", None);
    assert_eq!(owner(&service, "/x"), "b");
    assert_eq!(date_requests(&cms), 2, "one for each locale");
    assert!(cms.targets().iter().all(|target| !target.contains(DATES) || !target.contains("=c&")));
}

#[test]
fn hidden_refused_and_unreadable_dates_leave_the_decision_to_locale_and_id() {
    let faults: [fn(&Content); 3] = [
        |content| content.publish("en", "b", "x"),
        |content| {
            content.fail(|target| {
                let details = r#"{"key":"createdAt","source":"query","param":"fields"}"#;
                target.contains(DATES).then(|| refusal(400, "ValidationError", details))
            });
        },
        |content| {
            content.fail(|target| {
                target.contains(DATES).then(|| refusal(403, "ForbiddenError", "{}"))
            });
        },
    ];
    for (at, fault) in faults.into_iter().enumerate() {
        let content = Content::new(&[("en", "a", "x"), ("de", "0", "x")]);
        // It would be first.
        publish(&content, "en", "b", "x", OLD);
        fault(&content);
        let cms = content.start();
        let service = start(&cms, "documents", None);
        assert_eq!(owner(&service, "/x"), "a", "fault {at}");
        assert!(date_requests(&cms) > 0, "fault {at}");
        assert!(!service.log().contains("WARN frontend_map_cms"), "fault {at}: {}", service.log());
    }
}

#[test]
fn dates_that_do_not_arrive_in_two_seconds_together_leave_the_decision_to_locale_and_id() {
    let content = Content::default();
    for (locale, slug) in [("en", "x"), ("de", "y")] {
        publish(&content, locale, &format!("{slug}1"), slug, NEW);
        publish(&content, locale, &format!("{slug}2"), slug, OLD);
    }
    // Each of two responses is in time by itself; together they are not.
    let requests = AtomicUsize::new(0);
    content.fail(move |target| {
        if target.contains(DATES) {
            let is_first = requests.fetch_add(1, Ordering::Relaxed) == 0;
            std::thread::sleep(Duration::from_millis(if is_first { 700 } else { 1_900 }));
        }
        None
    });
    let cms = content.start();
    let service = start(&cms, "documents", None);
    assert_eq!(owner(&service, "/x"), "x2");
    assert_eq!(owner(&service, "/y"), "y1");
    assert_eq!(date_requests(&cms), 2);
}

#[test]
fn draft_never_takes_the_path_of_a_published_document() {
    let row = |id: &str, slug: &str, created: &str, status: &str| json!({"documentId": id, "locale": "en", "slug": slug, "createdAt": created, "status": status});
    // Each draft would be first: one of a document of its own, and one of a published document.
    let rows = [
        row("a", "x", OLD, "draft"),
        row("b", "b", OLD, "published"),
        row("b", "x", OLD, "draft"),
        row("m", "x", NEW, "published"),
    ];
    let content = json!({ PAGE: rows }).to_string();
    let service = site("main")
        .front_end_url("https://x.example")
        .resolve("documents")
        .rule(PAGE, "/{slug}")
        .files(&content)
        .start();
    let list = get(&service, LIST);
    assert_eq!(urls(&list), ["https://x.example/b", "https://x.example/x"]);
    assert_eq!(owner(&service, "/x"), "m");
    let target = format!("/api/frontend-urls?uid={PAGE}&documentId=m,b,a");
    let results = &data(&service, &target)["results"];
    assert_eq!(results[0]["path"], "/x");
    assert_eq!(results[0].get("sharedPath"), None);
    assert_eq!(results[1]["path"], "/b");
    assert_eq!(results[2].get("path"), None);
    let draft = format!("/api/frontend-url?uid={PAGE}&documentId=a&status=draft&details=true");
    assert_eq!(data(&service, &draft)["path"], "/x");
    assert_eq!(data(&service, &draft)["sharedPath"]["owner"]["documentId"], "m");
    // Nor do they when they have been read.
    data(&service, "/api/resolve?site=main&pathname=/x&status=draft");
    assert_eq!(owner(&service, "/x"), "m");
}

#[test]
fn live_page_keeps_its_path_over_updates_walks_and_restarts_with_a_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let content = Content::default();
    publish(&content, "en", "m", "x", NEW);
    let cms = content.start();
    let mut service = start(&cms, "documents", Some(&store));
    assert_eq!(owner(&service, "/x"), "m");
    // Each was created before it, and has a smaller id.
    for (n, id) in ["a", "b", "c"].into_iter().enumerate() {
        publish(&content, "en", id, "x", OLD);
        // A document of its own shows that the update or the walk is over.
        let sign = format!("sign{n}");
        publish(&content, "en", &sign, &sign, NEW);
        let told: &[Option<&str>] = match n {
            0 => &[Some(id), Some("sign0")],
            1 => &[None],
            _ => {
                assert_eq!(service.signal("TERM"), Some(0));
                service = start(&cms, "documents", Some(&store));
                &[None]
            }
        };
        for id in told {
            report(&service, *id);
        }
        until_so("the sign", || owner(&service, &format!("/{sign}")) == sign.as_str());
        until_so("the duplicate", || {
            let target = format!("/api/frontend-urls?uid={PAGE}&documentId={id}");
            data(&service, &target)["results"][0]["sharedPath"]["owner"]["documentId"] == "m"
        });
        assert_eq!(owner(&service, "/x"), "m", "after {id}");
    }
    assert_eq!(date_requests(&cms), 0, "an owner needs no date");
    // Once it is gone, the oldest of the others owns the path, and keeps it when the page is back.
    publish(&content, "en", "b", "x", "2023-01-01T00:00:00.000Z");
    content.unpublish("en", "m");
    report(&service, Some("m"));
    until_so("the next owner", || owner(&service, "/x") == "b");
    publish(&content, "en", "m", "x", NEW);
    publish(&content, "en", "end", "end", NEW);
    report(&service, Some("m"));
    report(&service, Some("end"));
    until_so("the end", || owner(&service, "/end") == "end");
    assert_eq!(owner(&service, "/x"), "b");
}

/// The document that these ones name as the owner of their path, as soon as one of them does.
#[track_caller]
fn owner_of(service: &Service, ids: &str) -> String {
    let target = format!("/api/frontend-urls?uid={PAGE}&locale=en&documentId={ids}");
    until("an owner of a shared path", || {
        let data = data(service, &target);
        let owner =
            |row: &Value| Some(row["sharedPath"]["owner"]["documentId"].as_str()?.to_owned());
        data["results"].as_array()?.iter().find_map(owner)
    })
}

#[test]
fn live_page_keeps_its_path_when_the_settings_change_at_a_reload_or_at_a_restart_with_a_store() {
    for resolve in ["documents", "rules"] {
        let folder = tempfile::tempdir().expect("a temporary folder");
        let store = folder.path().join("store.redb");
        let content = Content::default();
        publish(&content, "en", "m", "x", NEW);
        let cms = content.start();
        let mut service = start(&cms, resolve, Some(&store));
        // The first walk by other settings finds it.
        publish(&content, "en", "a", "x", OLD);
        service.rewrite("settings.toml", &settings(&cms, resolve, OTHER_LOCALES).toml());
        service.send_signal("HUP");
        assert_eq!(owner_of(&service, "a,m"), "m", "{resolve}");
        assert_eq!(service.signal("TERM"), Some(0));
        publish(&content, "en", "b", "x", OLD);
        let service = start(&cms, resolve, Some(&store));
        assert_eq!(owner_of(&service, "b"), "m", "{resolve}");
        assert_eq!(owner_of(&service, "a"), "m", "{resolve}");
    }
}

#[test]
fn live_page_comes_first_at_the_path_to_which_all_documents_of_its_path_move() {
    let content = Content::default();
    publish(&content, "en", "m", "x", NEW);
    let cms = content.start();
    let service = start(&cms, "documents", None);
    publish(&content, "en", "a", "x", OLD);
    report(&service, Some("a"));
    assert_eq!(owner_of(&service, "a"), "m");
    // As if a part of the path that both have were renamed.
    for (id, created) in [("a", OLD), ("m", NEW)] {
        publish(&content, "en", id, "y", created);
    }
    report(&service, None);
    // Until the first walk by new settings has ended, the response is a 503.
    let resolved = |path: &str| {
        until("a response", || {
            let response = get(&service, &format!("/api/resolve?site=main&pathname={path}"));
            (response.status == 200).then(|| response.json()["data"].clone())
        })
    };
    let owner_at =
        |path: &str| until("an owner", || resolved(path)["documentId"].as_str().map(str::to_owned));
    assert_eq!(owner_at("/y"), "m");
    let new = settings(&cms, "documents", LOCALES).toml().replace("/{slug}", "/new/{slug}");
    service.rewrite("settings.toml", &new);
    service.send_signal("HUP");
    assert_eq!(owner_at("/new/y"), "m");
    for former in ["/x", "/y"] {
        assert_eq!(resolved(former)["redirect"]["path"], "/new/y");
    }
}

#[test]
fn live_page_has_its_path_again_after_a_start_while_another_process_has_the_store() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let store = folder.path().join("store.redb");
    let content = Content::default();
    publish(&content, "en", "m", "x", NEW);
    publish(&content, "en", "p", "y", NEW);
    let cms = content.start();
    let mut first = start(&cms, "documents", Some(&store));
    publish(&content, "en", "a", "x", OLD);
    let second = start(&cms, "documents", Some(&store));
    assert!(second.logs("another process has the store"));
    assert_eq!(owner_of(&second, "a,m"), "a", "it goes by the dates of creation");
    // A clash that the first process does not hear of.
    publish(&content, "en", "q", "y", OLD);
    report(&second, Some("q"));
    assert_eq!(owner_of(&second, "q,p"), "p");
    assert_eq!(first.signal("TERM"), Some(0));
    until_so("the former owner", || owner(&second, "/x") == "m");
    assert_eq!(owner(&second, "/y"), "p");
}

#[test]
fn live_page_keeps_its_path_when_instances_without_a_store_get_other_settings() {
    let (content, redis) = (Content::default(), Redis::start());
    publish(&content, "en", "m", "x", NEW);
    let cms = content.start();
    let start = |locales: &[&str]| {
        let setup = setup(&settings(&cms, "rules", locales), None);
        started(setup.env("FRONTEND_MAP__SHARED__URL", &redis.url()))
    };
    let first = start(LOCALES);
    until_so("its list is published", || version(&first).is_some());
    publish(&content, "en", "a", "x", OLD);
    let mut second = start(OTHER_LOCALES);
    assert_eq!(owner_of(&second, "a,m"), "m");
    drop(first);
    // A page of which the first settings know nothing.
    let before = until("its list is published", || version(&second));
    publish(&content, "en", "p", "y", NEW);
    report(&second, Some("p"));
    until_so("it is published", || version(&second) > Some(before));
    assert_eq!(second.signal("TERM"), Some(0));
    publish(&content, "en", "q", "y", OLD);
    let third = start(LOCALES);
    assert_eq!(owner_of(&third, "q,p"), "p", "after the former settings came back");
    assert_eq!(owner_of(&third, "a,m"), "m");
}

/// Writes a foreign value at a key.
type Write = fn(&Redis, &str);

#[test]
fn foreign_value_in_place_of_the_name_of_the_last_list_is_reported_and_replaced() {
    let foreign: [(&str, Write); 3] = [
        ("another program has written a key of the fleet", |redis, key| {
            let _: String = redis.command(&["SET", key, "x"]);
        }),
        ("the snapshot that other settings have published could not be read", |redis, key| {
            redis.set_field(key, "list", b"x");
        }),
        ("another program has written a key of the fleet", |redis, key| {
            redis.set_field(key, "list", "x".repeat(100_000).as_bytes());
        }),
    ];
    for (logged, write) in foreign {
        let (content, redis) = (Content::default(), Redis::start());
        publish(&content, "en", "m", "x", NEW);
        let cms = content.start();
        let start = |locales: &[&str]| {
            let setup = setup(&settings(&cms, "documents", locales), None);
            started(setup.env("FRONTEND_MAP__SHARED__URL", &redis.url()))
        };
        let first = start(LOCALES);
        let key = until("the name", || redis.keys("frontend-map:2:newest:*").into_iter().next());
        let sealed = || redis.try_command::<Vec<u8>>(&["HGET", &key, "list"]).unwrap_or_default();
        let before = sealed();
        drop(first);
        write(&redis, &key);
        publish(&content, "en", "a", "x", OLD);
        let second = start(OTHER_LOCALES);
        assert!(second.logs(logged), "{}", second.log());
        assert_eq!(owner(&second, "/x"), "a", "the date decides");
        until_so("the name of the new list", || {
            let now = sealed();
            now.len() > 32 && now.len() < 1_000 && now != before
        });
    }
}

#[test]
fn operations_name_the_owner_for_another_document_alone() {
    for resolve in ["documents", "rules"] {
        let content = Content::default();
        publish(&content, "en", "a", "x", OLD);
        publish(&content, "de", "a", "x", OLD);
        publish(&content, "en", "b", "x", NEW);
        let cms = content.start();
        let service = start(&cms, resolve, None);
        let shared = json!({"owner": {"contentType": PAGE, "documentId": "a", "locale": "en"}});
        let target = format!("uid={PAGE}&documentId");
        let results = &data(&service, &format!("/api/frontend-urls?{target}=a,b"))["results"];
        assert_eq!(results[0].get("sharedPath"), None);
        assert_eq!(results[1]["sharedPath"], shared);
        let german = data(&service, &format!("/api/frontend-urls?{target}=a&locale=de"));
        assert_eq!(german["results"][0].get("sharedPath"), None, "the owner is the same document");
        let one = format!("/api/frontend-url?{target}=b");
        let bare = json!({"url": "https://x.example/x", "path": "/x"});
        assert_eq!(data(&service, &one), bare);
        assert_eq!(data(&service, &format!("{one}&details=false")), bare);
        let detailed = json!({"url": "https://x.example/x", "path": "/x", "sharedPath": shared});
        assert_eq!(data(&service, &format!("{one}&details=true")), detailed);
        let owner = format!("/api/frontend-url?{target}=a&details=true");
        assert_eq!(data(&service, &owner), bare);
        assert_eq!(get(&service, &format!("{one}&details=yes")).status, 400);
        if resolve == "documents" {
            let found = data(&service, &format!("/api/resolve?{target}=b"));
            assert_eq!((&found["documentId"], &found["sharedPath"]), (&json!("b"), &shared));
            let other = format!("/api/resolve?{target}=b&details=yes");
            assert_eq!(get(&service, &other).status, 200, "no parameter of this route");
            let found = data(&service, &format!("/api/resolve?{target}=a"));
            assert_eq!(found.get("sharedPath"), None);
        }
    }
}

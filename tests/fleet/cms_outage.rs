//! `/api/frontend-url` on instances that have adopted their snapshots, while the CMS fails: what the
//! snapshot has, but no document that may have been withdrawn since.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::instances::{UID, changed, instance, role, send_event, serves};
use crate::support::cms::Cms;
use crate::support::content::{Content, selected};
use crate::support::front_of_cms::{SITEMAP, assert_failure, refusal};
use crate::support::hook::post_body;
use crate::support::http::{self, Response};
use crate::support::redis::Redis;
use crate::support::script::Script;
use crate::support::service::Service;
use crate::support::wait::until_so;

const STREAM: &str = "frontend-map:2:events";
const BY_NO_NAME: &[u8] = br#"{"event":"entry.unpublish","model":"article"}"#;

/// A quiet site with the documents `a` and `b`, and the instance that leads.
struct Site {
    content: Content,
    cms: Cms,
    redis: Redis,
    leader: Service,
}

impl Site {
    fn start() -> Self {
        let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
        let (cms, redis) = (content.start(), Redis::start());
        let leader = instance(&cms, &redis).start();
        serves(&leader, &["x", "y"]);
        until_so("it leads", || role(&leader) == "leader");
        until_so("it has published", || !redis.keys("frontend-map:2:list:*").is_empty());
        Self { content, cms, redis, leader }
    }

    /// Another instance, which has adopted the snapshot.
    fn another(&self) -> Service {
        let another = instance(&self.cms, &self.redis).start();
        // In an outage, the list is a 503 until then.
        until_so("it adopts", || http::get(another.addr(), SITEMAP).status == 200);
        serves(&another, &["x", "y"]);
        another
    }

    fn fail(&self) {
        self.content.fail(|_| Some(unavailable()));
    }
}

fn unavailable() -> Script {
    refusal(503, "ServiceUnavailableError", "{}")
}

fn ask(service: &Service, id: &str) -> Response {
    http::get(service.addr(), &format!("/api/frontend-url?uid={UID}&documentId={id}"))
}

#[track_caller]
fn is_of_snapshot(service: &Service, id: &str, path: &str) {
    let response = ask(service, id);
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.json()["data"]["path"], path);
    let mark = "frontend-map; hit; detail=\"the CMS fails\"";
    assert_eq!(response.header("cache-status").as_deref(), Some(mark));
    assert!(response.header("age").is_some_and(|age| age.parse::<u64>().is_ok()));
}

#[track_caller]
fn is_unavailable(service: &Service, id: &str) {
    assert_failure(&ask(service, id), 503, "ServiceUnavailableError");
}

#[test]
fn instance_that_started_after_the_publication_falls_back_to_the_snapshot() {
    let site = Site::start();
    let another = site.another();
    assert_eq!(role(&another), "follower");
    site.fail();
    for service in [&site.leader, &another] {
        is_of_snapshot(service, "a", "/en/articles/x");
        is_of_snapshot(service, "b", "/en/articles/y");
    }
    // So does one that starts in the outage.
    let last = site.another();
    is_of_snapshot(&last, "a", "/en/articles/x");
    is_of_snapshot(&last, "b", "/en/articles/y");
}

#[test]
fn document_that_was_withdrawn_before_the_start_of_an_instance_is_not_shown_by_it() {
    let site = Site::start();
    site.fail();
    send_event(&site.leader, "entry.unpublish", "a");
    let another = site.another();
    for service in [&site.leader, &another] {
        is_unavailable(service, "a");
        is_of_snapshot(service, "b", "/en/articles/y");
    }
    // It may be about any document.
    assert!(post_body(&site.leader, BY_NO_NAME).starts_with("HTTP/1.1 202 "));
    let last = site.another();
    for id in ["a", "b"] {
        until_so("it is applied", || ask(&another, id).status == 503);
        is_unavailable(&last, id);
    }
}

#[test]
fn no_document_is_shown_by_an_instance_that_cannot_read_the_events_before_its_start() {
    let cuts: [fn(&Redis); 3] = [
        |redis| {
            let _: usize = redis.command(&["XTRIM", STREAM, "MAXLEN", "1"]);
        },
        |redis| {
            let _: usize = redis.command(&["DEL", STREAM]);
        },
        Redis::flush,
    ];
    for cut in cuts {
        let site = Site::start();
        site.fail();
        send_event(&site.leader, "entry.unpublish", "a");
        until_so("it is applied", || ask(&site.leader, "a").status == 503);
        send_event(&site.leader, "entry.publish", "c");
        cut(&site.redis);
        let another = site.another();
        is_unavailable(&another, "a");
        is_unavailable(&another, "b");
    }
}

#[test]
fn version_that_is_published_after_a_withdrawal_does_not_bring_the_document_back() {
    let site = Site::start();
    let another = site.another();
    // The read of `b` is in flight when `a` is withdrawn, and nothing can be read after it.
    let held = Arc::new(AtomicBool::new(true));
    let is_held = Arc::clone(&held);
    let is_of_b = |target: &str| selected(target).iter().any(|id| id == "b");
    site.content.fail(move |target| {
        until_so("it is released", || !is_held.load(Ordering::Relaxed));
        (!is_of_b(target)).then(unavailable)
    });
    site.content.publish("en", "b", "z");
    changed(&site.leader, "b");
    until_so("its read begins", || site.cms.targets().iter().any(|target| is_of_b(target)));
    send_event(&site.leader, "entry.unpublish", "a");
    held.store(false, Ordering::Relaxed);
    for service in [&site.leader, &another] {
        serves(service, &["x", "z"]);
        is_unavailable(service, "a");
        is_of_snapshot(service, "b", "/en/articles/z");
    }
}

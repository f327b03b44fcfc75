//! Webhooks of the CMS: one instance receives an event, and all apply it.

use super::instances::{Instances, UID, all_serve, changed, send_event, serves};
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::wait::until_so;

const AGAIN: &str = "list lost most of its URLs; reading again to confirm";
const ALONE: &str = "Redis does not return events of the CMS";

#[test]
fn document_of_an_event_is_read_once_and_reaches_all_instances() {
    let instances = Instances::start(3, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    instances.leader();
    let walks = instances.walks();
    for (at, slug) in ["one", "two", "zero"].iter().enumerate() {
        let before = instances.reads("a");
        instances.content.publish("en", "a", slug);
        changed(&instances.all[at], "a");
        let mut expected = [*slug, "y"];
        expected.sort_unstable();
        all_serve(&instances.all, &expected);
        assert_eq!(instances.reads("a"), before + 1, "by the event to instance {at}");
    }
    assert_eq!(instances.walks(), walks, "without a walk");
}

#[test]
fn withdrawal_that_another_instance_has_received_explains_a_list_that_collapses() {
    let instances = Instances::start(2, &Content::many(&["en"], 120));
    let (leader, follower) = (instances.leader(), instances.follower());
    (0..120).for_each(|n| instances.content.unpublish("en", &format!("d{n:05}")));
    // It names no document.
    let event = br#"{"event":"entry.unpublish","model":"article"}"#;
    let answer = crate::support::hook::post_body(&instances.all[follower], event);
    assert!(answer.starts_with("HTTP/1.1 202 "));
    all_serve(&instances.all, &[]);
    assert!(!instances.all[leader].log().contains(AGAIN), "one walk is enough");
}

#[test]
fn list_that_collapses_without_an_event_is_confirmed_by_the_leader() {
    let instances = Instances::start(2, &Content::many(&["en"], 120));
    let (leader, walks) = (instances.leader(), instances.walks());
    (0..120).for_each(|n| instances.content.unpublish("en", &format!("d{n:05}")));
    let event = br#"{"event":"entry.publish","model":"article"}"#;
    let answer = crate::support::hook::post_body(&instances.all[1 - leader], event);
    assert!(answer.starts_with("HTTP/1.1 202 "));
    all_serve(&instances.all, &[]);
    assert_eq!(instances.walks(), walks + 2);
    assert!(instances.all[leader].log().contains(AGAIN));
}

#[test]
fn events_to_all_instances_at_once_reach_all_of_them() {
    let instances = Instances::start(3, &Content::many(&["en"], 60));
    instances.leader();
    for n in 0..60 {
        let id = format!("d{n:05}");
        instances.content.publish("en", &id, &format!("new{n}"));
        changed(&instances.all[n % 3], &id);
    }
    let mut expected: Vec<String> = (0..60).map(|n| format!("new{n}")).collect();
    expected.sort();
    instances.agree(&expected);
}

#[test]
fn withdrawn_document_leaves_the_lists_of_all_instances() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    let follower = instances.follower();
    instances.content.unpublish("en", "a");
    send_event(&instances.all[follower], "entry.unpublish", "a");
    all_serve(&instances.all, &["y"]);
}

#[test]
fn event_during_a_walk_of_the_leader_is_in_the_list_that_all_get() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let follower = instances.follower();
    instances.content.close();
    let event = br#"{"event":"entry.publish","model":"article"}"#;
    assert!(crate::support::hook::post_body(&instances.all[follower], event).contains("202"));
    let before = instances.walks();
    until_so("the walk begins", || instances.walks() > before - 1);
    instances.content.publish("en", "a", "z");
    changed(&instances.all[follower], "a");
    instances.content.open();
    all_serve(&instances.all, &["z"]);
    serves(&instances.all[follower], &["z"]);
}

#[test]
fn event_that_redis_refuses_is_applied_by_its_receiver_with_one_warning() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    let leader = instances.leader();
    let _: String = instances.redis.command(&["ACL", "SETUSER", "default", "-xadd"]);
    for slug in ["one", "two"] {
        instances.content.publish("en", "a", slug);
        changed(&instances.all[leader], "a");
        serves(&instances.all[leader], &[slug, "y"]);
    }
    let warnings = instances.all[leader].log().matches(ALONE).count();
    assert_eq!(warnings, 1, "{}", instances.all[leader].log());
    let _: String = instances.redis.command(&["ACL", "SETUSER", "default", "+xadd"]);
    all_serve(&instances.all, &["two", "y"]);
}

#[test]
fn change_that_a_probe_finds_replaces_the_last_good_responses_of_all_instances() {
    let content = Content::default();
    let put = |slug: &str, second: u32| {
        let fields =
            format!(r#","publishedAt":"2026-01-01T00:00:{second:02}.000Z","slug":"{slug}""#);
        content.put("en", "a", &fields);
    };
    put("old", 1);
    let instances = Instances::start(2, &content);
    changed(&instances.all[instances.leader()], "x");
    until_so("the first probe", || instances.cms.probes() > 0);
    let path = |service| {
        let response = http::get(service, &format!("/api/frontend-url?uid={UID}&documentId=a"));
        response.json()["data"]["path"].as_str().map(str::to_owned)
    };
    for service in &instances.all {
        assert_eq!(path(service.addr()).as_deref(), Some("/en/articles/old"));
    }
    put("new", 2);
    all_serve(&instances.all, &["new"]);
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
    for service in &instances.all {
        assert_eq!(path(service.addr()).as_deref(), Some("/en/articles/new"));
    }
}

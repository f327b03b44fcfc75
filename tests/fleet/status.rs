//! What `/readyz` and `/metrics` of the admin listener show of Redis and of each list.

#![expect(clippy::float_cmp, reason = "these gauges and counters are whole numbers")]

use serde_json::{Value, json};

use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::service::Service;
use crate::support::wait::until_so;

use super::instances::{Instances, changed};

fn ready(service: &Service) -> (u16, Value) {
    let answer = http::get(service.admin(), "/readyz");
    (answer.status, answer.json())
}

/// What `/readyz` says about Redis, and about the list.
fn shown(service: &Service) -> (Value, Value) {
    let (status, mut ready) = ready(service);
    assert_eq!(status, 200, "{ready}");
    (ready["shared"].take(), ready["contentTypes"][0]["shared"].take())
}

/// Takes a member that is a number of at least 0.
#[track_caller]
fn take_number(object: &mut Value, member: &str) -> f64 {
    let number = object[member].take().as_f64().unwrap_or(-1.0);
    assert!(number >= 0.0, "{member}: {number}");
    number
}

/// Two instances that have shared an edit: its adoption has a lag.
fn after_an_edit() -> Instances {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    instances.content.publish("en", "a", "y");
    changed(&instances.all[leader], "a");
    instances.agree(&["y".to_owned()]);
    for service in &instances.all {
        until_so("both instances are seen", || shown(service).0["instances"] == 2);
    }
    instances
}

#[test]
fn readyz_shows_redis_and_the_role_of_each_instance() {
    let instances = after_an_edit();
    let (leader, follower) = (instances.leader(), instances.follower());
    for at in [leader, follower] {
        let (mut client, mut list) = shown(&instances.all[at]);
        take_number(&mut client, "seconds");
        let expected = json!({"state": "available", "problem": null, "seconds": null, "instances": 2,
            "urlChecks": {"inFlight": 0, "waiting": 0}});
        assert_eq!(client, expected);
        assert!(list["version"].take().as_u64() >= Some(1), "{list}");
        if at == leader {
            take_number(&mut list, "leaseSeconds");
            assert_eq!(list["role"], "leader");
        } else {
            take_number(&mut list, "lagSeconds");
            assert_eq!(list["role"], "follower");
            assert_eq!(list["leaseSeconds"], Value::Null);
        }
        assert_eq!(list["missingSeconds"], Value::Null);
    }
}

#[test]
fn version_of_all_instances_grows_with_an_edit() {
    let instances = after_an_edit();
    let version = |at: usize| shown(&instances.all[at]).1["version"].as_u64();
    let before = version(instances.leader());
    instances.content.publish("en", "a", "z");
    changed(&instances.all[instances.follower()], "a");
    instances.agree(&["z".to_owned()]);
    let leader = instances.leader();
    until_so("the version of the leader", || version(leader) > before);
    until_so("the same version on both", || version(0) == version(1));
}

#[test]
fn lost_redis_is_shown_and_leaves_the_instance_ready() {
    let mut instances = after_an_edit();
    instances.leader();
    instances.redis.kill();
    for service in &instances.all {
        until_so("Redis is unavailable", || shown(service).0["state"] == "unavailable");
        let (client, list) = shown(service);
        assert!(client["problem"].as_str().is_some_and(|problem| !problem.is_empty()), "{client}");
        assert_eq!(client["instances"], 2, "the last known number");
        assert_eq!((&list["role"], &list["leaseSeconds"]), (&json!("alone"), &Value::Null));
        let public = http::get(service.addr(), "/readyz");
        assert_eq!((public.status, public.text()), (200, "ready\n"));
    }
    assert!(instances.redis.restart());
    for service in &instances.all {
        until_so("Redis is available", || shown(service).0["state"] == "available");
    }
    instances.leader();
}

#[test]
fn instance_starts_ready_without_redis() {
    let content = Content::new(&[("en", "a", "x")]);
    let absent = crate::support::redis::Redis::absent();
    let instances = Instances::starting(1, &content, absent);
    instances.agree(&["x".to_owned()]);
    let (client, list) = shown(&instances.all[0]);
    assert!(["connecting", "unavailable"].map(Value::from).contains(&client["state"]), "{client}");
    assert_eq!(client["instances"], 1);
    assert_eq!((&list["role"], &list["version"]), (&json!("alone"), &Value::Null));
}

#[test]
fn metrics_show_roles_versions_and_the_use_of_redis() {
    let mut instances = after_an_edit();
    let (leader, follower) = (instances.leader(), instances.follower());
    let labels = "site=\"main\",content_type=\"plugin::cms.article\"";
    let list = |name: &str, at: usize| {
        scrape(instances.all[at].admin()).of(&format!("{name}{{{labels}}}"))
    };
    let role = |at: usize, role: &str| {
        scrape(instances.all[at].admin()).of(&format!("shared_role{{{labels},role=\"{role}\"}}"))
    };
    for (at, expected) in [(leader, [0.0, 1.0, 0.0]), (follower, [0.0, 0.0, 1.0])] {
        assert_eq!(["alone", "leader", "follower"].map(|name| role(at, name)), expected);
        assert!(list("shared_version", at) >= 1.0);
        assert_eq!(list("shared_missing_seconds", at), 0.0);
        let page = scrape(instances.all[at].admin());
        assert_eq!(page.of("redis_up"), 1.0);
        assert_eq!(page.of("shared_url_checks{state=\"in_flight\"}"), 0.0);
        assert_eq!(page.of("shared_url_checks{state=\"waiting\"}"), 0.0);
        assert_eq!(page.of("redis_sessions_total"), 1.0);
        assert_eq!(page.of("redis_refused_seals_total"), 0.0);
        for counter in ["commands", "heartbeats", "sent_bytes", "received_bytes"] {
            assert!(page.of(&format!("redis_{counter}_total")) >= 1.0, "{counter}");
        }
    }
    assert!(list("shared_lease_seconds", leader) >= 0.0);
    assert!(list("shared_lease_seconds", follower).is_nan());
    assert!(list("shared_lag_seconds", follower) >= 0.0);
    instances.redis.kill();
    let page = || scrape(instances.all[follower].admin());
    until_so("Redis is unavailable", || page().of("redis_up") == 0.0);
    until_so("commands fail", || {
        ["connection", "timeout", "unavailable"]
            .iter()
            .any(|kind| page().of(&format!("redis_errors_total{{kind=\"{kind}\"}}")) >= 1.0)
    });
}

#[test]
fn metrics_without_redis_show_that_there_is_none() {
    let service = articles().strapi_at("http://127.0.0.1:9").start();
    let page = scrape(service.admin());
    for gauge in ["redis_up", "shared_instances"] {
        assert!(page.of(gauge).is_nan(), "{gauge}");
    }
    let labels = "site=\"main\",content_type=\"plugin::cms.article\"";
    assert_eq!(page.of(&format!("shared_role{{{labels},role=\"alone\"}}")), 1.0);
    assert_eq!(page.of("redis_commands_total"), 0.0);
}

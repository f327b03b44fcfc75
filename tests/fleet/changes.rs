//! The change log that instances share: cursors, Redis unavailable, flushed and forged, two
//! settings.

mod deployments;
mod edits;
mod faults;
mod readers;
mod webhooks;

use serde_json::{Value, json};

use super::instances::{Instances, UID, all_serve, changed, instance, instance_of, serves};
use crate::support::content::Content;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::{until, until_so};
use readers::{brief, cursor, read, read_until};

fn renamed(id: &str, after: &str, before: &str) -> String {
    format!("moved {id} /en/articles/{after} /en/articles/{before}")
}

#[test]
fn cursor_of_one_instance_gives_the_same_changes_on_all() {
    let instances = Instances::start(3, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    let leader = instances.leader();
    let start = cursor(&instances.all[0]);
    for service in &instances.all {
        assert_eq!(cursor(service), start, "the log is one");
    }
    instances.content.publish("en", "a", "z");
    changed(&instances.all[(leader + 1) % 3], "a");
    all_serve(&instances.all, &["y", "z"]);
    instances.content.unpublish("en", "b");
    changed(&instances.all[leader], "b");
    let expected = [renamed("a", "z", "x"), "gone b /en/articles/y".to_owned()];
    let reads: Vec<Value> =
        instances.all.iter().map(|service| read_until(service, &start, &expected)).collect();
    for read in &reads {
        assert_eq!(
            (&read["changes"], &read["cursor"]),
            (&reads[0]["changes"], &reads[0]["cursor"])
        );
    }
    // A cursor in the middle of another instance.
    let last = reads[0]["cursor"].as_str().expect("text").to_owned();
    instances.content.publish("en", "c", "w");
    changed(&instances.all[leader], "c");
    for service in &instances.all {
        read_until(service, &last, &["added c /en/articles/w".to_owned()]);
    }
    // An instance that starts now has the same log.
    let late = instance(&instances.cms, &instances.redis).start();
    let all = [expected[0].clone(), expected[1].clone(), "added c /en/articles/w".to_owned()];
    read_until(&late, &start, &all);
}

#[test]
fn log_goes_on_as_a_branch_while_redis_is_unavailable() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    instances.content.publish("en", "a", "y");
    let start = cursor(&instances.all[0]);
    changed(&instances.all[0], "a");
    for service in &instances.all {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    let before = cursor(&instances.all[0]);
    instances.redis.pause();
    instances.are_alone();
    instances.content.publish("en", "a", "z");
    instances.all.iter().for_each(|service| _ = changed(service, "a"));
    let mut branches = Vec::new();
    for service in &instances.all {
        // Old cursors stay valid.
        let found = read_until(service, &start, &[renamed("a", "y", "x"), renamed("a", "z", "y")]);
        branches.push(found["cursor"].as_str().expect("text").to_owned());
    }
    assert_ne!(branches[0], branches[1], "each instance has a branch of its own");
    instances.redis.resume();
    instances.leader();
    for service in &instances.all {
        let found = read_until(service, &before, &[renamed("a", "z", "y")]);
        assert_eq!(found["reset"], false);
        for branch in &branches {
            until_so("a cursor of a branch is reset", || read(service, branch)["reset"] == true);
        }
    }
    // Each change is in the log once for the whole fleet.
    let all = [renamed("a", "y", "x"), renamed("a", "z", "y")];
    instances.content.publish("en", "b", "w");
    changed(&instances.all[1], "b");
    let all = [all[0].clone(), all[1].clone(), "added b /en/articles/w".to_owned()];
    for service in &instances.all {
        read_until(service, &start, &all);
    }
}

#[test]
fn flushed_redis_begins_one_new_log() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let start = cursor(&instances.all[0]);
    instances.redis.flush();
    let new = until("a new log", || {
        let found = read(&instances.all[0], &start);
        (found["reset"] == true).then(|| found["cursor"].as_str().expect("text").to_owned())
    });
    until_so("the same log on both", || cursor(&instances.all[1]) == new);
    instances.leader();
    instances.content.publish("en", "a", "y");
    changed(&instances.all[1], "a");
    for service in &instances.all {
        let found = read_until(service, &new, &[renamed("a", "y", "x")]);
        assert_eq!(found["reset"], false, "one reset is enough");
    }
}

/// The stream of the only site.
fn stream(redis: &Redis) -> String {
    redis.keys("*:changes:*").pop().expect("the stream of the site")
}

#[test]
fn healthy_first_start_of_a_fleet_logs_no_warning() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    let start = cursor(&instances.all[leader]);
    instances.content.publish("en", "a", "y");
    changed(&instances.all[leader], "a");
    for service in &instances.all {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    for service in &instances.all {
        let log = service.log();
        let of = |level| log.lines().filter(|line| line.contains(level)).collect::<Vec<_>>();
        assert_eq!([of("WARN"), of("ERROR")], [[""; 0]; 2]);
    }
    let has_begun = |service: &Service| service.log().contains("the shared change log begins");
    assert!(instances.all.iter().any(has_begun));
}

#[test]
fn damaged_changes_are_refused_and_readers_get_a_reset() {
    let instances = Instances::start(1, &Content::new(&[("en", "a", "x")]));
    let start = cursor(&instances.all[0]);
    instances.content.publish("en", "a", "y");
    changed(&instances.all[0], "a");
    read_until(&instances.all[0], &start, &[renamed("a", "y", "x")]);
    let redis = &instances.redis;
    let stream = stream(redis);
    let found: Vec<(String, Vec<Vec<u8>>)> = redis.command(&["XRANGE", &stream, "-", "+"]);
    let (id, _) = &found[0];
    let _: i64 = redis.command(&["DEL", &stream]);
    let _: String = redis.command(&["XADD", &stream, id, "c", "forged"]);
    // An instance that starts reads all of it.
    let late = instance(&instances.cms, redis).start();
    serves(&late, &["y"]);
    for service in [&late, &instances.all[0]] {
        until_so("a reset", || read(service, &start)["reset"] == true);
    }
    assert!(late.logs("the shared change log begins again"));
    let new = until("one log", || {
        let cursors = [&late, &instances.all[0]].map(cursor);
        (cursors[0] == cursors[1]).then(|| cursors[0].clone())
    });
    instances.content.publish("en", "a", "z");
    changed(&late, "a");
    for service in [&late, &instances.all[0]] {
        read_until(service, &new, &[renamed("a", "z", "y")]);
    }
}

#[test]
fn redis_that_has_lost_changes_begins_a_new_log() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let start = cursor(&instances.all[0]);
    let redis = &instances.redis;
    let log = redis.keys("*:log:*").pop().expect("the head of the log");
    let last: Vec<u8> = redis.command(&["HGET", &log, "last"]);
    instances.content.publish("en", "a", "y");
    changed(&instances.all[0], "a");
    for service in &instances.all {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    let after = cursor(&instances.all[0]);
    // As after a failover to a replica that lacks the last write.
    let stream = stream(redis);
    let _: i64 = redis.command(&["DEL", &stream]);
    redis.set_field(&log, "last", &last);
    instances.content.publish("en", "a", "z");
    changed(&instances.all[1], "a");
    all_serve(&instances.all, &["z"]);
    for service in &instances.all {
        until_so("a reset", || read(service, &after)["reset"] == true);
    }
}

#[test]
fn log_follows_one_of_two_settings_and_no_change_is_there_twice() {
    let mut instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let start = cursor(&instances.all[0]);
    // Instances with other settings for the same site, as in a rolling deployment.
    let other = || {
        let settings = site("main").rule(UID, "/{locale}/texts/{slug}").strapi(&instances.cms);
        instance_of(&settings, &instances.redis)
    };
    let new = [other().start(), other().start()];
    let texts = |service: &Service| {
        let pages = crate::support::http::get(service.addr(), "/api/pages?site=main");
        pages.text().contains("/texts/")
    };
    for service in &new {
        until_so("it has walked", || texts(service));
    }
    instances.content.publish("en", "a", "y");
    changed(&instances.all[0], "a");
    for service in instances.all.iter().chain(&new) {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    instances.all.clear();
    instances.content.publish("en", "a", "z");
    // The log of other settings ends with a reset, and the new one goes on.
    until_so("a reset", || {
        changed(&new[0], "a");
        read(&new[1], &start)["reset"] == true
    });
    let next = until("one log", || {
        let cursors = [&new[0], &new[1]].map(cursor);
        (cursors[0] == cursors[1]).then(|| cursors[0].clone())
    });
    instances.content.publish("en", "a", "w");
    changed(&new[1], "a");
    for service in &new {
        let found = until("the last change", || {
            let found = read(service, &next);
            let last = brief(&found).pop()?;
            last.starts_with("moved a /en/texts/w ").then_some(found)
        });
        assert_eq!(found["reset"], json!(false));
    }
}

#[test]
fn list_of_pages_with_a_cursor_has_all_changes_up_to_it() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    let [leader, follower] = [&instances.all[leader], &instances.all[1 - leader]];
    let pages =
        |cursor: &str| http::get(follower.addr(), &format!("/api/pages?site=main&cursor={cursor}"));
    let start = cursor(leader);
    // A cursor of a log that has ended gets a reset with the next changes.
    for known in [&*start, "00000000000000010"] {
        until("the list", || Some(pages(known)).filter(|list| list.status == 200));
    }
    let malformed = pages("1");
    assert_eq!(malformed.status, 400);
    assert!(malformed.text().contains("`cursor` must be one of `/api/changes`"));
    follower.send_signal("STOP");
    instances.content.publish("en", "a", "y");
    changed(leader, "a");
    let next = until("the change", || Some(cursor(leader)).filter(|next| *next != start));
    instances.redis.pause();
    follower.send_signal("CONT");
    let behind = pages(&next);
    assert_eq!(behind.status, 503, "{}", behind.text());
    assert_eq!(behind.header("retry-after").as_deref(), Some("1"));
    // It walks the CMS alone, and still cannot know what comes before the cursor.
    serves(follower, &["y"]);
    assert_eq!(pages(&next).status, 503);
    instances.redis.resume();
    let list = until("the list", || Some(pages(&next)).filter(|list| list.status == 200));
    assert!(list.text().contains("/en/articles/y\""), "{}", list.text());
}

//! A log that is lost or damaged, restored to an earlier state, or left by the instances that
//! recorded it.

use std::time::{Duration, Instant};

use xxhash_rust::xxh3::xxh3_128;

use super::readers::{brief, cursor, read, read_of, read_until};
use super::renamed;
use crate::instances::{
    Instances, UID, all_serve, changed, instance, instance_of, role, serves, walks,
};
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::{until, until_so};

/// Longer than two regular checks of the lease of a log.
const CHECKS: Duration = Duration::from_secs(11);
/// A cursor that no log has.
const UNKNOWN: &str = "00000000000000010";

/// The key of the head (`log`) or of the stream (`changes`) of a site's log.
fn key(redis: &Redis, kind: &str, site: &str) -> String {
    let pattern = format!("*:{kind}:{:032x}:*", xxh3_128(site.as_bytes()));
    redis.keys(&pattern).pop().unwrap_or_else(|| panic!("no key {pattern}"))
}

/// Another template for the same site, as in a rolling deployment.
fn other_rules(instances: &Instances) -> Settings {
    site("main").rule(UID, "/{locale}/texts/{slug}").strapi(&instances.cms)
}

/// An instance with other rules, which has walked.
fn with_other_rules(instances: &Instances) -> Service {
    let service = instance_of(&other_rules(instances), &instances.redis).start();
    until_so("it has walked", || lists(&service, "/texts/"));
    service
}

fn reload_with_other_rules(service: &Service, instances: &Instances) {
    service.rewrite("settings.toml", &other_rules(instances).toml());
    service.send_signal("HUP");
    until_so("the new rules", || lists(service, "/texts/"));
}

/// Whether a page has a path with this part.
fn lists(service: &Service, path: &str) -> bool {
    http::get(service.addr(), "/api/pages?site=main").text().contains(path)
}

/// The fields of an entry of a stream.
type Fields = Vec<(String, Vec<u8>)>;

/// The kinds of all events of the fleet.
fn events(redis: &Redis) -> Vec<String> {
    let key = redis.keys("*:events").pop().expect("the stream of events");
    let found: Vec<(String, Fields)> = redis.command(&["XRANGE", &key, "-", "+"]);
    let fields = found.into_iter().flat_map(|(_, fields)| fields);
    let kinds = fields.filter(|(name, _)| name == "kind");
    kinds.map(|(_, kind)| String::from_utf8_lossy(&kind).into_owned()).collect()
}

#[test]
fn log_that_one_instance_begins_again_is_announced_and_its_cursors_are_known_to_the_others() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let redis = &instances.redis;
    let before = cursor(&instances.all[0]);
    assert_eq!(cursor(&instances.all[1]), before);
    let announced = events(redis).iter().filter(|kind| *kind == "changes").count();
    for kind in ["log", "changes"] {
        if let Some(key) = redis.keys(&format!("*:{kind}:*")).pop() {
            let _: i64 = redis.command(&["DEL", &key]);
        }
    }
    let found = read(&instances.all[0], UNKNOWN);
    assert_eq!(found["reset"], true);
    let new = found["cursor"].as_str().expect("text");
    assert_ne!(new, before);
    // The other instance may not have read the event yet.
    assert_eq!(read(&instances.all[1], new)["reset"], false);
    until_so("the event", || {
        events(redis).iter().filter(|kind| *kind == "changes").count() > announced
    });
}

#[test]
fn log_begins_again_without_a_publication_when_the_instances_of_its_settings_are_gone() {
    let mut instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let start = cursor(&instances.all[0]);
    let new = [with_other_rules(&instances), with_other_rules(&instances)];
    instances.content.publish("en", "a", "y");
    changed(&new[0], "a");
    for service in instances.all.iter().chain(&new) {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    instances.all.clear();
    for service in &new {
        until_so("a reset", || read(service, &start)["reset"] == true);
    }
    let next = until("one log", || {
        let cursors = [&new[0], &new[1]].map(cursor);
        (cursors[0] == cursors[1]).then(|| cursors[0].clone())
    });
    instances.content.publish("en", "a", "z");
    changed(&new[1], "a");
    for service in &new {
        read_until(service, &next, &["moved a /en/texts/z /en/texts/y".to_owned()]);
    }
}

#[test]
fn rolling_change_of_rules_that_begins_with_the_leader_is_one_reset_at_its_end() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    let [first, last] = [&instances.all[leader], &instances.all[1 - leader]];
    let start = cursor(first);
    reload_with_other_rules(first, &instances);
    until_so("the other one leads", || role(last) == "leader");
    instances.content.publish("en", "a", "y");
    changed(last, "a");
    until_so("the new path", || lists(first, "/en/texts/y"));
    // Until the last instance has the new rules, a reader may get the pages from it: no regular check of
    // the lease ends the log.
    let begun = Instant::now();
    while begun.elapsed() < CHECKS {
        for service in [first, last] {
            read_until(service, &start, &[renamed("a", "y", "x")]);
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    let with_cursor = format!("/api/pages?site=main&cursor={start}");
    assert_eq!(http::get(first.addr(), &with_cursor).status, 503);
    reload_with_other_rules(last, &instances);
    for service in [first, last] {
        until_so("a reset", || read(service, &start)["reset"] == true);
    }
    let next = until("one log", || {
        let cursors = [first, last].map(cursor);
        (cursors[0] == cursors[1]).then(|| cursors[0].clone())
    });
    instances.content.publish("en", "a", "z");
    changed(first, "a");
    for service in [first, last] {
        read_until(service, &next, &["moved a /en/texts/z /en/texts/y".to_owned()]);
    }
}

/// An instance with a second site, whose pages have another path.
fn with_two_sites(instances: &Instances) -> Service {
    let settings = articles()
        .site("second")
        .front_end_url("https://second.example.com")
        .rule(UID, "/{locale}/texts/{slug}")
        .strapi(&instances.cms);
    instance_of(&settings, &instances.redis).start()
}

/// Damages a log by its head and its stream.
type Damage = fn(&Redis, &str, &str);

#[test]
fn foreign_values_in_the_log_of_a_site_end_it_and_delay_no_other_site() {
    let mut instances = Instances::starting(0, &Content::new(&[("en", "a", "s0")]), Redis::start());
    instances.all = (0..2).map(|_| with_two_sites(&instances)).collect();
    all_serve(&instances.all, &["s0"]);
    instances.leader();
    let redis = &instances.redis;
    let place = |site: &str| {
        let found = read_of(&instances.all[0], site, "");
        found["cursor"].as_str().expect("text").to_owned()
    };
    let of_another_type: Damage = |redis, log, _| {
        let _: i64 = redis.command(&["DEL", log]);
        let _: i64 = redis.command(&["RPUSH", log, "foreign"]);
    };
    let stream_of_another_type: Damage = |redis, _, stream| {
        let _: String = redis.command(&["SET", stream, "foreign"]);
    };
    let entry_after_all_others: Damage = |redis, _, stream| {
        let _: String = redis.command(&["XADD", stream, "9000000000-1", "c", "foreign"]);
    };
    let foreign_head: Damage = |redis, log, _| {
        let _: i64 = redis.command(&["HSET", log, "log", "foreign"]);
    };
    // The instances have read what was in the stream: without it, no change is lost.
    let all = [
        (of_another_type, true),
        (stream_of_another_type, false),
        (entry_after_all_others, true),
        (foreign_head, true),
    ];
    for (n, (damage, resets)) in (1..).zip(all) {
        let (main, second) = (place("main"), place("second"));
        instances.content.publish("en", "a", &format!("s{n}"));
        changed(&instances.all[0], "a");
        for service in &instances.all {
            until_so("the change in both logs", || {
                let count = |site: &str, since: &str| {
                    let found = read_of(service, site, since);
                    assert_eq!(found["reset"], false, "{site}, {n}: {}", service.log());
                    brief(&found).len()
                };
                (count("main", &main), count("second", &second)) == (1, 1)
            });
        }
        let main = place("main");
        damage(redis, &key(redis, "log", "main"), &key(redis, "changes", "main"));
        let (slug, before) = (format!("t{n}"), format!("s{n}"));
        instances.content.publish("en", "a", &slug);
        changed(&instances.all[1], "a");
        let expected = [
            format!("moved a /en/texts/s{n} /en/texts/{}", if n == 1 { "s0" } else { "u" }),
            format!("moved a /en/texts/{slug} /en/texts/{before}"),
        ];
        for service in &instances.all {
            until_so(&format!("the changes of the other site, {n}"), || {
                let found = read_of(service, "second", &second);
                assert_eq!(found["reset"], false);
                brief(&found) == expected
            });
            until_so(&format!("a reset of the damaged log or the change, {n}"), || {
                let found = read_of(service, "main", &main);
                assert!(resets || found["reset"] == false, "{n}: no change was lost");
                found["reset"] == true || brief(&found) == [renamed("a", &slug, &before)]
            });
        }
        let next = until("one log", || {
            let of = |service| read_of(service, "main", "")["cursor"].clone();
            let [one, other] = [of(&instances.all[0]), of(&instances.all[1])];
            (one == other).then(|| one.as_str().expect("text").to_owned())
        });
        instances.content.publish("en", "a", "u");
        changed(&instances.all[0], "a");
        for service in &instances.all {
            until_so(&format!("the log goes on, {n}"), || {
                brief(&read_of(service, "main", &next)).last() == Some(&renamed("a", "u", &slug))
            });
            // Otherwise the next cursor of the other site may be before this change.
            let last = format!("moved a /en/texts/u /en/texts/{slug}");
            until_so(&format!("the other log goes on, {n}"), || {
                brief(&read_of(service, "second", &second)).last() == Some(&last)
            });
        }
    }
}

#[test]
fn redis_that_was_restored_to_an_earlier_state_and_has_other_changes_begins_a_new_log() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let start = cursor(&instances.all[0]);
    let redis = &instances.redis;
    instances.content.publish("en", "a", "y");
    changed(&instances.all[0], "a");
    for service in &instances.all {
        read_until(service, &start, &[renamed("a", "y", "x")]);
    }
    // The state of a replica that gets no further writes.
    let parts = ["list", "deltas", "log", "changes"];
    let kept: Vec<String> =
        parts.iter().flat_map(|kind| redis.keys(&format!("*:{kind}:*"))).collect();
    for key in &kept {
        assert_eq!(redis.command::<i64>(&["COPY", key, &format!("replica {key}")]), 1);
    }
    instances.content.publish("en", "a", "z");
    changed(&instances.all[0], "a");
    for service in &instances.all {
        read_until(service, &start, &[renamed("a", "y", "x"), renamed("a", "z", "y")]);
    }
    let after = cursor(&instances.all[0]);
    instances.all.iter().for_each(|service| service.send_signal("STOP"));
    for key in &kept {
        let replica = format!("replica {key}");
        assert_eq!(redis.command::<i64>(&["COPY", &replica, key, "REPLACE"]), 1);
        let _: i64 = redis.command(&["DEL", &replica]);
    }
    // Another instance makes as many changes, and one more.
    let other = instance(&instances.cms, redis).start();
    for slug in ["v", "w"] {
        instances.content.publish("en", "a", slug);
        until_so("it leads, and has the change", || {
            changed(&other, "a");
            let found = read(&other, &start);
            found["reset"] == false
                && brief(&found).last().is_some_and(|last| last.contains(&format!("/{slug} ")))
        });
    }
    instances.all.iter().for_each(|service| service.send_signal("CONT"));
    for service in instances.all.iter().chain([&other]) {
        until_so("a reset", || read(service, &after)["reset"] == true);
        serves(service, &["w"]);
    }
    until_so("one log", || {
        let cursors: Vec<String> = instances.all.iter().chain([&other]).map(cursor).collect();
        cursors.iter().all(|cursor| *cursor == cursors[0])
    });
}

#[test]
fn log_with_many_foreign_fields_begins_again() {
    const FILL: &str =
        "for i = 1, 100000 do redis.call('HSET', KEYS[1], 'f' .. i, 'x') end return 1";
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    let redis = &instances.redis;
    let (key, before) = (key(redis, "log", "main"), cursor(&instances.all[0]));
    let _: i64 = redis.command(&["EVAL", FILL, "1", &key]);
    until_so("the foreign fields are removed", || redis.command::<i64>(&["HLEN", &key]) < 100);
    for service in &instances.all {
        until_so("a reset", || read(service, &before)["reset"] == true);
    }
    instances.content.publish("en", "a", "y");
    changed(&instances.all[leader], "a");
    all_serve(&instances.all, &["y"]);
}

/// Longer than two instances may differ about the time of a read.
const CLEARLY_LATER: Duration = Duration::from_millis(200);

#[test]
fn reader_that_begins_again_misses_no_change_that_the_instance_did_not_adopt() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let (cms, mut redis) = (content.start(), Redis::start());
    let start =
        |()| instance(&cms, &redis).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "60000").start();
    let all = [(); 2].map(start);
    let [first, second] = &all;
    all_serve(&all, &["x", "y"]);
    let before = walks(&cms);
    redis.kill();
    until_so("both are alone", || all.iter().all(|one| role(one) == "alone"));
    until_so("each has walked", || walks(&cms) == before + 2);
    // Each instance gets a change alone, the second one later.
    content.publish("en", "a", "x2");
    changed(first, "a");
    serves(first, &["x2", "y"]);
    std::thread::sleep(CLEARLY_LATER);
    content.publish("en", "b", "y2");
    changed(second, "b");
    serves(second, &["x", "y2"]);
    // The first one leads, and cannot read what the second one has changed.
    content.close();
    second.send_signal("STOP");
    assert!(redis.restart());
    until_so("the first one leads", || role(first) == "leader");
    second.send_signal("CONT");
    until_so("the second one follows", || role(second) == "follower");
    let (begun, mut last) = (Instant::now(), 0);
    while begun.elapsed() < Duration::from_secs(3) {
        let changes = http::get(second.addr(), "/api/changes?site=main");
        last = changes.status;
        assert!(last == 503 || lists(second, "/en/articles/x2"), "{}", changes.text());
        std::thread::sleep(Duration::from_millis(20));
    }
    assert_eq!(last, 503, "it did not adopt the version");
    content.open();
    all_serve(&all, &["x2", "y2"]);
    until_so("it responds", || http::get(second.addr(), "/api/changes?site=main").status == 200);
}

#[test]
fn follower_whose_later_snapshot_lacks_a_change_lets_the_leader_walk() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let (cms, redis) = (content.start(), Redis::start());
    let _: String =
        redis.command(&["ACL", "SETUSER", "second", "on", ">secret", "~*", "&*", "+@all"]);
    let first = instance(&cms, &redis).start();
    until_so("the first one leads", || role(&first) == "leader");
    let url = redis.url().replace("redis://", "redis://second@");
    let second = instance(&cms, &redis)
        .env("FRONTEND_MAP__SHARED__URL", &url)
        .env("FRONTEND_MAP__SHARED__PASSWORD", "secret")
        .start();
    serves(&first, &["x", "y"]);
    serves(&second, &["x", "y"]);
    until_so("the second one follows", || role(&second) == "follower");
    let before = walks(&cms);
    let _: String = redis.command(&["ACL", "SETUSER", "second", "-@all"]);
    until_so("the second one is alone", || role(&second) == "alone");
    until_so("it has walked", || walks(&cms) == before + 1);
    // The leader reads both documents, and the second one reads one of them later.
    content.publish("en", "b", "y2");
    changed(&first, "b");
    serves(&first, &["x", "y2"]);
    content.publish("en", "a", "x2");
    changed(&first, "a");
    serves(&first, &["x2", "y2"]);
    std::thread::sleep(CLEARLY_LATER);
    changed(&second, "b");
    serves(&second, &["x", "y2"]);
    let _: String = redis.command(&["ACL", "SETUSER", "second", "+@all"]);
    let returned = Instant::now();
    serves(&second, &["x2", "y2"]);
    // No refresh is due so soon.
    assert!(returned.elapsed() < Duration::from_secs(30), "{:?}", returned.elapsed());
    assert_eq!(walks(&cms), before + 2, "the leader has walked once");
}

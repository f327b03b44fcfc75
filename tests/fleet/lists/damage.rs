//! A list that is damaged in Redis is refused as a whole, and published again.

use super::Stored;
use crate::instances::{Instances, changed, instance, paths, role, sorted, walks};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::SITEMAP;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

/// Waits until a new instance serves this list; before that, it serves nothing.
#[track_caller]
fn serves_whole(service: &Service, expected: &[String]) {
    until_so("the whole list", || {
        let response = http::get(service.addr(), SITEMAP);
        if response.status != 200 {
            return false;
        }
        assert_eq!(sorted(&paths(service)), expected, "a part of the list is served");
        true
    });
}

/// An instance that starts after the damage refuses what is there, and gets the list again from the
/// leader: without another walk.
#[track_caller]
fn is_refused_and_replaced(damage: impl FnOnce(&mut Stored)) {
    let content = Content::many(&["en"], 300);
    let instances = Instances::start(2, &content);
    let mut stored = Stored::of(&instances.redis);
    content.publish("en", "d00002", "moved");
    changed(&instances.all[0], "d00002");
    until_so("the edit is published", || stored.deltas() > 0);
    let mut expected: Vec<String> = (0..300).filter(|n| *n != 2).map(|n| format!("s{n}")).collect();
    expected.push("moved".to_owned());
    expected.sort();
    instances.agree(&expected);
    damage(&mut stored);
    let late = instance(&instances.cms, &instances.redis).start();
    serves_whole(&late, &expected);
    instances.agree(&expected);
    until_so("it follows", || role(&late) == "follower");
    assert!(late.logs("a published snapshot is refused"), "{}", late.log());
    assert_eq!(walks(&instances.cms), 1, "{:?}", instances.cms.targets());
    // Later versions of the list are published and adopted.
    content.publish("en", "d00003", "later");
    changed(&late, "d00003");
    until_so("an edit reaches the new instance", || paths(&late).contains(&"later".to_owned()));
}

#[test]
fn chunk_with_a_changed_byte_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.chunk_keys().pop().expect("a chunk");
        let mut bytes: Vec<u8> = stored.run(redis::cmd("GET").arg(&key));
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        stored.run::<()>(redis::cmd("SET").arg(&key).arg(bytes));
    });
}

#[test]
fn missing_chunk_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        for key in stored.chunk_keys() {
            stored.run::<()>(redis::cmd("DEL").arg(&key));
        }
    });
}

#[test]
fn chunk_of_another_value_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.chunk_keys().pop().expect("a chunk");
        let pointer = stored.pointer_key();
        let other: Vec<u8> = stored.run(redis::cmd("HGET").arg(pointer).arg("pointer"));
        stored.run::<()>(redis::cmd("SET").arg(&key).arg(other));
    });
}

#[test]
fn missing_delta_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.deltas_key();
        stored.run::<()>(redis::cmd("DEL").arg(key));
    });
}

#[test]
fn delta_with_a_changed_byte_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.deltas_key();
        let entries: redis::streams::StreamRangeReply =
            stored.run(redis::cmd("XRANGE").arg(&key).arg("-").arg("+"));
        stored.run::<()>(redis::cmd("DEL").arg(&key));
        for entry in entries.ids {
            let after: String = entry.get("after").expect("what it follows");
            let mut delta: Vec<u8> = entry.get("delta").expect("a delta");
            let middle = delta.len() / 2;
            delta[middle] ^= 1;
            let mut add = redis::cmd("XADD");
            add.arg(&key).arg(&entry.id).arg("after").arg(after).arg("delta").arg(delta);
            let _: String = stored.run(&add);
        }
    });
}

#[test]
fn damaged_pointer_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.pointer_key();
        stored.run::<()>(redis::cmd("HSET").arg(key).arg("pointer").arg("{}"));
    });
}

#[test]
fn pointer_at_another_position_is_refused_and_replaced() {
    is_refused_and_replaced(|stored| {
        let key = stored.pointer_key();
        stored.run::<()>(redis::cmd("HSET").arg(key).arg("at").arg("99999999999999-7"));
    });
}

#[test]
fn list_that_is_removed_is_published_again_without_a_walk() {
    let instances = Instances::start(2, &Content::many(&["en"], 50));
    let expected = sorted(&instances.served(0));
    let mut stored = Stored::of(&instances.redis);
    let (pointer, deltas) = (stored.pointer_key(), stored.deltas_key());
    stored.run::<()>(redis::cmd("DEL").arg(&pointer).arg(deltas));
    until_so("it is published again", || !instances.redis.keys(&pointer).is_empty());
    let late = instance(&instances.cms, &instances.redis).start();
    serves_whole(&late, &expected);
    assert_eq!(walks(&instances.cms), 1);
}

#[test]
fn keys_of_other_kinds_in_the_places_of_a_list_are_replaced() {
    let instances = Instances::start(2, &Content::many(&["en"], 50));
    let expected = sorted(&instances.served(0));
    let mut stored = Stored::of(&instances.redis);
    for key in [stored.pointer_key(), stored.deltas_key()] {
        stored.run::<()>(redis::cmd("SET").arg(key).arg("x"));
    }
    instances.content.publish("en", "d00003", "later");
    changed(&instances.all[0], "d00003");
    let mut later: Vec<String> = expected.into_iter().filter(|slug| slug != "s3").collect();
    later.push("later".to_owned());
    later.sort();
    instances.agree(&later);
    let late = instance(&instances.cms, &instances.redis).start();
    serves_whole(&late, &later);
    assert_eq!(walks(&instances.cms), 1);
}

/// The settings with this key of seals.
fn with_key(cms: &Cms, redis: &Redis, byte: &str) -> Setup {
    instance(cms, redis).file("key", &byte.repeat(40)).env("FRONTEND_MAP__SHARED__KEY_FILE", "key")
}

#[test]
fn instance_with_another_key_is_a_fleet_of_its_own() {
    let instances = Instances::start(2, &Content::many(&["en"], 50));
    let expected = sorted(&instances.served(0));
    let other = with_key(&instances.cms, &instances.redis, "k").start();
    serves_whole(&other, &expected);
    until_so("it leads", || role(&other) == "leader");
    instances.content.publish("en", "d00003", "later");
    for service in [&instances.all[0], &other] {
        changed(service, "d00003");
    }
    let mut later: Vec<String> = expected.into_iter().filter(|slug| slug != "s3").collect();
    later.push("later".to_owned());
    later.sort();
    instances.agree(&later);
    serves_whole(&other, &later);
    assert_eq!(walks(&instances.cms), 2, "one for each key");
    for service in instances.all.iter().chain([&other]) {
        assert!(!service.log().contains("is refused"), "{}", service.log());
    }
}

#[test]
fn values_of_one_key_in_the_places_of_another_are_refused_and_replaced() {
    let content = Content::many(&["en"], 50);
    let (cms, redis) = (content.start(), Redis::start());
    let with = |byte| with_key(&cms, &redis, byte);
    let (first, second) = (with("k").start(), with("l").start());
    for service in [&first, &second] {
        until_so("it has a list", || paths(service).len() == 50);
    }
    let copied = || -> Vec<(String, String)> {
        let own = redis.keys("frontend-map:2-*:list:*");
        let base = |key: &str| key.split_once(":list:").expect("a pointer").0.to_owned();
        own.iter().map(|key| (base(key), key.clone())).collect()
    };
    until_so("both are published", || copied().len() == 2);
    let [(base, pointer), (other_base, other_pointer)] = &copied()[..] else { panic!("two") };
    assert_ne!(base, other_base);
    // All that the one has of its list, as the other's.
    for key in redis.keys(&format!("{base}:chunk:*")) {
        let other = key.replacen(base.as_str(), other_base, 1);
        let _: bool = redis.command(&["COPY", &key, &other, "REPLACE"]);
    }
    let _: bool = redis.command(&["COPY", pointer, other_pointer, "REPLACE"]);
    let expected = sorted(&paths(&first));
    for byte in ["k", "l"] {
        let late = with(byte).start();
        serves_whole(&late, &expected);
        until_so("it follows", || role(&late) == "follower");
    }
    content.publish("en", "d00003", "later");
    for service in [&first, &second] {
        changed(service, "d00003");
        until_so("the edit", || paths(service).contains(&"later".to_owned()));
    }
}

#[test]
fn entry_with_a_large_id_among_the_deltas_does_not_stop_publication() {
    let instances = Instances::start(2, &Content::many(&["en"], 50));
    let expected = sorted(&instances.served(0));
    let mut stored = Stored::of(&instances.redis);
    let key = stored.deltas_key();
    let id = "17000000000000000000-7";
    let _: String = stored.run(redis::cmd("XADD").arg(&key).arg(id).arg("x").arg("y"));
    instances.content.publish("en", "d00003", "later");
    changed(&instances.all[0], "d00003");
    let mut later: Vec<String> = expected.into_iter().filter(|slug| slug != "s3").collect();
    later.push("later".to_owned());
    later.sort();
    instances.agree(&later);
    assert_eq!(walks(&instances.cms), 1);
}

#[test]
fn edits_reach_all_instances_after_a_flush_although_epochs_were_far_ahead_of_the_clock() {
    let instances = Instances::start(3, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let _: String = instances.redis.command(&["SET", "frontend-map:2:epoch", "800000000000000"]);
    for key in instances.redis.keys("frontend-map:2:lease:*") {
        let _: i64 = instances.redis.command(&["DEL", &key]);
    }
    let mut stored = Stored::of(&instances.redis);
    for (at, slug) in ["one", "two"].iter().enumerate() {
        instances.content.publish("en", "a", slug);
        changed(&instances.all[at], "a");
        instances.agree(&[(*slug).to_owned()]);
        until_so("it is published with a large epoch", || stored.at().starts_with("8000"));
        instances.redis.flush();
        until_so("it is published again", || {
            !instances.redis.keys("frontend-map:2:list:*").is_empty()
        });
    }
    instances.content.publish("en", "a", "three");
    changed(&instances.all[2], "a");
    instances.agree(&["three".to_owned()]);
}

//! Values with a good seal that no instance would publish: without a key, each client that can
//! write to Redis can write them. They must not break anything, and no invalid path may be
//! served.

use std::sync::Arc;
use std::time::Duration;

use frontend_map_catalog::snapshot::{Builder, Listing, PageVersion, Snapshot, Titles};
use frontend_map_fleet::redis::{self as fleet_redis, RedisUrl};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{Locale, LocalePrefix, Locales, RuleSet};
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use super::Stored;
use crate::instances::{Instances, changed, instance, paths, serves, sorted};
use crate::support::content::Content;
use crate::support::front_of_cms::SITEMAP;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::wait::until_so;

/// A attacker who can write to Redis.
struct Attacker {
    runtime: Runtime,
    client: fleet_redis::Client,
}

impl Attacker {
    fn at(redis: &Redis) -> Self {
        let runtime = Runtime::new().expect("a runtime");
        let settings =
            fleet_redis::Settings::new(RedisUrl::parse(&redis.url()).unwrap(), "frontend-map");
        let client = {
            let _entered = runtime.enter();
            fleet_redis::Client::start(&settings, Arc::default())
        };
        until_so("Redis is available", || client.is_available());
        Self { runtime, client }
    }

    /// Replaces the pointer by one with the next version.
    fn publish(&self, stored: &mut Stored, change: impl FnOnce(&mut Value)) {
        let mut pointer = stored.pointer();
        let position = &mut pointer["position"];
        position["version"] = json!(position["version"].as_u64().unwrap() + 1);
        let position = position.clone();
        change(&mut pointer);
        let position = pointer.get("position").unwrap_or(&position);
        let at = format!("{}-{}", position["epoch"], position["version"]);
        let text = serde_json::to_vec(&pointer).unwrap();
        let sealed = self.client.seal(&format!("pointer of {}", stored.list), &text);
        let key = stored.pointer_key();
        let mut set = redis::cmd("HSET");
        set.arg(key).arg("at").arg(at.clone()).arg("pointer").arg(sealed);
        stored.run::<()>(&set);
        self.announce(&stored.list, &at);
    }

    /// Uploads a snapshot as a base, and replaces the pointer by one to it.
    fn publish_snapshot(&self, stored: &mut Stored, snapshot: &Snapshot) {
        let bytes = snapshot.serialize(&stored.list, Titles::Kept);
        let upload = self.client.upload("chunk:crafted", &bytes, Duration::from_mins(1));
        let chunks = self.runtime.block_on(upload).expect("an upload");
        self.publish(stored, |pointer| {
            pointer["hash"] = json!(format!("{:032x}", snapshot.content_hash()));
            pointer["urls_hash"] = json!(format!("{:032x}", snapshot.urls_hash()));
            pointer["rows"] = json!(snapshot.len());
            let (position, hash) = (pointer["position"].clone(), pointer["hash"].clone());
            pointer["base"] = json!({ "position": position, "hash": hash, "chunks": chunks });
        });
    }

    fn announce(&self, list: &str, at: &str) {
        let body = format!("{list} {at}");
        let append = self.client.append("list", body.as_bytes(), Duration::from_secs(5));
        self.runtime.block_on(append).expect("an event");
    }
}

/// A snapshot of one page with this path.
fn with_path(path: &str) -> Snapshot {
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let rules = RuleSet::new(locales, LocalePrefix::Always, Vec::new());
    let hosts = Hosts::default();
    let mut part = Listing { rules: &rules, hosts: &hosts, uid: "plugin::cms.article" }.part();
    let page =
        PageVersion { name: "a", position: 0, path, locale: 0, listed: true, modified: None };
    part.add_page(page);
    Builder { path_table: true }.finish(vec![part]).unwrap()
}

#[test]
fn snapshot_with_an_invalid_path_is_refused_and_replaced() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let (mut stored, attacker) = (Stored::of(&instances.redis), Attacker::at(&instances.redis));
    let follower = &instances.all[instances.follower()];
    for path in ["/en/../admin", "/en/%2e%2e/x", "/en//x", "/en/x?y", "/en/x#y", "/en/%zz", "/é"] {
        attacker.publish_snapshot(&mut stored, &with_path(path));
        let crafted = json!(format!("{:032x}", with_path(path).content_hash()));
        until_so(&format!("the leader has replaced {path}"), || {
            assert_eq!(paths(follower), ["x"], "{path}");
            stored.pointer()["hash"] != crafted
        });
        until_so("the follower has what replaces it", || stored.is_adopted_by(follower));
    }
    assert!(follower.logs("a published snapshot is refused"));
    instances.agree(&["x".to_owned()]);
    let late = instance(&instances.cms, &instances.redis).start();
    serves(&late, &["x"]);
    assert_eq!(instances.walks(), 1);
}

#[test]
fn snapshot_of_a_rule_that_does_not_exist_is_refused() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let (mut stored, attacker) = (Stored::of(&instances.redis), Attacker::at(&instances.redis));
    let follower = &instances.all[instances.follower()];
    let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
    let rules = RuleSet::new(locales, LocalePrefix::Always, Vec::new());
    let hosts = Hosts::default();
    let mut part = Listing { rules: &rules, hosts: &hosts, uid: "plugin::cms.article" }.part();
    let page = PageVersion {
        name: "a",
        position: 7,
        path: "/en/z",
        locale: 0,
        listed: true,
        modified: None,
    };
    part.add_page(page);
    let snapshot = Builder { path_table: true }.finish(vec![part]).unwrap();
    attacker.publish_snapshot(&mut stored, &snapshot);
    until_so("it is refused", || {
        assert_eq!(paths(follower), ["x"]);
        follower.log().contains("a published snapshot is refused")
    });
    instances.agree(&["x".to_owned()]);
}

#[test]
fn pointer_into_the_future_counts_as_one_of_now() {
    let instances = Instances::start(2, &Content::many(&["en"], 20));
    let expected = sorted(&instances.served(0));
    let (mut stored, attacker) = (Stored::of(&instances.redis), Attacker::at(&instances.redis));
    let follower = &instances.all[instances.follower()];
    let age = || -> u64 {
        let age = http::get(follower.addr(), SITEMAP).header("age");
        age.and_then(|age| age.parse().ok()).expect("an age in seconds")
    };
    until_so("the snapshot has an age", || age() >= 3);
    attacker.publish(&mut stored, |pointer| {
        let hour = 3_600_000;
        pointer["walked_at"] = json!(pointer["walked_at"].as_i64().unwrap() + hour);
        pointer["took_ms"] = json!(u64::MAX);
        let (position, hash) = (pointer["position"].clone(), pointer["hash"].clone());
        // Of a whole list at this position.
        pointer["base"]["position"] = position;
        pointer["base"]["hash"] = hash;
    });
    until_so("it counts as new", || age() <= 1);
    serves(follower, &expected);
    // It gets older from now on.
    until_so("it has an age", || age() >= 2);
}

#[test]
fn pointer_of_a_later_epoch_than_any_does_not_keep_followers_from_later_versions() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let (mut stored, attacker) = (Stored::of(&instances.redis), Attacker::at(&instances.redis));
    let (leader, follower) = (instances.leader(), &instances.all[instances.follower()]);
    attacker.publish(&mut stored, |pointer| {
        pointer["position"]["epoch"] = json!(9_000_000_000_000_000_u64);
        let (position, hash) = (pointer["position"].clone(), pointer["hash"].clone());
        pointer["base"]["position"] = position;
        pointer["base"]["hash"] = hash;
    });
    until_so("the leader has replaced it", || !stored.at().starts_with("9000000000000000-"));
    instances.content.publish("en", "a", "y");
    changed(&instances.all[leader], "a");
    serves(follower, &["y"]);
}

#[test]
fn pointers_of_another_form_are_refused_without_harm() {
    let instances = Instances::start(2, &Content::many(&["en"], 20));
    let expected = sorted(&instances.served(0));
    let (mut stored, attacker) = (Stored::of(&instances.redis), Attacker::at(&instances.redis));
    let follower = &instances.all[instances.follower()];
    let changes: [fn(&mut Value); 6] = [
        |pointer| pointer["base"]["chunks"]["bytes"] = json!(u64::MAX),
        |pointer| pointer["base"]["chunks"]["count"] = json!(1_000_000),
        |pointer| pointer["rows"] = json!(1),
        |pointer| pointer["hash"] = json!("x"),
        |pointer| pointer["base"] = json!([]),
        |pointer| *pointer = json!("x"),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        attacker.publish(&mut stored, |pointer| {
            pointer["hash"] = json!("0".repeat(32));
            change(pointer);
        });
        until_so(&format!("the leader has replaced pointer {at}"), || {
            assert_eq!(sorted(&paths(follower)), expected, "{at}");
            let pointer = stored.pointer();
            pointer.is_object()
                && pointer["hash"] != json!("0".repeat(32))
                && pointer["hash"] != "x"
        });
        until_so("the follower has what replaces it", || stored.is_adopted_by(follower));
    }
    assert!(follower.logs("a published snapshot is refused"));
    instances.agree(&expected);
}

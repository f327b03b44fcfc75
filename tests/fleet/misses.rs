//! The paths that visitors could not find, counted by all instances.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::hook::SECRET;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

const TOKEN: &str = "canary-7f2e-validate";
const MISSES: &str = "/api/misses?site=main";

fn start(cms: &Cms, redis: &Redis) -> Service {
    let service = articles()
        .resolve("documents")
        .strapi(cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", TOKEN)
        .env("FRONTEND_MAP__SHARED__URL", &redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start();
    until_so("the page is known", || request(&service, "x") == "document");
    service
}

fn request(service: &Service, slug: &str) -> Value {
    let target = format!("/api/resolve?site=main&pathname=/en/articles/{slug}");
    http::get(service.addr(), &target).json()["data"]["kind"].clone()
}

fn send(service: &Service, method: &str, target: &str) -> http::Response {
    let bearer = format!("Bearer {TOKEN}");
    http::send(service.addr(), method, target, &[("Authorization", &bearer)])
}

/// The number of requests for each slug.
fn counts(service: &Service) -> BTreeMap<String, u64> {
    let response = send(service, "GET", MISSES);
    assert_eq!(response.status, 200, "{}", response.text());
    let rows = response.json()["data"]["misses"].as_array().unwrap().clone();
    let row = |row: &Value| {
        let path = row["path"].as_str().unwrap_or("scanners");
        let slug = path.trim_start_matches("/en/articles/").to_owned();
        (slug, row["count"].as_u64().unwrap())
    };
    rows.iter().map(row).collect()
}

fn expected(pairs: &[(&str, u64)]) -> BTreeMap<String, u64> {
    pairs.iter().map(|(slug, count)| ((*slug).to_owned(), *count)).collect()
}

#[track_caller]
fn until_all_have(all: &[Service], pairs: &[(&str, u64)]) {
    for service in all {
        until_so(&format!("{pairs:?}"), || counts(service) == expected(pairs));
    }
}

#[test]
fn missed_paths_are_those_of_all_instances_and_are_cleared_for_all() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let mut all = vec![start(&cms, &redis), start(&cms, &redis)];
    for service in &all {
        for slug in ["both", "x.php"] {
            request(service, slug);
        }
    }
    request(&all[0], "one");
    request(&all[1], "other");
    until_all_have(&all, &[("both", 2), ("one", 1), ("other", 1), ("scanners", 2)]);
    // Reading changes nothing.
    until_all_have(&all, &[("both", 2), ("one", 1), ("other", 1), ("scanners", 2)]);
    let cleared = send(&all[1], "DELETE", &format!("{MISSES}&pathname=/en/articles/both"));
    assert_eq!(cleared.json()["data"]["cleared"], 1, "{}", cleared.text());
    until_all_have(&all, &[("one", 1), ("other", 1), ("scanners", 2)]);
    // What an instance has counted when it stops is not lost, and a new one counts nothing twice.
    request(&all[0], "one");
    assert_eq!(all[0].signal("TERM"), Some(0));
    all[0] = start(&cms, &redis);
    until_all_have(&all, &[("one", 2), ("other", 1), ("scanners", 2)]);
    assert_eq!(send(&all[0], "DELETE", MISSES).json()["data"]["cleared"], 3);
    until_all_have(&all, &[]);
}

#[test]
fn foreign_and_damaged_values_stop_nothing() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let all = [start(&cms, &redis), start(&cms, &redis)];
    request(&all[0], "one");
    until_all_have(&all, &[("one", 1)]);
    let key = until("the value", || redis.keys("*:misses:*").pop());
    let mut value: Vec<u8> = redis.command(&["HGET", &key, "summary"]);
    value[4] ^= 1;
    redis.set_field(&key, "summary", &value);
    until_all_have(&all, &[]);
    assert!(all.iter().any(|service| service.logs("paths that were not found is damaged")));
    request(&all[1], "two");
    until_all_have(&all, &[("two", 1)]);
    let damage: [&dyn Fn(); 3] = [
        &|| drop(redis.command::<String>(&["SET", &key, "x"])),
        &|| redis.set_field(&key, "version", &[0xff; 9]),
        &|| redis.set_field(&key, "summary", &vec![b'x'; 3 << 20]),
    ];
    for (n, damage) in damage.into_iter().enumerate() {
        damage();
        let slug = format!("after-{n}");
        until_so("the instances go on", || counts(&all[0]).is_empty());
        request(&all[n % 2], &slug);
        until_all_have(&all, &[(&slug, 1)]);
    }
}

#[test]
fn missed_paths_are_counted_while_redis_is_unavailable() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, mut redis) = (content.start(), Redis::start());
    let all = [start(&cms, &redis), start(&cms, &redis)];
    request(&all[0], "shared");
    until_all_have(&all, &[("shared", 1)]);
    redis.kill();
    for service in &all {
        until_so("Redis is unavailable", || {
            let ready = http::get(service.admin(), "/readyz").json();
            ready["shared"]["state"] == "unavailable"
        });
        request(service, "alone");
        assert_eq!(counts(service), expected(&[("alone", 1)]));
    }
    let refused = send(&all[0], "DELETE", MISSES);
    assert_eq!(refused.status, 503, "{}", refused.text());
    assert!(redis.restart());
    until_so("both are added", || counts(&all[0]).get("alone") == Some(&2));
}

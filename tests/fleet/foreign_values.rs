//! Values that another program has written at the keys of a fleet: each key, and each kind of value.
//! The fleet goes on: edits reach all instances, and readers get each change or a reset.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_end::{FrontEnd, answer};
use crate::support::front_of_cms::{SITEMAP, TOKEN, articles};
use crate::support::hook::SECRET;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

use super::instances::changed;

/// Keys that exist during URL checks alone.
const OF_CHECKS: [&str; 2] = ["url-checks", "url-checks:next"];
/// The largest id of an entry: none can follow it.
const LAST_ID: &str = "18446744073709551615-18446744073709551615";

struct World {
    content: Content,
    _cms: Cms,
    _front_end: FrontEnd,
    redis: Redis,
    all: [Service; 2],
}

impl World {
    /// Two instances that have shared an edit, a former path, a webhook and URL checks.
    async fn start() -> Self {
        let (content, redis) = (Content::new(&[("en", "a", "s0")]), Redis::start());
        let cms = content.start();
        let front_end = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
        let all = [0; 2].map(|_| instance(&cms, &front_end, &redis));
        let world = Self { content, _cms: cms, _front_end: front_end, redis, all };
        world.edit("s0");
        world.edit("first");
        world.check_urls();
        until_so("the former path, and the position of the target", || {
            ["history:*", "positions*"]
                .iter()
                .all(|name| !world.redis.keys(&format!("frontend-map:2:{name}")).is_empty())
        });
        world
    }

    /// The names of all keys.
    fn keys(&self) -> Vec<String> {
        let found = self.redis.keys("frontend-map:2:*");
        let found = found.iter().map(|key| key["frontend-map:2:".len()..].to_owned());
        let all: BTreeSet<String> = found.chain(OF_CHECKS.map(str::to_owned)).collect();
        all.into_iter().collect()
    }

    /// Publishes another slug, and waits until both instances list it.
    fn edit(&self, slug: &str) {
        self.content.publish("en", "a", slug);
        changed(&self.all[fastrand::usize(..2)], "a");
        for service in &self.all {
            until_so(&format!("the slug {slug}"), || {
                let list = http::get(service.addr(), SITEMAP);
                list.status == 200 && list.text().contains(&format!("/en/articles/{slug}\""))
            });
        }
    }

    fn check_urls(&self) {
        for service in &self.all {
            let report = http::get(service.addr(), &format!("{SITEMAP}&validate=true"));
            assert_eq!(report.status, 200, "{}", report.text());
        }
    }

    /// The cursor on which both instances agree.
    fn cursor(&self) -> String {
        until("one cursor", || {
            let [one, other] = [0, 1].map(|at| self.changes(at, ""));
            let [one, other] = [one?["cursor"].clone(), other?["cursor"].clone()];
            (one == other).then(|| one.as_str().expect("text").to_owned())
        })
    }

    /// The changes after a cursor; `None`: the instance says that it does not know them.
    fn changes(&self, at: usize, since: &str) -> Option<Value> {
        let since = if since.is_empty() { String::new() } else { format!("&since={since}") };
        let target = format!("/api/changes?site=main{since}");
        let response = http::get(self.all[at].addr(), &target);
        if response.status == 503 {
            return None;
        }
        assert_eq!(response.status, 200, "{}", response.text());
        Some(response.json()["data"].clone())
    }

    /// Whether an instance has logged this text since these many bytes of its log.
    fn has_logged(&self, text: &str, since: [usize; 2]) -> bool {
        let log = |at: usize| self.all[at].log();
        [0, 1].iter().any(|at| log(*at).get(since[*at]..).is_some_and(|log| log.contains(text)))
    }
}

fn instance(cms: &Cms, front_end: &FrontEnd, redis: &Redis) -> Service {
    let (base, target) = (front_end.url("http", ""), front_end.url("http", "/hook"));
    articles()
        .front_end_url(&base)
        .resolve("documents")
        .strapi(cms)
        .more(&format!("[shared]\nurl = \"{}\"", redis.url()))
        .more(&format!("[[notify]]\nurl = \"{target}\"\nsecret_file = \"secret\""))
        .file("secret", "whsec_MDEyMzQ1Njc4OWFiY2RlZjAxMjM0NTY3ODlhYmNkZWY=")
        .env("FRONTEND_MAP__CMS__TOKEN", TOKEN)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start()
}

/// The type that a key has; `None`: its values are read by their length and seal alone, and nothing
/// replaces them in place.
fn type_of(name: &str) -> Option<&'static str> {
    Some(match name.split(':').next()? {
        "instances" | "deployments" => "zset",
        "events" if name == "events" => "stream",
        "events" | "incarnation" | "epoch" | "lease" => "string",
        "list" | "log" | "newest" | "history" | "misses" | "positions" => "hash",
        "deltas" | "changes" => "stream",
        _ => return None,
    })
}

/// Writes a foreign value at a key.
type Write = fn(&Redis, &str);

/// Writes the value at each key, one after the other.
async fn goes_on_after(kind: &str, write: Write) {
    let world = World::start().await;
    tokio::task::block_in_place(|| {
        for (n, name) in world.keys().iter().enumerate() {
            let (key, since) = (format!("frontend-map:2:{name}"), world.cursor());
            let logged = [0, 1].map(|at| world.all[at].log().len());
            write(&world.redis, &key);
            let found: String = world.redis.command(&["TYPE", &key]);
            world.edit(&format!("{kind}-{n}"));
            let expected = format!("/en/articles/{kind}-{n}");
            for at in [0, 1] {
                until_so(&format!("{name}: the change, or a reset"), || {
                    world.changes(at, &since).is_some_and(|found| {
                        let changes = found["changes"].as_array().expect("a list");
                        found["reset"] == true || changes.iter().any(|one| one["path"] == expected)
                    })
                });
            }
            if type_of(name).is_some_and(|expected| expected != found) {
                let what = format!("{name}: the key is replaced, and one instance says so");
                until_so(&what, || {
                    let name = name.strip_prefix("lease:").unwrap_or(name);
                    world.has_logged(name, logged)
                });
                let found: String = world.redis.command(&["TYPE", &key]);
                assert!(found == "none" || Some(&*found) == type_of(name), "{name}: {found}");
            }
            let is_of_checks =
                ["url-checks", "run"].contains(&name.split(':').next().unwrap_or(""));
            if is_of_checks {
                write(&world.redis, &key);
                world.check_urls();
            }
        }
        for service in &world.all {
            let ready = http::get(service.admin(), "/readyz").json();
            assert_eq!(ready["shared"]["state"], "available", "{ready}");
        }
    });
}

fn set(redis: &Redis, key: &str, value: &str) {
    let _: String = redis.command(&["SET", key, value]);
}

/// Replaces the value at the key by one that this command writes. At once: the fleet writes too.
fn write<T: redis::FromRedisValue>(redis: &Redis, words: &[&str]) {
    const REPLACE: &str = "redis.call('DEL', KEYS[1]) return redis.call(unpack(ARGV))";
    let mut replace = vec!["EVAL", REPLACE, "1", words[1]];
    replace.extend(words);
    let _: T = redis.command(&replace);
}

macro_rules! cases {
    ($($name:ident: $write:expr;)*) => {
        $(#[tokio::test(flavor = "multi_thread")]
        async fn $name() {
            goes_on_after(stringify!($name), $write).await;
        })*
    };
}

cases! {
    text: |redis, key| set(redis, key, "x");
    empty_text: |redis, key| set(redis, key, "");
    largest_number: |redis, key| set(redis, key, "9223372036854775807");
    text_of_a_megabyte: |redis, key| set(redis, key, &"7".repeat(1 << 20));
    list: |redis, key| write::<i64>(redis, &["RPUSH", key, "x"]);
    set_of_texts: |redis, key| write::<i64>(redis, &["SADD", key, "x"]);
    hash: |redis, key| write::<i64>(redis, &["HSET", key, "x", "y"]);
    sorted_set: |redis, key| write::<i64>(redis, &["ZADD", key, "inf", "x"]);
    stream: |redis, key| write::<String>(redis, &["XADD", key, "*", "x", "y"]);
    stream_that_is_at_its_end: |redis, key| write::<String>(redis, &["XADD", key, LAST_ID, "x", "y"]);
    entry_and_field: |redis, key| {
        // In place of nothing: among the values of the fleet.
        let _ = redis.try_command::<String>(&["XADD", key, "*", "x", "y"]);
        let _ = redis.try_command::<i64>(&["HSET", key, "x", "y"]);
    };
    fields_and_entry_of_two_megabytes: |redis, key| {
        let long = "7".repeat(2 << 20);
        let _ = redis.try_command::<String>(&["XADD", key, "*", "x", &long]);
        let _ = redis.try_command::<i64>(&["HSET", key, "log", &long, "at", &long, "list", &long, "x", &long]);
    };
    field_and_entry_that_is_the_last_one: |redis, key| {
        let _ = redis.try_command::<String>(&["XADD", key, LAST_ID, "x", "y"]);
        let _ = redis.try_command::<i64>(&["HSET", key, "log", "y", "at", "y", "pointer", "y", "list", "y"]);
    };
}

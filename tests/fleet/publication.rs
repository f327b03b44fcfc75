//! Publications that Redis refuses, groups of lists that differ, and lists that instances have
//! built alone.

use std::time::{Duration, Instant};

use super::instances::{Instances, changed, paths, role};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::urls;
use crate::support::hook::SECRET;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::Settings;
use crate::support::wait::{until, until_so};

/// An instance with these sites, which have the same content type.
fn with_sites(cms: &Cms, redis: &Redis, sites: &[&str]) -> Service {
    let with = |settings: Settings, key: &&str| {
        settings.site(key).rule("plugin::cms.article", &format!("/{key}/{{slug}}"))
    };
    sites
        .iter()
        .fold(Settings::new(), with)
        .strapi(cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SHARED__URL", &redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("RUST_LOG", "frontend_map=debug")
        .start()
}

/// Waits until an instance has exactly this page of a site.
#[track_caller]
fn has_only(service: &Service, site: &str, slug: &str) {
    let target = format!("/api/build-sitemap?site={site}&contentType=plugin::cms.article");
    let expected = [format!("https://www.example.com/{site}/{slug}")];
    until_so(&format!("{site} has {slug}"), || {
        urls(&http::get(service.addr(), &target)) == expected
    });
}

/// The ids of the lists that are published.
fn lists(redis: &Redis) -> Vec<String> {
    let keys = redis.keys("frontend-map:2:list:*");
    keys.iter().map(|key| key.rsplit(':').next().expect("an id").to_owned()).collect()
}

fn at(redis: &Redis, list: &str) -> Option<String> {
    redis.command(&["HGET", &format!("frontend-map:2:list:{list}"), "at"])
}

/// The identity of the change log of the only site that has one.
fn log(redis: &Redis) -> Vec<u8> {
    let keys = redis.keys("frontend-map:2:log:*");
    redis.command(&["HGET", &keys[0], "log"])
}

#[test]
fn list_that_redis_refuses_keeps_no_other_one_waiting_and_leaves_nothing_in_redis() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let before = with_sites(&cms, &redis, &["a", "b"]);
    let both =
        until("both lists are published", || Some(lists(&redis)).filter(|lists| lists.len() == 2));
    drop(before);
    redis.flush();
    let [refused, other] = &both[..] else { panic!("two lists: {both:?}") };
    let mut rights = vec!["ACL", "SETUSER", "default", "resetkeys"];
    let own = format!("~frontend-map:2:list:{other}");
    rights.extend(["~frontend-map:2:[^l]*", "~frontend-map:2:le*", "~frontend-map:2:lo*", &own]);
    let _: String = redis.command(&rights);
    let service = with_sites(&cms, &redis, &["a", "b"]);
    let published = until("the other list is published", || at(&redis, other));
    content.publish("en", "a", "y");
    changed(&service, "a");
    until_so("its next version is published", || at(&redis, other).as_ref() != Some(&published));
    until_so("the refused one is tried again", || {
        service.log().matches("a snapshot could not be published").count() >= 4
    });
    let log = service.log();
    let unpublished = log.lines().filter(|line| line.contains("could not be published"));
    let warnings: Vec<_> = unpublished.filter(|line| line.contains(" WARN ")).collect();
    assert_eq!(warnings.len(), 1, "{warnings:?}");
    let chunks = redis.keys(&format!("frontend-map:2:chunk:{refused}:*"));
    assert!(chunks.len() <= 1, "{chunks:?}");
    let _: String = redis.command(&["ACL", "SETUSER", "default", "allkeys"]);
    until("it is published as soon as Redis takes it", || at(&redis, refused));
}

#[test]
fn values_of_another_type_at_the_keys_of_a_publication_are_replaced() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let leader = instances.leader();
    for (n, kind) in ["list", "deltas", "log", "changes"].into_iter().enumerate() {
        let keys = instances.redis.keys(&format!("frontend-map:2:{kind}:*"));
        for key in &keys {
            let _: String = instances.redis.command(&["SET", key, "x"]);
        }
        let slug = format!("new{n}");
        instances.content.publish("en", "a", &slug);
        changed(&instances.all[leader], "a");
        instances.agree(&[slug]);
    }
}

/// Removes the pointer of one of two lists, puts a foreign value in the place of the other one's, and
/// waits until both are published again, without a change in the CMS.
#[track_caller]
fn both_are_published_again(put_foreign: impl FnOnce(&Redis, &str)) {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let _service = with_sites(&cms, &redis, &["a", "b"]);
    let both =
        until("both lists are published", || Some(lists(&redis)).filter(|lists| lists.len() == 2));
    for list in &both {
        let _: i64 = redis.command(&["DEL", &format!("frontend-map:2:list:{list}")]);
    }
    put_foreign(&redis, &format!("frontend-map:2:list:{}", both[0]));
    let is_published = |list: &String| {
        let key = format!("frontend-map:2:list:{list}");
        let at: Option<Vec<u8>> = redis.try_command(&["HGET", &key, "at"]).ok().flatten();
        at.is_some_and(|at| at.is_ascii())
    };
    let begun = Instant::now();
    until_so("the removed list is published again", || is_published(&both[1]));
    until_so("the foreign value is replaced", || is_published(&both[0]));
    // After ten seconds without an event, all lists are looked up.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

#[test]
fn pointer_of_another_type_is_replaced_and_keeps_no_other_list_from_being_repaired() {
    both_are_published_again(|redis, pointer| {
        let _: i64 = redis.command(&["LPUSH", pointer, "x"]);
    });
}

#[test]
fn pointer_whose_position_is_no_text_is_replaced_and_keeps_no_other_list_from_being_repaired() {
    both_are_published_again(|redis, pointer| redis.set_field(pointer, "at", b"\xff-\xfe"));
}

#[test]
fn instances_with_another_site_beside_publish_lists_of_their_own_and_one_change_log() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let mut old = vec![with_sites(&cms, &redis, &["a"]), with_sites(&cms, &redis, &["a"])];
    for service in &old {
        has_only(service, "a", "x");
    }
    until_so("one leads", || old.iter().any(|service| role(service) == "leader"));
    let begun = log(&redis);
    let new = [(); 2].map(|()| with_sites(&cms, &redis, &["a", "b"]));
    for service in &new {
        has_only(service, "b", "x");
    }
    assert_eq!(lists(&redis).len(), 3);
    let log_of_a = redis.keys("frontend-map:2:log:*");
    let logs = |redis: &Redis| -> Vec<Vec<u8>> {
        log_of_a.iter().map(|key| redis.command(&["HGET", key, "log"])).collect()
    };
    let before = logs(&redis);
    assert!(before.contains(&begun), "the log of the site goes on");
    for n in 0..6 {
        let slug = format!("new{n}");
        content.publish("en", "a", &slug);
        changed(&old[n % 2], "a");
        old.iter().chain(&new).for_each(|service| has_only(service, "a", &slug));
        for service in &new {
            has_only(service, "b", &slug);
        }
    }
    assert_eq!(logs(&redis), before, "no log begins again");
    old.clear();
    content.publish("en", "a", "end");
    // The leases of the stopped instances have to expire.
    until_so("the log begins again once", || {
        changed(&new[0], "a");
        std::thread::sleep(Duration::from_millis(100));
        content.publish("en", "a", &format!("end{}", fastrand::u32(..)));
        logs(&redis) != before
    });
    let after = logs(&redis);
    for n in 0..4 {
        let slug = format!("last{n}");
        content.publish("en", "a", &slug);
        changed(&new[n % 2], "a");
        for service in &new {
            has_only(service, "a", &slug);
        }
    }
    assert_eq!(logs(&redis), after, "the new instances go on with it");
}

#[test]
fn page_that_was_withdrawn_without_redis_does_not_come_back_with_it() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let instances = Instances::start(3, &content);
    instances.leader();
    instances.redis.pause();
    instances.are_alone();
    content.unpublish("en", "a");
    for service in &instances.all {
        super::instances::send_event(service, "entry.unpublish", "a");
    }
    instances.agree(&["y".to_owned()]);
    instances.redis.resume();
    let begun = Instant::now();
    let mut leads = false;
    while !leads || begun.elapsed() < Duration::from_secs(4) {
        for service in &instances.all {
            assert_eq!(paths(service), ["y"], "after {:?}", begun.elapsed());
        }
        leads = instances.all.iter().any(|service| role(service) == "leader");
        assert!(begun.elapsed() < Duration::from_mins(1), "one leads");
    }
}

//! Without Redis each instance is alone, and no answer waits for it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::instances::{Instances, UID, all_serve, changed, instance_of, role, serves};
use crate::support::content::Content;
use crate::support::front_of_cms::{RESOLVE, SITEMAP, articles};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::until_so;

#[test]
fn instances_start_without_redis_and_agree_when_it_is_there() {
    let content = Content::new(&[("en", "a", "x")]);
    let mut instances = Instances::starting(2, &content, Redis::absent());
    all_serve(&instances.all, &["x"]);
    instances.are_alone();
    assert_eq!(instances.walks(), 2, "each has walked by itself");
    assert!(instances.redis.restart());
    instances.leader();
    instances.content.publish("en", "a", "z");
    changed(&instances.all[0], "a");
    all_serve(&instances.all, &["z"]);
}

#[test]
fn instances_serve_and_take_events_alone_while_redis_is_killed() {
    let mut instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    instances.redis.kill();
    instances.are_alone();
    all_serve(&instances.all, &["x"]);
    instances.content.publish("en", "a", "z");
    for service in &instances.all {
        let took = changed(service, "a");
        assert!(took < Duration::from_secs(1), "{took:?}");
    }
    all_serve(&instances.all, &["z"]);
    // An event that one of them gets alone reaches the others with Redis.
    instances.content.publish("en", "b", "y");
    changed(&instances.all[1], "b");
    serves(&instances.all[1], &["y", "z"]);
    assert!(instances.redis.restart());
    all_serve(&instances.all, &["y", "z"]);
    instances.leader();
    instances.content.publish("en", "b", "w");
    changed(&instances.all[0], "b");
    all_serve(&instances.all, &["w", "z"]);
}

#[test]
fn event_just_before_redis_is_lost_is_applied() {
    for lost in [Redis::kill as fn(&mut Redis), |redis: &mut Redis| redis.pause()] {
        let mut instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
        let follower = instances.follower();
        lost(&mut instances.redis);
        instances.content.publish("en", "a", "z");
        // The instance does not know yet that Redis is unavailable.
        changed(&instances.all[follower], "a");
        serves(&instances.all[follower], &["z"]);
    }
}

#[test]
fn instances_agree_after_redis_was_flushed() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    instances.redis.flush();
    instances.content.publish("en", "a", "z");
    changed(&instances.all[1], "a");
    all_serve(&instances.all, &["z"]);
    instances.leader();
    instances.content.publish("en", "a", "w");
    changed(&instances.all[0], "a");
    all_serve(&instances.all, &["w"]);
}

#[test]
fn no_answer_waits_for_redis_that_is_frozen() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let targets = [
        RESOLVE.to_owned(),
        SITEMAP.to_owned(),
        format!("/api/frontend-url?uid={}&documentId=a", super::instances::UID),
        "/sitemaps/main/index.xml".to_owned(),
        "/api/changes?site=main".to_owned(),
        "/livez".to_owned(),
        "/readyz".to_owned(),
    ];
    instances.redis.pause();
    let frozen = Instant::now();
    let mut shortest: BTreeMap<&str, Duration> = BTreeMap::new();
    // Before the instances find Redis unavailable, and afterwards.
    while frozen.elapsed() < Duration::from_secs(4) {
        // They find it unavailable after two heartbeats without an answer.
        let is_unnoticed = frozen.elapsed() < Duration::from_millis(1_500);
        let mut add = |name, took: Duration| {
            if is_unnoticed {
                let shortest = shortest.entry(name).or_insert(took);
                *shortest = took.min(*shortest);
            }
        };
        for service in &instances.all {
            for target in &targets {
                let begun = Instant::now();
                let answer = http::get(service.addr(), target);
                let took = begun.elapsed();
                assert!(answer.status < 500, "{target}: {}", answer.text());
                assert!(took < Duration::from_secs(1), "{target} took {took:?}");
                add(target, took);
            }
            let took = changed(service, "a");
            assert!(took < Duration::from_secs(1), "an event took {took:?}");
            add("an event", took);
        }
    }
    // 50 ms for Redis, and what a busy machine needs: no command waits less than a second.
    println!("{shortest:?}");
    assert_eq!(shortest.len(), targets.len() + 1);
    assert!(shortest.values().all(|took| *took < Duration::from_millis(250)), "{shortest:?}");
    instances.are_alone();
    instances.redis.resume();
    instances.leader();
    instances.content.publish("en", "a", "z");
    changed(&instances.all[0], "a");
    all_serve(&instances.all, &["z"]);
}

#[test]
fn many_events_while_redis_is_unavailable_reach_all_at_its_return() {
    let mut instances = Instances::start(2, &Content::many(&["en"], 100));
    instances.leader();
    instances.redis.kill();
    instances.are_alone();
    for n in 0..100 {
        let id = format!("d{n:05}");
        instances.content.publish("en", &id, &format!("new{n}"));
        changed(&instances.all[0], &id);
    }
    let mut expected: Vec<String> = (0..100).map(|n| format!("new{n}")).collect();
    expected.sort();
    serves(&instances.all[0], &expected);
    assert!(instances.redis.restart());
    instances.agree(&expected);
    until_so("one leads", || !instances.served(instances.leader()).is_empty());
}

#[test]
fn instance_that_has_lost_redis_says_how_old_paths_may_be_until_it_has_walked() {
    let (content, redis) = (Content::new(&[("en", "a", "x")]), Redis::start());
    let cms = content.start();
    let settings = articles().resolve("documents").strapi(&cms);
    let all = [0; 2].map(|_| instance_of(&settings, &redis).start());
    all_serve(&all, &["x"]);
    let resolve = |service: &Service, slug: &str| {
        http::get(service.addr(), &format!("/api/resolve?site=main&pathname=/en/articles/{slug}"))
    };
    for service in &all {
        let response = resolve(service, "x");
        assert_eq!((response.status, response.header("age")), (200, None), "{}", response.text());
    }
    // No instance can walk, so that each has what it knew.
    content.close();
    content.publish("en", "a", "z");
    redis.pause();
    for service in &all {
        until_so("the response has an age", || resolve(service, "x").header("age").is_some());
    }
    content.open();
    for service in &all {
        until_so("it has walked", || {
            let response = resolve(service, "z");
            response.text().contains(r#""kind":"document""#) && response.header("age").is_none()
        });
    }
}

#[test]
fn content_of_files_has_no_age_without_redis() {
    let redis = Redis::start();
    let content = r#"{"plugin::cms.article":[{"documentId":"a","locale":"en","slug":"x"}]}"#;
    let service = instance_of(&articles().resolve("documents").files(content), &redis).start();
    until_so("it leads", || role(&service) == "leader");
    serves(&service, &["x"]);
    let walked = Instant::now();
    until_so("three seconds have passed", || walked.elapsed() > Duration::from_secs(3));
    redis.pause();
    until_so("it is alone", || role(&service) == "alone");
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(5) {
        let target = "/api/resolve?site=main&pathname=/en/articles/x";
        let response = http::get(service.addr(), target);
        assert_eq!((response.status, response.header("age")), (200, None), "{}", response.text());
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn snapshots_of_earlier_settings_are_not_missing_after_a_gap() {
    let (content, redis) = (Content::new(&[("en", "a", "x")]), Redis::start());
    let cms = content.start();
    let settings = |template: &str| site("main").resolve("documents").rule(UID, template);
    let before = settings("/{locale}/articles/{slug}").strapi(&cms);
    let after = settings("/{locale}/articles/new-{slug}").strapi(&cms);
    let all = [0; 2].map(|_| instance_of(&before, &redis).start());
    all_serve(&all, &["x"]);
    for service in &all {
        service.rewrite("settings.toml", &after.toml());
        service.send_signal("HUP");
    }
    all_serve(&all, &["new-x"]);
    redis.flush();
    let begun = Instant::now();
    for service in &all {
        until_so("no version is missing", || {
            let target = "/api/resolve?site=main&pathname=/en/articles/new-x";
            let response = http::get(service.addr(), target);
            begun.elapsed() > Duration::from_secs(6)
                && (response.status, response.header("age")) == (200, None)
        });
    }
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
}

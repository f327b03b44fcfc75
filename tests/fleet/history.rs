//! Redirects of paths that pages had before, on all instances.

use super::instances::changed;
use crate::support::api::{get, version};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::hook::SECRET;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::{until, until_so};

/// An instance that resolves by documents, without a store.
fn start(cms: &Cms, redis: &Redis) -> Service {
    start_with(articles(), cms, redis)
}

fn start_with(settings: Settings, cms: &Cms, redis: &Redis) -> Service {
    settings
        .resolve("documents")
        .strapi(cms)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SHARED__URL", &redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("RUST_LOG", "frontend_map=debug")
        .start()
}

/// Waits until a path leads to the document `a`.
#[track_caller]
fn has(service: &Service, slug: &str) {
    let target = format!("/api/resolve?site=main&pathname=/en/articles/{slug}");
    until_so(&format!("the page {slug}"), || {
        http::get(service.addr(), &target).json()["data"]["documentId"] == "a"
    });
}

/// Where a path leads to, if it is redirected.
fn redirect(service: &Service, slug: &str) -> Option<String> {
    let target = format!("/api/resolve?site=main&pathname=/en/articles/{slug}");
    let response = http::get(service.addr(), &target);
    let text = response.json()["data"]["redirect"]["path"].as_str()?.to_owned();
    Some(text.rsplit('/').next()?.to_owned())
}

#[track_caller]
fn leads(service: &Service, from: &str, to: &str) {
    until_so(&format!("{from} leads to {to}"), || redirect(service, from).as_deref() == Some(to));
}

fn role(service: &Service) -> String {
    super::instances::role(service)
}

#[test]
fn former_path_is_redirected_by_each_instance_and_by_one_that_starts_later() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let all = [start(&cms, &redis), start(&cms, &redis), start(&cms, &redis)];
    let leader = until("one leads", || all.iter().position(|one| role(one) == "leader"));
    for service in &all {
        has(service, "x");
    }
    // Renamed twice: a follower may see the last path alone.
    for slug in ["y", "z"] {
        content.publish("en", "a", slug);
        changed(&all[leader], "a");
        has(&all[leader], slug);
    }
    for service in &all {
        leads(service, "x", "z");
        leads(service, "y", "z");
    }
    let late = start(&cms, &redis);
    leads(&late, "x", "z");
    leads(&late, "y", "z");
}

#[test]
fn former_template_is_redirected_after_a_restart_or_a_rolling_deployment_without_stores() {
    for is_rolling in [false, true] {
        let content = Content::new(&[("en", "a", "x")]);
        let (cms, redis) = (content.start(), Redis::start());
        let mut first = Some(start(&cms, &redis));
        until_so("the list is published", || version(first.as_ref().expect("it runs")).is_some());
        if !is_rolling {
            first = None;
        }
        let template = "/{locale}/news/{slug}";
        let renamed = || site("main").rule("plugin::cms.article", template);
        let second = start_with(renamed(), &cms, &redis);
        let third = start_with(renamed(), &cms, &redis);
        for service in [&second, &third] {
            let former = "/api/resolve?site=main&pathname=/en/articles/x";
            until_so("the redirect", || {
                let response = get(service, former);
                assert_ne!(response.json()["data"]["kind"], "none", "{}", response.text());
                response.json()["data"]["redirect"]["path"] == "/en/news/x"
            });
        }
        drop(first);
    }
}

#[test]
fn rows_that_a_new_instance_removes_with_a_foreign_value_are_written_again_by_the_others() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let all = [start(&cms, &redis), start(&cms, &redis)];
    for service in &all {
        has(service, "x");
    }
    content.publish("en", "a", "y");
    changed(&all[0], "a");
    for service in &all {
        leads(service, "x", "y");
    }
    let key = until("the rows", || redis.keys("frontend-map:2:history:*").pop());
    let _: String = redis.command(&["SET", &key, "x"]);
    let late = start(&cms, &redis);
    leads(&late, "x", "y");
    drop(all);
    leads(&start(&cms, &redis), "x", "y");
}

#[test]
fn path_of_a_rename_while_redis_is_unavailable_is_redirected_by_all_instances() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, mut redis) = (content.start(), Redis::start());
    let all = [start(&cms, &redis), start(&cms, &redis)];
    until_so("one leads", || all.iter().any(|one| role(one) == "leader"));
    for service in &all {
        has(service, "x");
    }
    redis.kill();
    until_so("they are alone", || all.iter().all(|one| role(one) == "alone"));
    // One instance alone sees the path between.
    content.publish("en", "a", "y");
    changed(&all[0], "a");
    leads(&all[0], "x", "y");
    content.publish("en", "a", "z");
    changed(&all[0], "a");
    leads(&all[0], "y", "z");
    assert_eq!(redirect(&all[1], "y"), None);
    assert!(redis.restart());
    for service in &all {
        leads(service, "x", "z");
        leads(service, "y", "z");
    }
    let late = start(&cms, &redis);
    leads(&late, "y", "z");
}

#[test]
fn rows_of_a_flushed_redis_come_back_from_the_instances() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let first = start(&cms, &redis);
    until_so("it leads", || role(&first) == "leader");
    has(&first, "x");
    content.publish("en", "a", "y");
    changed(&first, "a");
    leads(&first, "x", "y");
    until_so("the row is shared", || !redis.keys("*:history:*").is_empty());
    redis.flush();
    until_so("the row is shared again", || !redis.keys("*:history:*").is_empty());
    let late = start(&cms, &redis);
    leads(&late, "x", "y");
}

#[test]
fn damaged_row_is_not_used() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "v")]);
    let (cms, redis) = (content.start(), Redis::start());
    let first = start(&cms, &redis);
    until_so("it leads", || role(&first) == "leader");
    has(&first, "x");
    for (id, slug) in [("a", "y"), ("b", "w")] {
        content.publish("en", id, slug);
        changed(&first, id);
    }
    leads(&first, "x", "y");
    leads(&first, "v", "w");
    let key = until("the rows are shared", || redis.keys("*:history:*").pop());
    let fields = || redis.command::<Vec<String>>(&["HKEYS", &key]);
    until_so("both rows are there", || fields().len() == 2);
    let of_x = fields().into_iter().find(|field| field.ends_with("/x")).expect("the row of x");
    let mut value: Vec<u8> = redis.command(&["HGET", &key, &of_x]);
    let last = value.len() - 40;
    value[last] ^= 1;
    redis.set_field(&key, &of_x, &value);
    let late = start(&cms, &redis);
    leads(&late, "v", "w");
    assert_eq!(redirect(&late, "x"), None);
    until_so("it is said", || late.logs("rows of the shared path history are damaged"));
}

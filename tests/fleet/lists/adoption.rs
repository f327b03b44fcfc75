//! What followers serve, and what they ask the CMS for.

use std::time::{Duration, Instant};

use super::Stored;
use crate::instances::{
    Instances, all_serve, changed, instance, instance_of, role, serves, sorted, walks,
};
use crate::support::content::{Content, selected};
use crate::support::front_of_cms::{SITEMAP, articles, setup};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::wait::{until, until_so};

const PAGES: &str = "/api/pages?site=main";

/// The body and the `ETag` of a response.
fn answer(service: &Service, target: &str) -> (String, Option<String>) {
    let response = http::get(service.addr(), target);
    assert_eq!(response.status, 200, "{}", response.text());
    (response.text().to_owned(), response.header("etag"))
}

fn age(service: &Service) -> u64 {
    let age = http::get(service.addr(), SITEMAP).header("age");
    age.and_then(|age| age.parse().ok()).expect("an age in seconds")
}

#[test]
fn instances_serve_equal_bodies_with_equal_etags_after_one_walk() {
    let instances = Instances::start(3, &Content::many(&["en"], 250));
    let expected = sorted(&instances.served(0));
    assert_eq!(expected.len(), 250);
    instances.agree(&expected);
    for target in [SITEMAP, PAGES] {
        let answers: Vec<_> = instances.all.iter().map(|one| answer(one, target)).collect();
        assert_eq!(answers[0], answers[1], "{target}");
        assert_eq!(answers[0], answers[2], "{target}");
    }
    assert_eq!(instances.walks(), 1);
}

#[test]
fn edit_whose_event_a_follower_receives_reaches_all_with_the_reads_of_one_instance() {
    let content = Content::many(&["en"], 50);
    let instances = Instances::start(3, &content);
    let follower = instances.follower();
    let before = instances.cms.targets().len();
    content.publish("en", "d00007", "moved");
    let begun = Instant::now();
    changed(&instances.all[follower], "d00007");
    let mut expected: Vec<String> = (0..50).filter(|n| *n != 7).map(|n| format!("s{n}")).collect();
    expected.push("moved".to_owned());
    expected.sort();
    instances.agree(&expected);
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(5), "{took:?}");
    println!("an edit has reached three instances after {took:?}");
    assert_eq!(instances.walks(), 1);

    let alone = Content::many(&["en"], 50);
    let cms = alone.start();
    let service = setup(&articles().strapi(&cms))
        .env("FRONTEND_MAP__HOOKS__SECRET", crate::support::hook::SECRET)
        .start();
    serves(
        &service,
        &(0..50)
            .map(|n| format!("s{n}"))
            .collect::<std::collections::BTreeSet<_>>()
            .into_iter()
            .collect::<Vec<_>>(),
    );
    let before_alone = cms.targets().len();
    alone.publish("en", "d00007", "moved");
    changed(&service, "d00007");
    serves(&service, &expected);
    let reads =
        |targets: &[String]| targets.iter().filter(|target| !selected(target).is_empty()).count();
    let (fleet, one) = (instances.cms.targets(), cms.targets());
    assert_eq!(reads(&fleet[before..]), reads(&one[before_alone..]), "{:?}", &fleet[before..]);
}

#[test]
fn follower_that_starts_later_adopts_base_and_deltas_without_a_request_to_the_cms() {
    let content = Content::many(&["en"], 50);
    let instances = Instances::start(2, &content);
    let mut stored = Stored::of(&instances.redis);
    let base = stored.pointer()["base"].clone();
    for n in 0..3 {
        let slug = format!("moved-{n}");
        content.publish("en", "d00001", &slug);
        changed(&instances.all[0], "d00001");
        until_so("the edit is there", || {
            instances.all.iter().all(|one| answer(one, SITEMAP).0.contains(&slug))
        });
    }
    assert_eq!(stored.pointer()["base"], base, "edits are deltas");
    assert!(stored.deltas() >= 3);
    let requests = instances.cms.targets().len();
    let late = instance(&instances.cms, &instances.redis).start();
    until_so("it follows", || role(&late) == "follower");
    serves(&late, &sorted(&instances.served(0)));
    for target in [SITEMAP, PAGES] {
        assert_eq!(answer(&late, target), answer(&instances.all[0], target), "{target}");
    }
    assert_eq!(instances.cms.targets().len(), requests, "{:?}", instances.cms.targets());
    assert!(!late.log().contains("a snapshot is built"));
}

#[test]
fn instance_with_other_settings_walks_by_itself_and_leaves_the_list_of_the_others() {
    let instances = Instances::start(2, &Content::many(&["en"], 20));
    let mut stored = Stored::of(&instances.redis);
    let at = stored.at();
    let other = setup(&articles().locales(&["en", "de"]).strapi(&instances.cms))
        .env("FRONTEND_MAP__SHARED__URL", &instances.redis.url())
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .start();
    until_so("it leads its own list", || role(&other) == "leader");
    serves(&other, &sorted(&instances.served(0)));
    until_so("it is published", || instances.redis.keys("frontend-map:2:list:*").len() == 2);
    assert_eq!(stored.at(), at);
    assert!(walks(&instances.cms) > 1);
}

#[test]
fn walk_that_confirms_a_list_makes_the_copies_of_all_instances_younger() {
    let content = Content::many(&["en"], 20);
    let instances = Instances::start(2, &content);
    let mut stored = Stored::of(&instances.redis);
    let follower = instances.follower();
    let (at, base) = (stored.at(), stored.pointer()["base"].clone());
    until_so("the snapshot has an age", || age(&instances.all[follower]) >= 2);
    let walks = instances.walks();
    // It names no document: anything may have changed.
    let body = br#"{"event":"entry.publish"}"#;
    let hook = crate::support::hook::post_body(&instances.all[follower], body);
    assert!(hook.starts_with("HTTP/1.1 202 "), "{hook}");
    until_so("the snapshot is younger", || age(&instances.all[follower]) < 2);
    assert_eq!(instances.walks(), walks + 1);
    until("the version is another one", || (stored.at() != at).then_some(()));
    assert_eq!(stored.pointer()["base"], base, "the list is not sent again");
    all_serve(
        &instances.all,
        &sorted(&instances.served(0)).iter().map(String::as_str).collect::<Vec<_>>(),
    );
}

#[test]
fn walks_that_confirm_a_list_keep_the_path_index_of_a_follower_fresh() {
    let content = Content::many(&["en"], 5);
    let (cms, redis) = (content.start(), Redis::start());
    let settings = articles().resolve("documents").strapi(&cms);
    let instance = || {
        let setup = instance_of(&settings, &redis);
        setup.env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start()
    };
    let all = [instance(), instance()];
    // An index is stale after ten missed refreshes, and its responses have an age from then on.
    until_so("twelve walks have confirmed the list", || walks(&cms) > 12);
    for service in &all {
        let resolved = http::get(service.addr(), "/api/resolve?site=main&pathname=/en/articles/s1");
        assert_eq!((resolved.status, resolved.header("age")), (200, None), "{}", role(service));
    }
}

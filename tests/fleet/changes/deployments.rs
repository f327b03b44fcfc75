//! Instances whose content differs, with one prefix: two deployments by mistake, or a rolling
//! deployment.

use serde_json::Value;

use super::readers::{brief, cursor, read};
use super::webhooks::{Receiver, SECRET};
use crate::instances::{changed, instance_of};
use crate::support::api::version;
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::articles;
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::settings::Settings;
use crate::support::wait::until_so;

const BASE: &str = "https://www.example.com";
const OTHER_BASE: &str = "https://staging.example.com";

/// An instance in front of this CMS, with this base URL, which sends webhooks to these targets.
fn start(cms: &Cms, redis: &Redis, base: &str, targets: &[&Receiver]) -> Service {
    start_with(&settings(cms, base, targets), redis)
}

fn settings(cms: &Cms, base: &str, targets: &[&Receiver]) -> Settings {
    let with = |settings: Settings, target: &&Receiver| {
        let url = format!("url = \"http://{}/hook\"", target.address);
        settings.more(&format!("[[notify]]\nsecret_file = \"secret\"\n{url}"))
    };
    targets.iter().fold(articles().front_end_url(base).strapi(cms), with)
}

fn start_with(settings: &Settings, redis: &Redis) -> Service {
    let service = instance_of(settings, redis).file("secret", SECRET).start();
    has_published(&service);
    service
}

/// Waits until the list of an instance is published: pages that it has before are no changes.
#[track_caller]
fn has_published(service: &Service) {
    until_so("the list is published", || {
        let pages = http::get(service.addr(), "/api/pages?site=main");
        pages.text().contains("/en/articles/") && version(service).is_some()
    });
}

#[track_caller]
fn has_page(service: &Service, slug: &str) {
    until_so(&format!("the page {slug}"), || {
        let pages = http::get(service.addr(), "/api/pages?site=main");
        pages.status == 200 && pages.text().contains(&format!("/en/articles/{slug}\""))
    });
}

#[track_caller]
fn edit(content: &Content, service: &Service, slug: &str) {
    content.publish("en", "a", slug);
    changed(service, "a");
    has_page(service, slug);
}

fn problem(service: &Service) -> Value {
    let mut ready = http::get(service.admin(), "/readyz").json();
    assert_eq!(ready["shared"]["state"], "available");
    ready["shared"]["problem"].take()
}

#[test]
fn two_deployments_with_one_prefix_lose_nothing_and_say_so() {
    let redis = Redis::start();
    let contents = [(); 2].map(|()| Content::new(&[("en", "a", "a0")]));
    let cms = [contents[0].start(), contents[1].start()];
    let targets = [(); 2].map(|()| Receiver::start(|_| true));
    let production = start(&cms[0], &redis, BASE, &[&targets[0]]);
    let staging = start(&cms[1], &redis, OTHER_BASE, &[&targets[1]]);
    let all = [&production, &staging];
    for target in &targets {
        target.gets(&["reset"]);
    }
    let cursors = all.map(cursor);
    for n in 1..=4 {
        for (at, name) in ["production", "staging"].into_iter().enumerate() {
            edit(&contents[at], all[at], &format!("{name}{n}"));
        }
    }
    for (at, name) in ["production", "staging"].into_iter().enumerate() {
        let path = |n: u32| format!("/en/articles/{name}{n}");
        let expected: Vec<String> =
            std::iter::once("reset".to_owned()).chain((1..=4).map(path)).collect();
        targets[at].gets(&expected);
        let found = read(all[at], &cursors[at]);
        assert_eq!(found["reset"], false, "{found}");
        let changes = brief(&found);
        assert_eq!(changes.len(), 4, "{changes:?}");
        assert!(changes.iter().all(|change| change.contains(&format!("/{name}"))), "{changes:?}");
        // A cursor of the other deployment is none of this one.
        assert_eq!(read(all[at], &cursors[1 - at])["reset"], true);
    }
    for (service, other) in [(&production, OTHER_BASE), (&staging, BASE)] {
        until_so("the other deployment is a problem", || {
            problem(service).as_str().is_some_and(|text| {
                text.contains(&format!("site main at {other}")) && text.contains("shared.prefix")
            })
        });
        let gauge = scrape(service.admin()).of("shared_other_deployments");
        assert!((gauge - 1.0).abs() < f64::EPSILON, "{gauge}");
        assert!(service.logs("another deployment uses the same keys"));
    }
    drop(staging);
    until_so("it has ended", || problem(&production) == Value::Null);
}

#[test]
fn target_that_a_rolling_deployment_adds_gets_its_changes_and_the_others_none_twice() {
    let (content, redis) = (Content::new(&[("en", "a", "a0")]), Redis::start());
    let cms = content.start();
    let [present, added] = [(); 2].map(|()| Receiver::start(|_| true));
    let old = start(&cms, &redis, BASE, &[&present]);
    present.gets(&["reset"]);
    let new = start(&cms, &redis, BASE, &[&present, &added]);
    added.gets(&["reset"]);
    // Old and new instances run: the lease of each target is requested by all that have it.
    edit(&content, &old, "a1");
    present.gets(&["reset", "/en/articles/a1"]);
    added.gets(&["reset", "/en/articles/a1"]);
    assert_eq!(problem(&new), Value::Null, "their content is the same");
    drop(old);
    edit(&content, &new, "a2");
    present.gets(&["reset", "/en/articles/a1", "/en/articles/a2"]);
    added.gets(&["reset", "/en/articles/a1", "/en/articles/a2"]);
}

#[test]
fn rolling_deployment_that_adds_a_site_sends_no_change_twice() {
    let (content, redis) = (Content::new(&[("en", "a", "a0")]), Redis::start());
    let (cms, target) = (content.start(), Receiver::start(|_| true));
    let old = start(&cms, &redis, BASE, &[&target]);
    target.gets(&["reset"]);
    let shop = settings(&cms, BASE, &[&target])
        .site("shop")
        .front_end_url("https://shop.example.com")
        .more("[[site.page]]\nname = \"home\"\npath = \"/{locale}/home\"");
    let new = start_with(&shop, &redis);
    // The first change is the reset of the shop.
    let mut expected = vec!["reset".to_owned(); 2];
    target.gets(&expected);
    for n in 1..=6 {
        let slug = format!("a{n}");
        edit(&content, [&old, &new][n % 2], &slug);
        expected.push(format!("/en/articles/{slug}"));
        target.gets(&expected);
    }
    assert_eq!(target.count(), expected.len(), "one instance sends the changes of a site");
}

#[test]
fn return_to_a_former_base_url_sends_a_reset() {
    let (content, redis) = (Content::new(&[("en", "a", "a0")]), Redis::start());
    let (cms, target) = (content.start(), Receiver::start(|_| true));
    let mut service = start(&cms, &redis, BASE, &[&target]);
    let mut expected = vec!["reset"];
    target.gets(&expected);
    edit(&content, &service, "a1");
    expected.push("/en/articles/a1");
    target.gets(&expected);
    for base in [OTHER_BASE, BASE] {
        drop(service);
        service = start(&cms, &redis, base, &[&target]);
        expected.push("reset");
        target.gets(&expected);
    }
    for base in [OTHER_BASE, BASE] {
        service.rewrite("settings.toml", &settings(&cms, base, &[&target]).toml());
        service.send_signal("HUP");
        expected.push("reset");
        target.gets(&expected);
    }
    has_published(&service);
    edit(&content, &service, "a2");
    expected.push("/en/articles/a2");
    target.gets(&expected);
}

#[test]
fn rolling_deployment_with_another_base_url_sends_a_reset_before_any_change_is_sent_twice() {
    let (content, redis) = (Content::new(&[("en", "a", "a0")]), Redis::start());
    let (cms, target) = (content.start(), Receiver::start(|_| true));
    let old = start(&cms, &redis, BASE, &[&target]);
    target.gets(&["reset"]);
    edit(&content, &old, "a1");
    target.gets(&["reset", "/en/articles/a1"]);
    let before = cursor(&old);
    let new = start(&cms, &redis, OTHER_BASE, &[&target]);
    target.gets(&["reset", "/en/articles/a1", "reset"]);
    edit(&content, &old, "a2");
    has_page(&new, "a2");
    let expected = ["reset", "/en/articles/a1", "reset", "/en/articles/a2", "/en/articles/a2"];
    target.gets(&expected);
    assert_eq!(read(&new, &before)["reset"], true, "the new fleet has another log");
    assert_eq!(read(&old, &before)["reset"], false);
    drop(old);
    edit(&content, &new, "a3");
    target.gets(&[&expected[..], &["/en/articles/a3"]].concat());
}

#[test]
fn reload_with_another_base_url_begins_another_log_and_another_sender() {
    let (content, redis) = (Content::new(&[("en", "a", "a0")]), Redis::start());
    let (cms, target) = (content.start(), Receiver::start(|_| true));
    let [one, other] = [(); 2].map(|()| start(&cms, &redis, BASE, &[&target]));
    target.gets(&["reset"]);
    let before = cursor(&one);
    one.rewrite("settings.toml", &settings(&cms, OTHER_BASE, &[&target]).toml());
    one.send_signal("HUP");
    target.gets(&["reset", "reset"]);
    until_so("another log", || read(&one, &before)["reset"] == true);
    assert_eq!(read(&other, &before)["reset"], false);
    let cursors = [&one, &other].map(cursor);
    assert_ne!(cursors[0], cursors[1]);
    has_published(&one);
    edit(&content, &other, "a1");
    has_page(&one, "a1");
    target.gets(&["reset", "reset", "/en/articles/a1", "/en/articles/a1"]);
    for (service, cursor) in [(&one, &cursors[0]), (&other, &cursors[1])] {
        assert_eq!(read(service, cursor)["reset"], false);
    }
}

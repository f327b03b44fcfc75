//! Which instance walks, and which one takes over.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use super::instances::{
    Instances, UID, all_serve, changed, instance, instance_of, paths, role, serves, walks,
};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{SITEMAP, articles, assert_failure, refusal};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::service::Setup;
use crate::support::settings::site;
use crate::support::wait::until_so;

#[test]
fn instances_make_one_walk_and_serve_the_same_list() {
    let instances = Instances::start(3, &Content::many(&["en"], 250));
    instances.leader();
    let before = instances.walks();
    assert_eq!(before, 1, "{:?}", instances.cms.targets());
    assert_eq!(instances.served(0).len(), 250);
    let late = instance(&instances.cms, &instances.redis).start();
    serves(&late, &super::instances::sorted(&instances.served(0)));
    assert_eq!(instances.walks(), 1, "an instance that starts later adopts the list");
}

#[test]
fn request_to_a_follower_without_a_copy_is_answered_by_the_walk_of_the_leader() {
    let (cms, redis) = (Content::new(&[("en", "a", "x")]).start(), Redis::start());
    let start = || instance(&cms, &redis).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start();
    let all = [start(), start()];
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let follower = &all[usize::from(role(&all[0]) == "leader")];
    until_so("the other one follows", || role(follower) == "follower");
    assert_eq!(paths(follower), ["x"]);
    all_serve(&all, &["x"]);
    assert_eq!(walks(&cms), 1);
}

#[test]
fn request_to_a_follower_fails_at_once_if_the_walk_of_the_leader_fails() {
    let content = Content::new(&[("en", "a", "x")]);
    content.fail(|_| Some(refusal(500, "InternalServerError", "{}")));
    let (cms, redis) = (content.start(), Redis::start());
    let all = [(); 2]
        .map(|()| instance(&cms, &redis).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start());
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let follower = &all[usize::from(role(&all[0]) == "leader")];
    until_so("the other one follows", || role(follower) == "follower");
    let begun = Instant::now();
    let answer = http::get(follower.addr(), SITEMAP);
    assert_failure(&answer, 503, "ServiceUnavailableError");
    // The deadline is two minutes.
    assert!(begun.elapsed() < Duration::from_secs(30), "{:?}", begun.elapsed());
    content.heal();
    until_so("the list", || http::get(follower.addr(), SITEMAP).status == 200);
    assert_eq!(paths(follower), ["x"]);
}

/// An instance for which a CMS is too slow that is not for others.
fn impatient(cms: &Cms, redis: &Redis) -> Setup {
    instance(cms, redis).env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "200")
}

/// From now on, the CMS takes longer for a response than an impatient instance waits.
fn slow_down(content: &Content) {
    content.fail(|_| {
        std::thread::sleep(Duration::from_millis(500));
        None
    });
}

#[test]
fn leader_that_does_not_reach_the_cms_leaves_the_lists_to_an_instance_that_does() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let leader = impatient(&cms, &redis).start();
    until_so("it leads", || role(&leader) == "leader");
    serves(&leader, &["x"]);
    let all = [leader, instance(&cms, &redis).start()];
    all_serve(&all, &["x"]);
    slow_down(&content);
    for (at, slug) in ["y", "z"].into_iter().enumerate() {
        content.publish("en", "a", slug);
        changed(&all[at], "a");
        all_serve(&all, &[slug]);
    }
    assert_eq!([role(&all[0]), role(&all[1])], ["follower", "leader"]);
}

#[test]
fn request_to_an_instance_that_does_not_reach_the_cms_is_answered_by_the_walk_of_another() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    slow_down(&content);
    let start = |setup: Setup| setup.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false").start();
    let leader = start(impatient(&cms, &redis));
    until_so("it leads", || role(&leader) == "leader");
    let other = start(instance(&cms, &redis));
    until_so("the other one follows", || role(&other) == "follower");
    assert_eq!(http::get(leader.addr(), SITEMAP).status / 100, 5);
    until_so("the list", || http::get(leader.addr(), SITEMAP).status == 200);
    all_serve(&[leader, other], &["x"]);
}

#[test]
fn outage_of_the_cms_is_logged_as_a_warning_once_by_each_instance() {
    const GIVEN_UP: &str = "the lease is given up";
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let all = [(); 2].map(|()| impatient(&cms, &redis).start());
    all_serve(&all, &["x"]);
    slow_down(&content);
    let lines = |at: usize| -> Vec<String> {
        let log = all[at].log();
        log.lines().filter(|line| line.contains(GIVEN_UP)).map(str::to_owned).collect()
    };
    until_so("an instance has given up the lease twice", || {
        for service in &all {
            changed(service, "a");
        }
        std::thread::sleep(Duration::from_secs(1));
        (0..2).any(|at| lines(at).len() >= 2)
    });
    for lines in [lines(0), lines(1)] {
        let warnings = lines.iter().filter(|line| line.contains("WARN")).count();
        assert_eq!(warnings, lines.len().min(1), "{lines:#?}");
    }
}

#[test]
fn instances_walk_for_themselves_while_the_leader_does_not_respond() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let keys = instances.redis.keys("frontend-map:2:lease:lead:*");
    let [lease] = &keys[..] else { panic!("one lease: {keys:?}") };
    // Of a later epoch: a lease of an earlier one is replaced.
    let other = format!("{}:800000000000000", "f".repeat(32));
    let renew = || {
        let set = ["SET", lease.as_str(), &other, "PX", "3000"];
        instances.redis.command::<String>(&set);
    };
    renew();
    instances.content.publish("en", "a", "y");
    let mut is_sent = false;
    until_so("both walk for themselves", || {
        renew();
        let roles: Vec<String> = instances.all.iter().map(role).collect();
        if !is_sent && roles.iter().all(|role| role == "follower") {
            changed(&instances.all[0], "a");
            is_sent = true;
        }
        std::thread::sleep(Duration::from_millis(100));
        is_sent && instances.all.iter().all(|service| paths(service) == ["y"])
    });
    assert!(instances.all.iter().all(|service| role(service) == "alone"));
    instances.leader();
    instances.content.publish("en", "a", "z");
    changed(&instances.all[1], "a");
    all_serve(&instances.all, &["z"]);
}

#[test]
fn changes_of_another_site_are_served_while_the_leader_of_a_list_does_not_respond() {
    let (content, redis) = (Content::new(&[("en", "a", "x")]), Redis::start());
    let shop = articles()
        .site("shop")
        .front_end_url("https://shop.example.com")
        .more("[[site.page]]\nname = \"home\"\npath = \"/{locale}/home\"");
    let cms = content.start();
    let service = instance_of(&shop.strapi(&cms), &redis).start();
    serves(&service, &["x"]);
    let status =
        |site: &str| http::get(service.addr(), &format!("/api/changes?site={site}")).status;
    until_so("all changes are known", || status("main") == 200 && status("shop") == 200);
    let lease = redis.keys("frontend-map:2:lease:lead:*").pop().expect("a lease");
    let other = format!("{}:800000000000000", "f".repeat(32));
    until_so("the changes of one site may be missing", || {
        let _: String = redis.command(&["SET", &lease, &other, "PX", "3000"]);
        changed(&service, "a");
        std::thread::sleep(Duration::from_millis(100));
        status("main") == 503
    });
    assert_eq!(status("shop"), 200);
}

#[test]
fn followers_walk_for_themselves_while_the_leader_cannot_publish() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let read_only = ["%R~frontend-map:2:list:*", "~frontend-map:2:[^l]*"];
    let rest = ["~frontend-map:2:le*", "~frontend-map:2:lo*"];
    let rights = [&["ACL", "SETUSER", "default", "resetkeys"][..], &read_only, &rest].concat();
    let _: String = instances.redis.command(&rights);
    instances.content.publish("en", "a", "y");
    let follower = instances.follower();
    changed(&instances.all[follower], "a");
    all_serve(&instances.all, &["y"]);
    assert_eq!(role(&instances.all[follower]), "alone");
    let _: String = instances.redis.command(&["ACL", "SETUSER", "default", "allkeys"]);
    assert_eq!(instances.follower(), follower);
    instances.content.publish("en", "a", "z");
    changed(&instances.all[follower], "a");
    all_serve(&instances.all, &["z"]);
}

#[test]
fn follower_that_may_not_read_lists_walks_for_itself_until_it_may() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    instances.leader();
    let follower = instances.follower();
    all_serve(&instances.all, &["x"]);
    let _: String = instances.redis.command(&["ACL", "SETUSER", "default", "-xrange", "-getrange"]);
    instances.content.publish("en", "a", "y");
    changed(&instances.all[follower], "a");
    all_serve(&instances.all, &["y"]);
    assert_eq!(role(&instances.all[follower]), "alone");
    assert!(instances.all[follower].log().contains("a published snapshot could not be read"));
    let _: String = instances.redis.command(&["ACL", "SETUSER", "default", "+xrange", "+getrange"]);
    assert_eq!(instances.follower(), follower);
    instances.content.publish("en", "a", "z");
    changed(&instances.all[follower], "a");
    all_serve(&instances.all, &["z"]);
}

#[test]
fn followers_wait_for_a_long_walk_of_the_leader() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    content.close();
    let start = || {
        instance(&cms, &redis)
            .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false")
            .env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "120000")
            .start()
    };
    let all = [start(), start()];
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let follower = &all[usize::from(role(&all[0]) == "leader")];
    until_so("the other one follows", || role(follower) == "follower");
    let address = follower.addr();
    let waiting = std::thread::spawn(move || http::get(address, SITEMAP).status);
    until_so("the leader walks", || walks(&cms) == 1);
    // Longer than a follower waits for a leader that does not respond.
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(17) {
        assert_eq!((role(follower).as_str(), walks(&cms)), ("follower", 1));
        std::thread::sleep(Duration::from_millis(500));
    }
    content.open();
    assert_eq!(waiting.join().expect("no panic"), 200);
    all_serve(&all, &["x"]);
    assert_eq!(walks(&cms), 1);
}

#[test]
fn copy_that_a_follower_finds_due_is_refreshed_by_the_leader() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let soft = |setup: Setup| {
        setup
            .env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1")
            .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1")
    };
    let all = [(); 2].map(|()| soft(instance(&cms, &redis)).start());
    all_serve(&all, &["x"]);
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let follower = &all[usize::from(role(&all[0]) == "leader")];
    until_so("the other one follows", || role(follower) == "follower");
    content.publish("en", "b", "y");
    serves(follower, &["x", "y"]);
    assert!(!follower.log().contains("a snapshot is built"), "it has walked by itself");
}

#[test]
fn another_instance_leads_after_the_leader_is_killed_and_no_edit_is_lost() {
    let mut instances = Instances::start(3, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    let leader = instances.leader();
    drop(instances.all.remove(leader));
    // Before another instance has the lease.
    instances.content.publish("en", "a", "z");
    changed(&instances.all[0], "a");
    all_serve(&instances.all, &["y", "z"]);
    instances.leader();
    instances.content.publish("en", "b", "w");
    changed(&instances.all[1], "b");
    all_serve(&instances.all, &["w", "z"]);
}

#[test]
fn leader_that_was_paused_follows_and_does_not_bring_back_what_has_changed() {
    let instances = Instances::start(3, &Content::new(&[("en", "a", "x"), ("en", "b", "y")]));
    let leader = instances.leader();
    // The leader has read the old version when it is paused.
    instances.content.close();
    changed(&instances.all[leader], "a");
    until_so("the leader reads the document", || instances.reads("a") > 0);
    instances.all[leader].send_signal("STOP");
    instances.content.open();
    instances.content.publish("en", "a", "z");
    let others: Vec<usize> = (0..3).filter(|at| *at != leader).collect();
    changed(&instances.all[others[0]], "a");
    for other in &others {
        serves(&instances.all[*other], &["y", "z"]);
    }
    until_so("another one leads", || others.iter().any(|at| role(&instances.all[*at]) == "leader"));
    instances.all[leader].send_signal("CONT");
    serves(&instances.all[leader], &["y", "z"]);
    until_so("it follows", || role(&instances.all[leader]) == "follower");
    for _ in 0..20 {
        for other in &others {
            assert_eq!(paths(&instances.all[*other]), ["y", "z"]);
        }
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn instance_that_was_paused_says_so_until_it_has_read_the_events_of_the_others() {
    let (content, redis) = (Content::new(&[("en", "a", "x")]), Redis::start());
    let cms = content.start();
    let settings = articles().resolve("documents").strapi(&cms);
    let all = [0; 2].map(|_| instance_of(&settings, &redis).start());
    all_serve(&all, &["x"]);
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let leader = usize::from(role(&all[0]) != "leader");
    let [leader, paused] = [&all[leader], &all[1 - leader]];
    let resolve = "GET /api/resolve?site=main&pathname=/en/articles/x HTTP/1.1\r\nHost: x\r\n\
                   Connection: close\r\n\r\n";
    let age = |response: &str| response.to_lowercase().contains("\r\nage: ");
    paused.send_signal("STOP");
    let begun = Instant::now();
    content.publish("en", "a", "z");
    changed(leader, "a");
    serves(leader, &["z"]);
    until_so("the pause is longer than a read", || begun.elapsed() > Duration::from_secs(4));
    // It is there before the process goes on.
    let mut stream = TcpStream::connect(paused.addr()).expect("it listens");
    stream.write_all(resolve.as_bytes()).expect("the system takes it");
    paused.send_signal("CONT");
    let mut response = String::new();
    stream.read_to_string(&mut response).expect("a response");
    assert!(age(&response) || response.contains("/en/articles/z"), "{response}");
    serves(paused, &["z"]);
    let target = "/api/resolve?site=main&pathname=/en/articles/z";
    let response = http::get(paused.addr(), target);
    assert_eq!((response.status, response.header("age")), (200, None), "{}", response.text());
}

#[test]
fn leader_that_stops_hands_over_at_once_and_serves_until_the_end_of_its_delay() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, redis) = (content.start(), Redis::start());
    let start =
        || instance(&cms, &redis).env("FRONTEND_MAP__SERVER__DRAIN_DELAY_MS", "20000").start();
    let mut all = vec![start(), start()];
    all_serve(&all, &["x"]);
    until_so("one leads", || all.iter().any(|service| role(service) == "leader"));
    let leader = all.iter().position(|service| role(service) == "leader").expect("one leads");
    let begun = Instant::now();
    all[leader].send_signal("TERM");
    until_so("the other one leads", || role(&all[1 - leader]) == "leader");
    assert!(begun.elapsed() < Duration::from_millis(2500), "{:?}", begun.elapsed());
    assert_eq!(paths(&all[leader]), ["x"], "it still serves");
    content.publish("en", "a", "z");
    changed(&all[leader], "a");
    serves(&all[1 - leader], &["z"]);
    serves(&all[leader], &["z"]);
    assert_eq!(all[leader].signal("TERM"), Some(0));
    all.remove(leader);
}

#[test]
fn instance_with_other_rules_walks_under_a_lease_of_its_own() {
    let instances = Instances::start(2, &Content::new(&[("en", "a", "x")]));
    let (leader, follower) = (instances.leader(), instances.follower());
    let walks = instances.walks();
    let service = &instances.all[follower];
    let other = site("main").rule(UID, "/{locale}/articles/new-{slug}").strapi(&instances.cms);
    service.rewrite("settings.toml", &other.toml());
    service.send_signal("HUP");
    serves(service, &["new-x"]);
    assert!(!service.log().contains("need a restart"), "[shared] is as before");
    assert_eq!(instances.walks(), walks + 1);
    until_so("it leads its own list", || role(service) == "leader");
    assert_eq!(role(&instances.all[leader]), "leader");
    assert_eq!(paths(&instances.all[leader]), ["x"]);
    // The other one follows with the new settings.
    let service = &instances.all[leader];
    service.rewrite("settings.toml", &other.toml());
    service.send_signal("HUP");
    serves(service, &["new-x"]);
    until_so("it follows", || role(service) == "follower");
    assert_eq!(instances.walks(), walks + 1);
}

//! Runs of URL checks of three real services on one Redis: one run for all callers, whichever
//! instance they ask, and complete results whatever becomes of the owner and Redis.

#![expect(clippy::float_cmp, reason = "counts are whole numbers")]

mod late_answers;

use std::collections::BTreeSet;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::redis::Redis;
use crate::support::service::Service;
use crate::support::url_checks::{Caller, EVENTS, LINES, events, site, slugs, target};
use crate::support::wait::until_so;

const LATE: Duration = Duration::from_millis(40);

fn mixed(path: &str) -> Answer {
    match path.strip_suffix("-t0").and_then(|path| path.bytes().last()) {
        Some(b'3') => answer("404 Not Found", "", 5),
        Some(b'7') => answer("301 Moved Permanently", "Location: /new\r\n", 0),
        _ => answer("200 OK", "", 5),
    }
}

fn start(peer: &FrontEnd, redis: &Redis, count: usize) -> Service {
    let setup = site(&peer.url("http", ""), 1, &slugs("a", count));
    let service = setup.env("FRONTEND_MAP__SHARED__URL", &redis.url()).start();
    until_so("Redis is available", || service.log().contains("Redis is available"));
    service
}

fn start_three(peer: &FrontEnd, redis: &Redis, count: usize) -> [Service; 3] {
    let services = [(); 3].map(|()| start(peer, redis, count));
    for service in &services {
        let known = || scrape(service.admin()).of("shared_instances");
        until_so("all are known", || known() >= 3.0);
    }
    services
}

fn ask(service: &Service) -> String {
    let response = http::get(service.addr(), &target(0));
    assert_eq!(response.status, 200, "{}", response.text());
    response.text().to_owned()
}

/// The result of so many URLs, each of which was checked.
fn assert_complete(text: &str, count: usize) {
    let result: Value = serde_json::from_str(text).unwrap();
    let results = result["data"]["results"].as_array().unwrap();
    let urls: BTreeSet<&str> = results.iter().map(|one| one["url"].as_str().unwrap()).collect();
    assert_eq!((results.len(), urls.len()), (count, count));
    assert!(results.iter().all(|one| one["status"].is_number()), "{text}");
}

fn counter(services: &[&Service], name: &str) -> f64 {
    services.iter().map(|service| scrape(service.admin()).of(name)).sum()
}

const RUNS: &str = "validation_runs_total";
const FOLLOWED: &str = "validation_runs_followed_total";

#[tokio::test(flavor = "multi_thread")]
async fn sixty_callers_of_three_instances_share_one_run_and_its_result() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, mixed).await);
    let services = start_three(&peer, &redis, 120);
    let bodies: BTreeSet<String> = thread::scope(|scope| {
        let callers = services.iter().flat_map(|service| (0..20).map(move |_| service));
        let callers: Vec<_> = callers.map(|service| scope.spawn(|| ask(service))).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(bodies.len(), 1, "all have the same bytes");
    assert_complete(bodies.first().unwrap(), 120);
    let requested: BTreeSet<String> = peer.heads().into_iter().collect();
    assert_eq!((peer.heads().len(), requested.len()), (120, 120), "each URL once");
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    let all: Vec<&Service> = services.iter().collect();
    assert_eq!((counter(&all, RUNS), counter(&all, FOLLOWED)), (1.0, 2.0));
    let stats: String = redis.command(&["INFO", "commandstats"]);
    let scripts = stats.lines().find(|line| line.starts_with("cmdstat_evalsha"));
    println!("for 120 URLs, from the start on: {scripts:?}");

    // The result is reused, also by an instance that starts later.
    let fourth = start(&peer, &redis, 120);
    assert_eq!(ask(&fourth), *bodies.first().unwrap());
    assert_eq!(peer.heads().len(), 120);
    let last = |service: &Service| {
        http::get(service.addr(), "/api/validations?site=main").text().to_owned()
    };
    let known = last(&fourth);
    assert!(known.contains("\"count\":120"), "{known}");
    for service in &services {
        until_so("all have the last run", || last(service) == known);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_with_content_serves_callers_of_other_instances_with_and_without_it() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, mixed).await);
    let [first, second, third] = start_three(&peer, &redis, 60);
    let content = format!("{}&content=true", target(0));
    let judged = |service: &Service| http::get(service.addr(), &content).text().to_owned();
    let result = judged(&first);
    assert!(
        result.contains(r#""content":{"read":0,"faulty":0,"kinds":{"unread":48}}"#),
        "{result}"
    );
    // Each URL, robots.txt, and a path that cannot exist.
    assert_eq!(peer.heads().len(), 60 + 2);
    assert_eq!(judged(&second), result);
    let without = ask(&third);
    assert_complete(&without, 60);
    assert!(!without.contains("documentId"), "{without}");
    assert_eq!(peer.heads().len(), 60 + 2, "the result is reused");
    let last = http::get(second.addr(), "/api/validations?site=main").text().to_owned();
    assert!(last.contains(r#""read":0,"faulty":0"#), "{last}");
}

#[tokio::test(flavor = "multi_thread")]
async fn callers_of_other_instances_get_the_progress_the_findings_and_the_result() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, mixed).await);
    let [first, second, _third] = start_three(&peer, &redis, 500);
    let mut owner = Caller::new(&first, 0, Some(EVENTS), "");
    owner.until("event: finding");
    let follow =
        |format| move |service: &Service| http::send(service.addr(), "GET", &target(0), &[format]);
    let (streamed, lines) = thread::scope(|scope| {
        let streamed = scope.spawn(|| follow(EVENTS)(&second));
        let lines = scope.spawn(|| follow(LINES)(&second));
        (streamed.join().unwrap(), lines.join().unwrap())
    });
    let whole = ask(&first);
    let all = events(&streamed);
    let checked: Vec<u64> = all
        .iter()
        .filter(|(name, _)| name == "progress")
        .map(|(_, data)| serde_json::from_str::<Value>(data).unwrap()["checked"].as_u64().unwrap())
        .collect();
    assert!(checked.is_sorted() && checked.last() == Some(&500), "{checked:?}");
    assert!(checked.iter().any(|checked| (1..500).contains(checked)), "{checked:?}");
    assert!(all.iter().all(|(name, data)| name != "progress" || data.contains("\"error\":0")));
    assert_eq!(all.iter().filter(|(name, _)| name == "finding").count(), 500);
    assert_eq!(all.last().unwrap(), &("result".to_owned(), whole.clone()));
    assert_eq!(lines.text().lines().last().unwrap(), whole);
    assert_eq!(peer.heads().len(), 500);
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_owner_is_replaced_by_an_instance_with_a_caller() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, mixed).await);
    let [first, second, third] = start_three(&peer, &redis, 300);
    let mut owner = Caller::new(&first, 0, Some(EVENTS), "");
    owner.until("event: finding");
    let bodies: BTreeSet<String> = thread::scope(|scope| {
        let callers = [&second, &third].map(|service| scope.spawn(|| ask(service)));
        until_so("both follow", || counter(&[&second, &third], FOLLOWED) >= 2.0);
        drop(first);
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(bodies.len(), 1);
    assert_complete(bodies.first().unwrap(), 300);
    assert_eq!(counter(&[&second, &third], RUNS), 1.0, "one of the two has run it");
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
}

#[tokio::test(flavor = "multi_thread")]
async fn lost_redis_leaves_complete_results_and_at_most_ten_checks_in_flight() {
    for is_killed in [true, false] {
        let (mut redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, mixed).await);
        let services = start_three(&peer, &redis, 300);
        let mut owner = Caller::new(&services[0], 0, Some(EVENTS), "");
        owner.until("event: finding");
        let others = [&services[1], &services[2]];
        let bodies: Vec<String> = thread::scope(|scope| {
            let callers = others.map(|service| scope.spawn(|| ask(service)));
            until_so("both follow", || counter(&others, FOLLOWED) >= 2.0);
            if is_killed {
                redis.kill();
            } else {
                redis.pause();
            }
            callers.into_iter().map(|caller| caller.join().unwrap()).collect()
        });
        for body in bodies {
            assert_complete(&body, 300);
        }
        let end = owner.until("event: result");
        assert!(end.contains("event: result"), "the owner goes on");
        assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
        if !is_killed {
            redis.resume();
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn damaged_result_is_refused_and_the_urls_are_checked_again() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(mixed).await);
    let [first, second, third] = start_three(&peer, &redis, 30);
    let whole = ask(&first);
    until_so("the result is shared", || !redis.keys("*:result").is_empty());
    for key in redis.keys("*:run:*:0") {
        let _: usize = redis.command(&["SETRANGE", &key, "40", "damaged"]);
    }
    assert_eq!(ask(&second), whole);
    assert_eq!(peer.heads().len(), 60);
    assert!(second.logs("the shared result of a validation is refused"));
    // The newer result is good.
    until_so("it is shared", || ask(&third) == whole && peer.heads().len() == 60);
    for key in redis.keys("*:result") {
        let _: usize = redis.command(&["HSET", &key, "result", "forged"]);
    }
    let fourth = start(&peer, &redis, 30);
    assert_eq!((ask(&fourth), peer.heads().len()), (whole, 90));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_ends_when_the_last_caller_of_any_instance_has_left() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(|_| Answer::Hang).await);
    let [first, second, _third] = start_three(&peer, &redis, 30);
    let mut owner = Caller::new(&first, 0, Some(EVENTS), "");
    owner.until("event: progress");
    until_so("requests", || peer.open() > 0);
    let follower = Caller::new(&second, 0, None, "");
    until_so("it follows", || counter(&[&second], FOLLOWED) >= 1.0);
    let requests = peer.heads().len();
    drop(owner);
    // The interest of the other instance keeps the run alive.
    let progress = Caller::new(&second, 0, Some(EVENTS), "").until("\"checked\":0,\"total\":30");
    assert!(progress.contains("\"total\":30"), "{progress}");
    assert!(peer.open() > 0);
    drop(follower);
    until_so("all requests are given up", || peer.open() == 0);
    assert!(peer.heads().len() <= requests + 10);
    until_so("nothing is left of it", || redis.keys("*:run:*").is_empty());
    // The next run starts from the beginning.
    let _caller = Caller::new(&second, 0, None, "");
    until_so("requests again", || peer.open() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_with_redis_responds_like_one_without() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_holding(10, mixed).await);
    let alone = site(&peer.url("http", ""), 1, &slugs("a", 40)).start();
    let expected = ask(&alone);
    let service = start(&peer, &redis, 40);
    let streamed = http::send(service.addr(), "GET", &target(0), &[EVENTS]);
    let all = events(&streamed);
    assert_eq!(all.last().unwrap(), &("result".to_owned(), expected.clone()));
    assert_eq!(all.iter().filter(|(name, _)| name == "finding").count(), 40);
    assert_eq!(ask(&service), expected);
    assert_eq!((peer.heads().len(), peer.most_in_flight()), (80, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn stopped_owner_hands_its_run_over_at_once() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(|_| Answer::Hang).await);
    let [mut first, second, _third] = start_three(&peer, &redis, 30);
    let mut caller = Caller::new(&first, 0, Some(EVENTS), "");
    caller.until("event: progress");
    let mut follower = Caller::new(&second, 0, Some(EVENTS), "");
    until_so("it follows", || counter(&[&second], FOLLOWED) >= 1.0);
    let run = redis.keys("*:run:*").into_iter().find(|key| !key.ends_with(":interest")).unwrap();
    let owner = || redis.command::<Option<String>>(&["HGET", &run, "owner"]);
    let before = owner();
    assert!(before.is_some());
    drop(caller);
    assert_eq!(first.signal("INT"), Some(0));
    assert_ne!(owner(), before, "the run is released when its owner has ended");
    until_so("the other instance owns it", || owner().is_some());
    follower.until("event: progress");
    until_so("requests", || peer.open() > 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn forged_runs_end_and_do_not_keep_instances_from_sharing_theirs() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(mixed).await);
    let [first, _second, _third] = start_three(&peer, &redis, 30);
    let whole = ask(&first);
    until_so("the result is shared", || !redis.keys("*:result").is_empty());
    let result = redis.keys("*:result").remove(0);
    let run = result.strip_suffix(":result").unwrap();
    let forged: [&[&[&str]]; 3] = [
        // No instance renews it.
        &[&["HSET", run, "owner", "x"]],
        &[&["SET", run, "x"], &["SET", &result, "x"]],
        &[&["SET", &format!("{run}:interest"), "x"]],
    ];
    for (at, commands) in forged.into_iter().enumerate() {
        redis.flush();
        for words in commands {
            let _: redis::Value = redis.command(words);
        }
        let fresh = start(&peer, &redis, 30);
        let before = peer.heads().len();
        assert_eq!((ask(&fresh), peer.heads().len() - before), (whole.clone(), 30), "{at}");
        let is_shared = || redis.try_command(&["HEXISTS", &result, "result"]) == Ok(1);
        until_so("the result is shared", is_shared);
        let again = start(&peer, &redis, 30);
        assert_eq!((ask(&again), peer.heads().len() - before), (whole.clone(), 30), "{at}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn run_begins_without_waiting_for_redis_that_is_frozen() {
    let (redis, peer) = (Redis::start(), FrontEnd::start(mixed).await);
    let services = start_three(&peer, &redis, 30);
    redis.pause();
    let begin = |service: &Service| {
        let begun = Instant::now();
        let mut caller = Caller::new(service, 0, Some(EVENTS), "");
        assert!(caller.until("\r\n\r\n").starts_with("HTTP/1.1 200 "));
        (caller, begun.elapsed())
    };
    let callers: Vec<_> = services.iter().map(begin).collect();
    let took = callers.iter().map(|(_, took)| *took).min();
    // 50 ms for Redis, and what a busy machine needs: no command waits less than a second.
    assert!(took < Some(Duration::from_millis(250)), "{took:?}");
    for (mut caller, _) in callers {
        let end = caller.until("event: result");
        assert!(end.contains("event: result"), "{end}");
    }
    redis.resume();
    let is_available = |service: &Service| scrape(service.admin()).of("shared_instances") >= 3.0;
    until_so("Redis is available for all", || services.iter().all(is_available));
    let bodies: BTreeSet<String> = services.iter().map(ask).collect();
    assert_eq!(bodies.len(), 1, "they share again");
}

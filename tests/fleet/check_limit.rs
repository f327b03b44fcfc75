//! The limit of URL checks: at most ten in flight over all instances, with Redis, without it, and while
//! that changes.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::time::Duration;

use frontend_map_fleet::redis::{self as fleet_redis, RedisUrl};
use frontend_map_outbound::checks::{CheckResult, Validator};
use futures::StreamExt;
use tokio::task::JoinHandle;

use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::redis::Redis;
use crate::support::wait::until_so;

const LATE: Duration = Duration::from_millis(20);

fn fine(_: &str) -> Answer {
    answer("200 OK", "", 5)
}

/// An instance: its Redis, and a validator with the limit of all instances.
struct Instance {
    client: fleet_redis::Client,
    validator: Validator,
}

impl Instance {
    fn start(redis: &Redis) -> Self {
        let url = RedisUrl::parse(&redis.url()).unwrap();
        let client =
            fleet_redis::Client::start(&fleet_redis::Settings::new(url, "test"), Arc::default());
        let validator = Validator::new().unwrap().in_fleet(client.clone());
        Self { client, validator }
    }

    fn start_three(redis: &Redis) -> [Self; 3] {
        let instances = [Self::start(redis), Self::start(redis), Self::start(redis)];
        for instance in &instances {
            eventually("all are known", || instance.client.instances() == 3);
        }
        instances
    }

    /// Checks so many URLs in the background; the counter has the results so far.
    fn check(&self, peer: &FrontEnd, name: &str, count: usize) -> Run {
        let urls = (0..count).map(|n| (n, peer.url("http", &format!("/{name}-{n}"))));
        let (validator, urls) = (self.validator.clone(), urls.collect::<Vec<_>>());
        let checked: Arc<AtomicUsize> = Arc::default();
        let counter = Arc::clone(&checked);
        let task = tokio::spawn(async move {
            let results = validator.check(urls.into_iter());
            let count = |_: &(usize, CheckResult)| {
                counter.fetch_add(1, SeqCst);
            };
            results.inspect(count).collect().await
        });
        Run { task, checked, count }
    }
}

struct Run {
    task: JoinHandle<Vec<(usize, CheckResult)>>,
    checked: Arc<AtomicUsize>,
    count: usize,
}

impl Run {
    fn checked(&self) -> usize {
        self.checked.load(SeqCst)
    }

    /// Whether it has so many results, or all.
    fn has(&self, results: usize) -> bool {
        self.checked() >= results.min(self.count)
    }

    /// Waits for its end: each URL has been checked once, with a response.
    async fn end(self) {
        let mut results = self.task.await.unwrap();
        results.sort_unstable_by_key(|(at, _)| *at);
        let fine = CheckResult::Response { status: 200, location: None, retry_after: None };
        assert!(results.into_iter().eq((0..self.count).map(|at| (at, fine.clone()))));
    }
}

fn eventually(what: &str, is: impl FnMut() -> bool) {
    tokio::task::block_in_place(|| until_so(what, is));
}

const LEASE: &str = "test:2:url-checks";

/// Redis as a fleet leaves it that has checked URLs before.
fn used_redis() -> Redis {
    let redis = Redis::start();
    let _: String = redis.command(&["SET", LEASE, "free"]);
    redis
}

fn is_unavailable(instance: &Instance) -> bool {
    matches!(instance.client.availability(), fleet_redis::Availability::Unavailable { .. })
}

/// How often Redis was sent this command.
fn calls(redis: &Redis, command: &str) -> usize {
    let stats: String = redis.command(&["INFO", "commandstats"]);
    let line = stats.lines().find_map(|line| {
        line.strip_prefix(&format!("cmdstat_{command}:calls="))?.split(',').next()
    });
    line.map_or(0, |calls| calls.parse().unwrap())
}

#[tokio::test(flavor = "multi_thread")]
async fn three_instances_have_ten_checks_in_flight_and_take_turns() {
    let (redis, peer) = (used_redis(), FrontEnd::start_slow(LATE, fine).await);
    let instances = Instance::start_three(&redis);
    let before = calls(&redis, "evalsha");
    let runs = instances.each_ref().map(|instance| instance.check(&peer, "a", 3_000));
    eventually("checks", || runs.iter().all(|run| run.checked() >= 100));
    let first = runs.iter().map(Run::checked).max();
    assert!(first < Some(3_000), "no instance waits for another one to end: {first:?}");
    for run in runs {
        run.end().await;
    }
    assert!((9..=10).contains(&peer.most_in_flight()), "{}", peer.most_in_flight());
    assert_eq!(peer.heads().len(), 9_000);
    let commands = calls(&redis, "evalsha") - before;
    println!("{commands} scripts for 9,000 URLs, heartbeats included");
    assert!(commands < 1_000, "{commands}");
    let lease = || redis.command::<String>(&["GET", LEASE]);
    eventually("the lease is released at the end", || lease() == "free");
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_has_the_whole_limit_with_few_commands() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_holding(10, fine).await);
    let instance = Instance::start(&redis);
    eventually("Redis is available", || instance.client.is_available());
    let before = calls(&redis, "evalsha");
    instance.check(&peer, "a", 1000).end().await;
    let commands = calls(&redis, "evalsha") - before;
    println!("{commands} scripts for 1,000 URLs, heartbeats included");
    assert_eq!((peer.most_in_flight(), commands < 100), (10, true), "{commands}");
}

#[tokio::test(flavor = "multi_thread")]
async fn instance_that_begins_later_gets_its_turn_in_the_middle_of_a_run() {
    let (redis, peer) = (used_redis(), FrontEnd::start_slow(LATE, fine).await);
    let first = Instance::start(&redis);
    eventually("Redis is available", || first.client.is_available());
    let long = first.check(&peer, "long", 5000);
    eventually("ten are in flight", || peer.most_in_flight() == 10);
    let second = Instance::start(&redis);
    let short = second.check(&peer, "short", 50);
    short.end().await;
    assert!(long.checked() < 5000);
    long.end().await;
    assert_eq!((peer.most_in_flight(), peer.heads().len()), (10, 5050));
}

#[tokio::test(flavor = "multi_thread")]
async fn flushed_redis_leaves_at_most_ten_checks_in_flight() {
    let (redis, peer) = (used_redis(), FrontEnd::start_slow(LATE, fine).await);
    let instances = Instance::start_three(&redis);
    let runs = instances.each_ref().map(|instance| instance.check(&peer, "a", 1_500));
    eventually("checks", || runs.iter().any(|run| run.checked() >= 50));
    redis.flush();
    for run in runs {
        run.end().await;
    }
    assert!((9..=10).contains(&peer.most_in_flight()), "{}", peer.most_in_flight());
}

#[tokio::test(flavor = "multi_thread")]
async fn killed_and_restarted_redis_leaves_at_most_ten_checks_in_flight() {
    let (mut redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let instances = Instance::start_three(&redis);
    let runs = instances.each_ref().map(|instance| instance.check(&peer, "a", 2000));
    eventually("checks", || runs.iter().all(|run| run.checked() >= 50));
    redis.kill();
    eventually("Redis is unavailable", || instances.iter().all(is_unavailable));
    let known: Vec<usize> = runs.iter().map(Run::checked).collect();
    let more = |of: usize| runs.iter().zip(&known).all(|(run, known)| run.has(known + of));
    eventually("checks go on without Redis", || more(50));
    assert!(redis.restart());
    eventually("Redis is available", || instances.iter().all(|one| one.client.is_available()));
    let known: Vec<usize> = runs.iter().map(Run::checked).collect();
    let more = |of: usize| runs.iter().zip(&known).all(|(run, known)| run.has(known + of));
    eventually("checks go on with it", || more(50));
    for run in runs {
        run.end().await;
    }
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    assert_eq!(peer.heads().len(), 6000);
}

#[tokio::test(flavor = "multi_thread")]
async fn paused_redis_leaves_at_most_ten_checks_in_flight_whichever_instance_had_them() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let instances = Instance::start_three(&redis);
    let busy = instances[0].check(&peer, "busy", 4000);
    eventually("checks", || busy.checked() >= 50);
    redis.pause();
    // These have no lease: they wait until the checks of the other instance have ended.
    let idle = [instances[1].check(&peer, "b", 60), instances[2].check(&peer, "c", 60)];
    eventually("Redis is unavailable", || instances.iter().all(is_unavailable));
    for run in idle {
        run.end().await;
    }
    redis.resume();
    let again = [instances[1].check(&peer, "d", 300), instances[2].check(&peer, "e", 300)];
    for run in again {
        run.end().await;
    }
    busy.end().await;
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    assert_eq!(peer.heads().len(), 4720);
}

#[tokio::test(flavor = "multi_thread")]
async fn lease_of_an_instance_that_is_gone_expires() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let _: String = redis.command(&["SET", LEASE, "gone", "PX", "2000"]);
    let instance = Instance::start(&redis);
    let run = instance.check(&peer, "a", 100);
    eventually("it waits", || redis.keys("*url-checks:next").len() == 1);
    assert_eq!(run.checked(), 0);
    run.end().await;
    assert_eq!(peer.most_in_flight(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_values_do_not_keep_instances_from_checking() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let instance = Instance::start(&redis);
    eventually("Redis is available", || instance.client.is_available());
    let next = "test:2:url-checks:next";
    let foreign: [&[&str]; 5] = [
        &["SET", LEASE, "x"],
        &["SET", LEASE, "x", "PX", "99999999"],
        &["RPUSH", LEASE, "x"],
        &["SET", next, "x"],
        &["RPUSH", next, "x"],
    ];
    for (at, words) in foreign.into_iter().enumerate() {
        // At once: the instance writes at these keys, too.
        let replace = "redis.call('DEL', ARGV[2]) return redis.call(unpack(ARGV))";
        let _: redis::Value = redis.command(&[&["EVAL", replace, "0"], words].concat());
        instance.check(&peer, &format!("a{at}"), 30).end().await;
    }
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    for key in redis.keys("*url-checks*") {
        // It may have expired meanwhile: -2.
        assert_ne!(redis.command::<i64>(&["PTTL", &key]), -1, "{key}");
    }
}

//! Permits of URL checks: at most ten checks in flight over all instances, with Redis, without
//! it, and while that changes.

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

/// An instance: its Redis, and a validator whose permits come from it.
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
async fn three_instances_have_ten_checks_in_flight_and_share_them_evenly() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let instances = Instance::start_three(&redis);
    let before = calls(&redis, "evalsha");
    let runs = instances.each_ref().map(|instance| instance.check(&peer, "a", 300));
    eventually("checks", || runs.iter().all(|run| run.checked() >= 100));
    let first = runs.iter().map(Run::checked).max();
    assert!(first < Some(300), "no instance waits for another one to end: {first:?}");
    for run in runs {
        run.end().await;
    }
    assert!((9..=10).contains(&peer.most_in_flight()), "{}", peer.most_in_flight());
    assert_eq!(peer.heads().len(), 900);
    let commands = calls(&redis, "evalsha") - before;
    println!("{commands} scripts for 900 URLs, heartbeats included");
    assert!(commands < 900, "{commands}");
    let held = || redis.command::<usize>(&["ZCARD", "test:1:permits"]);
    eventually("permits are returned at the end", || held() == 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn one_instance_has_all_permits_with_few_commands() {
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
async fn instance_that_begins_later_gets_its_share_of_one_in_the_middle_of_a_run() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let first = Instance::start(&redis);
    eventually("Redis is available", || first.client.is_available());
    let long = first.check(&peer, "long", 3000);
    eventually("ten are in flight", || peer.most_in_flight() == 10);
    let second = Instance::start(&redis);
    let short = second.check(&peer, "short", 50);
    short.end().await;
    assert!(long.checked() < 3000);
    long.end().await;
    assert_eq!((peer.most_in_flight(), peer.heads().len()), (10, 3050));
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
    let more = |of: usize| runs.iter().zip(&known).all(|(run, known)| run.checked() >= known + of);
    eventually("checks go on without Redis", || more(50));
    assert!(redis.restart());
    eventually("Redis is available", || instances.iter().all(|one| one.client.is_available()));
    let known: Vec<usize> = runs.iter().map(Run::checked).collect();
    let more = |of: usize| runs.iter().zip(&known).all(|(run, known)| run.checked() >= known + of);
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
    // These have no permits: they wait until those of the other instance have expired.
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
async fn permits_of_an_instance_that_is_gone_expire() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let _: String = redis.command(&["SET", "test:1:permits:known", "1"]);
    let [seconds, micros]: [i64; 2] = redis.command::<Vec<i64>>(&["TIME"]).try_into().unwrap();
    let expiry = (seconds * 1000 + micros / 1000 + 1000).to_string();
    for n in 0..9 {
        let gone = format!("gone:{n}");
        let _: i64 = redis.command(&["ZADD", "test:1:permits", &expiry, &gone]);
    }
    let instance = Instance::start(&redis);
    let run = instance.check(&peer, "a", 100);
    eventually("one permit is left", || run.checked() > 1);
    assert_eq!(peer.most_in_flight(), 1);
    run.end().await;
    assert_eq!(peer.most_in_flight(), 10);
}

#[tokio::test(flavor = "multi_thread")]
async fn foreign_values_do_not_keep_instances_from_checking() {
    let (redis, peer) = (Redis::start(), FrontEnd::start_slow(LATE, fine).await);
    let instance = Instance::start(&redis);
    eventually("Redis is available", || instance.client.is_available());
    let keys = ["", ":short", ":known", ":settling"].map(|name| format!("test:1:permits{name}"));
    let [permits, short, _, settling] = keys.each_ref().map(String::as_str);
    let foreign: [&[&str]; 10] = [
        &["ZADD", permits, "9e15", "x"],
        &["ZADD", permits, "inf", "x:y"],
        &["ZADD", short, "9e15", "x"],
        &["SET", settling, "0"],
        &["SET", settling, "nan"],
        &["SET", settling, "1 99999999999999"],
        &["RPUSH", permits, "x"],
        &["SET", short, "x"],
        &["HSET", "test:1:permits:known", "x", "y"],
        &["RPUSH", settling, "x"],
    ];
    for (at, words) in foreign.into_iter().enumerate() {
        // At once: the instance writes at these keys, too.
        let replace = "redis.call('DEL', ARGV[2]) return redis.call(unpack(ARGV))";
        let _: redis::Value = redis.command(&[&["EVAL", replace, "0"], words].concat());
        instance.check(&peer, &format!("a{at}"), 30).end().await;
    }
    assert!(peer.most_in_flight() <= 10, "{}", peer.most_in_flight());
    // Permits of an instance that is gone, by another clock.
    for n in 0..10 {
        let _: i64 = redis.command(&["ZADD", permits, "9e15", &format!("gone:{n}")]);
    }
    instance.check(&peer, "late", 30).end().await;
    let keys = redis.keys("test:1:permits*");
    assert!(keys.contains(&"test:1:permits:known".to_owned()), "{keys:?}");
    for key in keys {
        // It may have expired meanwhile: -2.
        assert_ne!(redis.command::<i64>(&["PTTL", &key]), -1, "{key}");
    }
}

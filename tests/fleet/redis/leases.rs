//! Leases of several instances.

use std::time::{Duration, Instant};

use frontend_map_fleet::redis::{self as fleet_redis, Lease};

use super::fixture::{after_heartbeats, client, client_with, run, settings, until};
use crate::support::redis::Redis;

/// The longest time without a holder after one is gone: the lifetime of a lease, and a heartbeat.
/// The rest is for a busy machine.
const TAKEN_OVER: Duration = Duration::from_secs(15);

async fn held(client: &fleet_redis::Client, name: &str) -> (Lease, u64) {
    let lease = client.lease(name);
    until("the lease is held", async || lease.epoch().is_some()).await;
    let epoch = lease.epoch().expect("it is held");
    (lease, epoch)
}

#[test]
fn lease_has_one_holder_which_renews_it() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, epoch) = held(&first, "lists").await;
        let other = second.lease("lists");
        after_heartbeats(&second, 5).await;
        assert_eq!((lease.epoch(), other.epoch()), (Some(epoch), None));
        assert!(lease.held_for().expect("it is held") > Duration::from_secs(3), "renewed");
        let stored: String = redis.command(&["GET", lease.key()]);
        assert_eq!(stored, lease.token());
        assert_ne!(stored, other.token());
        assert_eq!(lease.key(), "map:2:lease:lists");
        assert_eq!((first.instances(), second.instances()), (2, 2));
    });
}

#[test]
fn leases_of_other_names_have_their_own_holders() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (_a, _) = held(&first, "a").await;
        let (_b, _) = held(&second, "b").await;
        let again = first.lease("a");
        assert!(again.epoch().is_some(), "the same lease");
    });
}

#[test]
fn lease_of_an_instance_that_is_gone_is_taken_over_with_a_larger_epoch() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, epoch) = held(&first, "lists").await;
        let other = second.lease("lists");
        // Ends the heartbeat, and nothing is released: as if the process were killed.
        drop(first);
        let begun = Instant::now();
        until("it is taken over", async || other.epoch().is_some()).await;
        assert!(begun.elapsed() < TAKEN_OVER, "{:?}", begun.elapsed());
        assert!(other.epoch() > Some(epoch));
        assert_eq!(lease.epoch(), None, "its holder knows by its own clock");
        until("one instance is left", async || second.instances() == 1).await;
    });
}

#[test]
fn dropped_lease_is_released_at_once() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, _) = held(&first, "lists").await;
        let clone = lease.clone();
        drop(lease);
        after_heartbeats(&first, 2).await;
        assert!(clone.epoch().is_some(), "a clone is left");
        let key = clone.key().to_owned();
        drop(clone);
        until("it is released", async || !redis.command::<bool>(&["EXISTS", &key])).await;
        held(&second, "lists").await;
        held(&first, "other").await;
    });
}

#[test]
fn lease_that_is_given_up_goes_to_another_instance_or_comes_back() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, epoch) = held(&first, "lists").await;
        let other = second.lease("lists");
        assert!(!other.give_up(), "it is not held");
        let begun = Instant::now();
        assert!(lease.give_up());
        assert_eq!(lease.epoch(), None);
        until("the other one holds it", async || other.epoch() > Some(epoch)).await;
        assert_eq!(lease.epoch(), None);
        assert!(other.give_up());
        drop(other);
        until("it comes back", async || lease.epoch().is_some()).await;
        if begun.elapsed() < Duration::from_secs(9) {
            assert!(!lease.give_up(), "a short time ago");
        }
    });
}

#[test]
fn release_leases_lets_another_instance_take_them_at_its_next_heartbeat() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, epoch) = held(&first, "lists").await;
        let other = second.lease("lists");
        after_heartbeats(&second, 2).await;
        first.release_leases().await;
        assert_eq!(lease.epoch(), None);
        assert!(!redis.command::<bool>(&["EXISTS", lease.key()]));
        until("it is taken over", async || other.epoch().is_some()).await;
        assert!(other.epoch() > Some(epoch));
        after_heartbeats(&first, 2).await;
        assert_eq!(first.lease("new").epoch(), None, "it is leaving");
        assert_eq!(redis.command::<usize>(&["ZCARD", "map:2:instances"]), 1, "nor counted again");
    });
}

#[test]
fn lease_is_lost_while_redis_is_unavailable_and_has_a_larger_epoch_afterwards() {
    run(async {
        let mut redis = Redis::start();
        let client = client(&redis).await;
        let (lease, epoch) = held(&client, "lists").await;
        redis.kill();
        let lost = until("it expires", async || lease.epoch().is_none());
        assert!(tokio::time::timeout(TAKEN_OVER, lost).await.is_ok(), "it expires in time");
        assert!(redis.restart(), "it is empty");
        until("it is held again", async || lease.epoch().is_some()).await;
        assert!(lease.epoch() > Some(epoch), "although the counter is gone");
    });
}

#[test]
fn paused_redis_takes_the_lease_from_its_holder_until_it_runs_again() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let (lease, _) = held(&first, "lists").await;
        let other = second.lease("lists");
        redis.pause();
        until("it has no holder", async || lease.epoch().is_none()).await;
        redis.resume();
        until("one holds it", async || lease.epoch().is_some() || other.epoch().is_some()).await;
        for _ in 0..50 {
            assert!(lease.epoch().is_none() || other.epoch().is_none(), "never both");
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    });
}

#[test]
fn foreign_value_at_the_key_of_a_lease_is_replaced() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let id = client.instance_id();
        let (no_epoch, huge) = (format!("{id}:"), format!("{id}:99999999999999999999"));
        let values = ["", "x", "other:1", &no_epoch, &huge, "\u{0}"];
        let strings = values.map(|value| vec!["SET", "map:2:lease:lists", value]);
        let list = vec!["LPUSH", "map:2:lease:lists", "x"];
        for command in strings.into_iter().chain([list]) {
            let _: redis::Value = redis.command(&command);
            let (lease, _) = held(&client, "lists").await;
            assert_eq!(redis.command::<String>(&["GET", lease.key()]), lease.token());
            drop(lease);
            until("it is released", async || redis.keys("map:2:lease:*").is_empty()).await;
        }
        assert_eq!(client.availability(), fleet_redis::Availability::Available { session: 1 });
    });
}

#[test]
fn epochs_grow_after_a_flush_although_they_were_far_ahead_of_the_clock() {
    run(async {
        let redis = Redis::start();
        let (client, watcher) = (client(&redis).await, client(&redis).await);
        let _: String = redis.command(&["SET", "map:2:epoch", "800000000000000"]);
        let (lease, epoch) = held(&client, "lists").await;
        assert!(epoch > 800_000_000_000_000);
        let other = watcher.lease("lists");
        after_heartbeats(&watcher, 2).await;
        assert_eq!(other.epoch(), None);
        // Only an instance that was not the holder is left.
        drop((lease, client));
        redis.flush();
        until("it is held", async || other.epoch().is_some()).await;
        assert!(other.epoch() > Some(epoch), "{:?}", other.epoch());
    });
}

#[test]
fn lease_with_a_smaller_epoch_than_a_known_one_passes_to_an_instance_that_knows_it() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let (lease, epoch) = held(&client, "lists").await;
        // As if an instance had begun after a failover to a Redis with a slower clock.
        let older = format!("{:032x}:{}", 7, epoch - 1);
        let _: String = redis.command(&["SET", lease.key(), &older, "PX", "600000"]);
        until("it has a larger epoch", async || lease.epoch() > Some(epoch)).await;
        let newer = format!("{:032x}:{}", 7, epoch + 1_000_000);
        let _: String = redis.command(&["SET", lease.key(), &newer]);
        until("another instance holds it", async || lease.epoch().is_none()).await;
        until("until it expires", async || lease.epoch().is_some()).await;
        assert!(lease.epoch() > Some(epoch + 1_000_000));
    });
}

#[test]
fn largest_possible_epoch_is_followed_by_a_small_one_and_the_lease_stays_with_its_holder() {
    run(async {
        let redis = Redis::start();
        let (first, second) = (client(&redis).await, client(&redis).await);
        let largest = format!("{:032x}:899999999999999", 7);
        let _: String = redis.command(&["SET", "map:2:lease:lists", &largest]);
        let leases = [first.lease("lists"), second.lease("lists")];
        until("one holds it", async || leases.iter().any(|lease| lease.epoch().is_some())).await;
        let holder = leases.iter().position(|lease| lease.epoch().is_some()).unwrap();
        let token = leases[holder].token();
        for client in [&first, &second] {
            after_heartbeats(client, 4).await;
        }
        assert_eq!(leases[holder].token(), token, "it stays there");
    });
}

#[test]
fn lease_without_an_expiry_gets_one() {
    run(async {
        let redis = Redis::start();
        let client = client(&redis).await;
        let token = format!("{:032x}:7", 7);
        let _: String = redis.command(&["SET", "map:2:lease:lists", &token]);
        let lease = client.lease("lists");
        after_heartbeats(&client, 2).await;
        assert_eq!(lease.epoch(), None, "another instance may hold it");
        until("it is held", async || lease.epoch().is_some()).await;
    });
}

#[test]
fn instances_of_another_prefix_share_nothing() {
    run(async {
        let redis = Redis::start();
        let mut other = settings(&redis);
        other.prefix = "other".to_owned();
        let (first, other) = (client(&redis).await, client_with(&other));
        held(&first, "lists").await;
        held(&other, "lists").await;
        assert_eq!((first.instances(), other.instances()), (1, 1));
    });
}

#[test]
fn instances_of_another_key_of_seals_share_nothing() {
    run(async {
        let redis = Redis::start();
        let with = |key: Option<u8>| {
            let key = key.map(|key| vec![key; 32].into());
            client_with(&fleet_redis::Settings { key, ..settings(&redis) })
        };
        let clients = [None, Some(7), Some(8), Some(7)].map(with);
        let mut leases = Vec::new();
        for client in &clients[..3] {
            leases.push(held(client, "lists").await);
            assert!(client.key("x").starts_with("map:2"));
        }
        let (first, last) = (&clients[1], &clients[3]);
        until("two have the same key", async || last.instances() == 2).await;
        let lease = last.lease("lists");
        after_heartbeats(last, 2).await;
        assert_eq!(lease.epoch(), None, "another instance holds it");
        assert_eq!(first.key("x"), last.key("x"));
        assert_eq!((clients[0].instances(), clients[2].instances()), (1, 1));
    });
}

//! Walks over content that changes: editors publish, unpublish, rename and delete between any two
//! requests of a walk, and the CMS fails and gives false answers as generated scripts say. An answer
//! has every URL that was public all the time and none that never was, or it is not a fresh 200.
//!
//! `SHIFTING_SCRIPTS=10000 cargo test --test cache shifting` plays as many scripts; each has its number
//! as its seed. `SHIFTING_FIRST=1234 SHIFTING_SCRIPTS=1` plays one again.

pub(crate) mod generate;
mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use crate::support::cms::Cms;
use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use world::World;

/// The number of scripts by default.
const SCRIPTS: usize = 200;
/// Scripts for one service, each with a content type of its own.
const BATCH: usize = 250;
/// Scripts in parallel: most of them wait for the pause before a retry.
const AT_ONCE: usize = 24;
/// `snapshots.hard_seconds`: an older snapshot is not served, and the next request waits for a walk.
const HARD_SECONDS: u64 = 2;

fn number(name: &str, default: usize) -> usize {
    let wanted = std::env::var(name).ok();
    wanted.map_or(default, |count| count.parse().expect("a number"))
}

/// The outcomes of all scripts.
#[derive(Default)]
struct Tally {
    complete: AtomicUsize,
    shifted: AtomicUsize,
    errors: AtomicUsize,
    partial: Mutex<Vec<String>>,
}

#[test]
fn walk_over_changing_content_is_complete_or_no_fresh_200() {
    let first = number("SHIFTING_FIRST", 0);
    let scripts = number("SHIFTING_SCRIPTS", SCRIPTS);
    let tally = Tally::default();
    let seeds: Vec<usize> = (first..first + scripts).collect();
    seeds.chunks(BATCH).for_each(|seeds| play_batch(seeds, &tally));
    let count = |number: &AtomicUsize| number.load(Ordering::Relaxed);
    let (complete, shifted) = (count(&tally.complete), count(&tally.shifted));
    let partial = tally.partial.into_inner().expect("no panic");
    eprintln!(
        "{scripts} scripts: {complete} times 200 ({shifted} while content shifted), {} errors, {} partial",
        count(&tally.errors),
        partial.len()
    );
    assert!(partial.is_empty(), "{partial:#?}");
    // Otherwise the test would prove nothing.
    assert!(scripts < SCRIPTS || (shifted > scripts / 10 && count(&tally.errors) > scripts / 10));
}

fn play_batch(seeds: &[usize], tally: &Tally) {
    let world = |seed: &usize| Mutex::new(World::generate(*seed));
    let worlds: Arc<Vec<_>> = Arc::new(seeds.iter().map(world).collect());
    let answering = Arc::clone(&worlds);
    let cms = Cms::start(move |target| {
        let number = target.strip_prefix("/api/t").and_then(|rest| rest.split_once('?'));
        let number: usize = number.expect("a list").0.parse().expect("a number");
        answering[number].lock().expect("no panic").answer(target)
    });
    let service = settings(&cms, seeds.len()).start();
    // The first walk of a type, and then one that replaces a snapshot.
    for round in 0..2 {
        if round > 0 {
            std::thread::sleep(Duration::from_secs(HARD_SECONDS));
        }
        let next = AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..AT_ONCE {
                scope.spawn(|| {
                    loop {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        let Some(world) = worlds.get(number) else { return };
                        play(&service, number, world, tally);
                    }
                });
            }
        });
    }
}

/// One site with a rule for each content type.
fn settings(cms: &Cms, types: usize) -> Settings {
    let with = |site: Settings, n| {
        site.rule(&format!("api::t{n}.t{n}"), &format!("/{{locale}}/t{n}/{{slug}}"))
    };
    let site = site("main").front_end_url("https://x.example").locales(&["en", "de"]);
    let seconds = format!("soft_seconds = {HARD_SECONDS}\nhard_seconds = {HARD_SECONDS}");
    (0..types)
        .fold(site, with)
        .strapi(cms)
        .singular_endpoints()
        .more(&format!("[snapshots]\n{seconds}"))
}

/// Requests a sitemap until it is no error, twice at most, and once more for the snapshot.
fn play(service: &Service, number: usize, world: &Mutex<World>, tally: &Tally) {
    let uid = format!("api::t{number}.t{number}");
    let target = format!("/api/build-sitemap?site=main&contentType={uid}");
    for _ in 0..2 {
        let since = world.lock().expect("no panic").begin();
        let answer = http::get(service.addr(), &target);
        if answer.status != 200 {
            assert!([502, 503, 504].contains(&answer.status), "{}", answer.text());
            tally.errors.fetch_add(1, Ordering::Relaxed);
            continue;
        }
        tally.complete.fetch_add(1, Ordering::Relaxed);
        let mut world = world.lock().expect("no panic");
        tally.shifted.fetch_add(usize::from(world.shifted(since)), Ordering::Relaxed);
        let paths = paths(&answer, number);
        if let Err(fault) = world.judge(since, &paths) {
            eprintln!("{fault} in {}", world.story());
            tally.partial.lock().expect("no panic").push(fault);
        }
        world.set_listed(paths);
        drop(world);
        let cached = http::get(service.addr(), &target);
        if cached.header("cache-status").is_some_and(|status| status.contains("hit")) {
            assert_eq!(
                (cached.status, cached.body),
                (200, answer.body),
                "the snapshot is the same"
            );
        }
        return;
    }
}

/// `(locale, slug)` of each URL.
fn paths(answer: &Response, number: usize) -> Vec<(String, String)> {
    let json = answer.json();
    let urls = json["data"]["urls"].as_array().expect("a list").clone();
    assert_eq!(json["data"]["count"], urls.len());
    let path = |url: &serde_json::Value| {
        let path = url.as_str().and_then(|url| url.strip_prefix("https://x.example/"));
        let (locale, slug) = path.and_then(|path| path.split_once('/')).expect("a path");
        let slug = slug.strip_prefix(&format!("t{number}/")).expect("the type's path");
        (locale.to_owned(), slug.to_owned())
    };
    urls.iter().map(path).collect()
}

//! Rereads and walks over related documents: editors publish, rename, move, unpublish and delete
//! articles, categories and pages of a tree as a generated script says, webhooks arrive late, twice
//! or never, and walks overlap with rereads. In the end each list is exactly what is public.
//!
//! `CHANGING_CASES=10000 cargo test --test cache changing` plays as many rounds of edits;
//! `CHANGING_SEED=7` plays others.

mod world;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use crate::shifting::generate::Random;
use crate::support::cms::Cms;
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use world::{Event, World};

/// Rounds of edits by default, over all content types.
const CASES: usize = 120;
/// Content types of one service.
const TYPES: usize = 40;
/// In every so many rounds webhooks are lost, and a walk follows; in others a walk overlaps.
const LOSSY: usize = 5;
const SECRET: &str = "changing-secret";
/// How long a list may take until it is right: generous, because the machine may be busy.
const PATIENCE: Duration = Duration::from_secs(40);

fn number(name: &str, default: usize) -> usize {
    std::env::var(name).map_or(default, |count| count.parse().expect("a number"))
}

type Worlds = Arc<Vec<Mutex<World>>>;

#[test]
fn list_is_exact_after_rereads_and_walks_in_any_order() {
    let (cases, seed) = (number("CHANGING_CASES", CASES), number("CHANGING_SEED", 1));
    let types = TYPES.min(cases);
    let worlds: Worlds = Arc::new((0..types).map(|n| Mutex::new(World::new(n, seed))).collect());
    let cms = {
        let worlds = Arc::clone(&worlds);
        Cms::start(move |target| world::respond(&worlds, target))
    };
    let service = settings(&cms, types)
        .env("FRONTEND_MAP__CMS__TOKEN", "x")
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("RUST_LOG", "error")
        .start();
    let (wrong, slowest) = (Mutex::new(Vec::new()), AtomicUsize::new(0));
    for round in 0..cases.div_ceil(types) {
        std::thread::scope(|scope| {
            for (number, world) in worlds.iter().enumerate() {
                let (service, wrong, slowest) = (&service, &wrong, &slowest);
                scope.spawn(move || {
                    if round > 0 {
                        edit(service, world, round);
                    }
                    match settle(service, world, number) {
                        Ok(taken) => drop(slowest.fetch_max(taken, Ordering::Relaxed)),
                        Err(story) => wrong.lock().expect("no panic").push((round, story)),
                    }
                });
            }
        });
        if !wrong.lock().expect("no panic").is_empty() {
            break;
        }
    }
    let wrong = wrong.into_inner().expect("no panic");
    eprintln!("{cases} cases, {} wrong, the slowest after {slowest:?} ms", wrong.len());
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// A site with a rule for each type: articles with a category, or pages of a tree. Pages of lists
/// are so small that categories have more dependents than a page.
fn settings(cms: &Cms, types: usize) -> Settings {
    let with = |site: Settings, n: usize| {
        let (uid, path) = (format!("api::t{n}.t{n}"), format!("/{{locale}}/t{n}"));
        if n.is_multiple_of(2) {
            return site.rule(&uid, &format!("{path}/{{category.slug}}/{{slug}}"));
        }
        site.rule(&uid, &format!("{path}/{{*path}}"))
            .with(r#"params.path = { field = "slug", ancestors = "parent", depth = 3 }"#)
    };
    let site = site("main").front_end_url("https://x.example").locales(&["en", "de"]);
    (0..types)
        .fold(site, with)
        .strapi(cms)
        .singular_endpoints()
        .cms("page_size = 3")
        .more("[snapshots]\nsoft_seconds = 3600\ncms_share = 1.0")
}

/// Some edits, each with its webhook.
fn edit(service: &Service, world: &Mutex<World>, round: usize) {
    let mut random = Random(world.lock().expect("no panic").next());
    let (is_lossy, is_overlapping) = (round.is_multiple_of(LOSSY), round % LOSSY == 3);
    let mut late = Vec::new();
    let mut is_lost = false;
    for _ in 0..=random.below(4) {
        if is_overlapping && random.percent(5) {
            post(service, "{}");
        }
        let Some(event) = world.lock().expect("no panic").edit(&mut random) else { continue };
        match random.below(20) {
            0 if is_lossy => is_lost = true,
            1..=3 => late.push(event),
            4 | 5 => {
                hint(service, &event);
                hint(service, &event);
            }
            _ => hint(service, &event),
        }
        std::thread::sleep(Duration::from_millis(random.number() % 40));
    }
    if !late.is_empty() {
        std::thread::sleep(Duration::from_millis(random.number() % 500));
    }
    // In another order than the edits.
    for event in late.iter().rev() {
        hint(service, event);
    }
    if is_lost {
        post(service, "{}");
    }
}

fn hint(service: &Service, Event { name, uid, id, is_draft }: &Event) {
    let published = if *is_draft { "null" } else { "\"2026-01-01T00:00:00.000Z\"" };
    post(
        service,
        &format!(
            r#"{{"event":"{name}","uid":"{uid}","entry":{{"id":1,"documentId":"{id}","publishedAt":{published}}}}}"#
        ),
    );
}

fn post(service: &Service, body: &str) {
    let bearer = format!("Bearer {SECRET}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Type", "application/json")];
    let response = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, body);
    assert_eq!(response.status, 202);
}

/// Waits until the list is right, and returns after how many milliseconds.
fn settle(service: &Service, world: &Mutex<World>, number: usize) -> Result<usize, String> {
    let target = format!("/api/build-sitemap?site=main&contentType=api::t{number}.t{number}");
    let begun = Instant::now();
    loop {
        let response = http::get(service.addr(), &target);
        assert_eq!(response.status, 200, "{}", response.text());
        let json = response.json();
        let urls = json["data"]["urls"].as_array().expect("a list").iter();
        let mut listed: Vec<String> = urls
            .map(|url| url.as_str().expect("text").trim_start_matches("https://x.example").into())
            .collect();
        listed.sort();
        let world = world.lock().expect("no panic");
        let public = world.public();
        if listed == public {
            return Ok(usize::try_from(begun.elapsed().as_millis()).expect("no year"));
        }
        if begun.elapsed() > PATIENCE {
            let missing: Vec<_> = public.iter().filter(|path| !listed.contains(path)).collect();
            let stale: Vec<_> = listed.iter().filter(|path| !public.contains(path)).collect();
            return Err(format!("missing {missing:?}, stale {stale:?} in {}", world.story()));
        }
        drop(world);
        std::thread::sleep(Duration::from_millis(50));
    }
}

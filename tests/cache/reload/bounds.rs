//! Bounds that hold across reloads, and limits that hold from the reload on.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::kept::{FIRST, ask, settings};
use super::{apply, resolve};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{SITEMAP, assert_failure, urls};
use crate::support::metrics::scrape;
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const PATIENT: &str = "[limits]\ncms_request_ms = 60000\ndocument_deadline_ms = 60000\n";

fn draft() -> String {
    format!("{FIRST}&status=draft")
}

fn wait_for_in_flight(service: &Service, callers: f64) {
    until_so("all are waiting", || scrape(service.admin()).of("requests_in_flight") >= callers);
}

/// A CMS whose first answer waits until what is given with it is opened.
fn hangs_once() -> (Cms, Content) {
    let (hangs, rest) = (Content::new(&[("en", "a", "old")]), Content::new(&[("en", "a", "x")]));
    hangs.close();
    let (first, asked) = (hangs.clone(), AtomicUsize::new(0));
    let cms = Cms::start(move |target| {
        let answers = if asked.fetch_add(1, Ordering::SeqCst) == 0 { &first } else { &rest };
        answers.answer(target)
    });
    (cms, hangs)
}

#[test]
fn cms_in_flight_limit_holds_across_reloads() {
    let content = Content::new(&[("en", "a", "x")]);
    let (in_flight, most) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    let (gate, now, top) = (content.clone(), Arc::clone(&in_flight), Arc::clone(&most));
    let cms = Cms::start(move |target| {
        top.fetch_max(now.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
        let answer = gate.answer(target);
        now.fetch_sub(1, Ordering::SeqCst);
        answer
    });
    content.close();
    // Another timeout makes another client.
    let limited = |requests: u8, ms: u16| {
        let limits = format!("[limits]\ndocument_deadline_ms = 60000\ncms_request_ms = {ms}\n");
        format!("{}{limits}cms_requests = {requests}\n", settings(&cms))
    };
    let service = Setup::new(&limited(2, 60_000)).start();
    std::thread::scope(|scope| {
        let ask = || scope.spawn(|| assert_eq!(ask(&service, &draft()).status, 200));
        let _: Vec<_> = (0..4).map(|_| ask()).collect();
        wait_for_in_flight(&service, 4.0);
        until_so("both permits are taken", || in_flight.load(Ordering::SeqCst) == 2);
        for (requests, ms) in [(3, 60_001), (1, 60_002), (3, 60_003), (2, 60_004)] {
            apply(&service, &limited(requests, ms));
        }
        let _: Vec<_> = (0..4).map(|_| ask()).collect();
        wait_for_in_flight(&service, 8.0);
        content.open();
    });
    assert_eq!(most.load(Ordering::SeqCst), 2);
}

#[test]
fn cms_in_flight_limit_of_another_cms_is_its_own() {
    let (silent, content) = (Content::new(&[("en", "a", "x")]), Content::new(&[("en", "a", "y")]));
    silent.close();
    let (before, after) = (silent.start(), content.start());
    let limited = |cms: &Cms| format!("{}{PATIENT}cms_requests = 1\n", settings(cms));
    let service = Setup::new(&limited(&before)).start();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ask(&service, &draft()));
        until_so("the permit is taken", || before.targets().len() == 1);
        apply(&service, &limited(&after));
        let answer = ask(&service, &draft());
        assert_eq!(answer.json()["data"]["url"], "https://main.example/main/y");
        silent.open();
        let answer = waits.join().expect("an answer");
        assert_eq!(answer.json()["data"]["url"], "https://main.example/main/x");
    });
}

#[test]
fn in_flight_limit_counts_requests_from_before_a_reload() {
    let content = Content::new(&[("en", "a", "x")]);
    content.close();
    let cms = content.start();
    let limited = |requests: u8| format!("{}{PATIENT}requests = {requests}\n", settings(&cms));
    let service = Setup::new(&limited(6)).env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    std::thread::scope(|scope| {
        let _: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| assert_eq!(ask(&service, &draft()).status, 200)))
            .collect();
        wait_for_in_flight(&service, 6.0);
        for requests in [5, 6, 4] {
            apply(&service, &limited(requests));
            assert_failure(&ask(&service, &draft()), 503, "ServiceUnavailableError");
            assert_eq!(ask(&service, "/livez").status, 200);
            assert_eq!(resolve(&service, "main").status, 200);
        }
        content.open();
    });
    assert_eq!(ask(&service, &draft()).status, 200);
}

#[test]
fn refresh_in_flight_begins_again_when_the_cms_limits_change() {
    let (cms, hangs) = hangs_once();
    let limited = |ms: u16| {
        format!(
            "{}[snapshots]\nat_start = false\n[limits]\ncms_request_ms = {ms}\n",
            settings(&cms)
        )
        .replace("resolve = \"documents\"\n", "")
    };
    let service = Setup::new(&limited(60_000)).start();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ask(&service, SITEMAP));
        until_so("the walk is in flight", || cms.targets().len() == 1);
        apply(&service, &limited(2000));
        until_so("another walk begins without a request", || cms.targets().len() >= 2);
        assert_eq!(urls(&ask(&service, SITEMAP)), ["https://main.example/main/x"]);
        hangs.open();
        let late = waits.join().expect("an answer");
        assert_eq!(urls(&late), ["https://main.example/main/old"], "its own walk has found");
        assert_eq!(late.header("last-modified"), None);
    });
    assert_eq!(urls(&ask(&service, SITEMAP)), ["https://main.example/main/x"]);
}

#[test]
fn list_by_superseded_rules_has_no_date() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let with = |template: &str| {
        format!("{}[snapshots]\nat_start = false\n{PATIENT}", settings(&cms))
            .replace("resolve = \"documents\"\n", "")
            .replace("/main/{slug}", template)
    };
    let service = Setup::new(&with("/old/{slug}")).start();
    content.close();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ask(&service, SITEMAP));
        until_so("the walk is under way", || cms.targets().len() == 1);
        apply(&service, &with("/new/{slug}"));
        content.open();
        let late = waits.join().expect("an answer");
        assert_eq!(urls(&late), ["https://main.example/old/x"]);
        assert_eq!(late.header("last-modified"), None);
    });
    let current = ask(&service, SITEMAP);
    assert_eq!(urls(&current), ["https://main.example/new/x"]);
    assert!(current.header("last-modified").is_some());
}

#[test]
fn request_from_before_a_reload_ends_by_its_own_deadline() {
    let (cms, hangs) = hangs_once();
    let limited = |ms: u16| {
        let limits = format!("cms_request_ms = {ms}\nwalk_deadline_ms = 3000\n");
        format!("{}[snapshots]\nat_start = false\n[limits]\n{limits}", settings(&cms))
            .replace("resolve = \"documents\"\n", "")
    };
    let service = Setup::new(&limited(60_000)).start();
    std::thread::scope(|scope| {
        let waits = scope.spawn(|| ask(&service, SITEMAP));
        until_so("the walk is in flight", || cms.targets().len() == 1);
        apply(&service, &limited(2000));
        assert_eq!(urls(&ask(&service, SITEMAP)), ["https://main.example/main/x"]);
        let late = waits.join().expect("an answer");
        assert_failure(&late, 504, "GatewayTimeoutError");
        hangs.open();
    });
}

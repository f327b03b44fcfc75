//! What a reload changes, refuses, and leaves to a restart.

use super::{APPLIED, REFUSED, apply, content, logged, reload, resolve, settings};
use crate::support::http;
use crate::support::wait::until_so;

#[test]
fn reload_applies_other_rules() {
    let service = settings("a").start();
    assert_eq!((resolve(&service, "a").status, resolve(&service, "b").status), (200, 404));
    apply(&service, &settings("b").toml());
    assert_eq!((resolve(&service, "a").status, resolve(&service, "b").status), (404, 200));
}

#[test]
fn reload_of_a_broken_file_changes_nothing_and_logs_all_problems() {
    let service = settings("a").env("FRONTEND_MAP__CMS__TOKEN", "canary-51c0-token").start();
    let broken = settings("b").locales(&["e n"]).with("nonsense = 1");
    service.rewrite("settings.toml", &broken.toml());
    reload(&service, REFUSED);
    assert_eq!((resolve(&service, "a").status, resolve(&service, "b").status), (200, 404));
    let log = service.log();
    let line = log.lines().find(|line| line.contains(REFUSED)).unwrap();
    assert!(line.contains("e n") && line.contains("nonsense"), "{line}");
    service.rewrite("settings.toml", "[[[ canary-51c0");
    reload(&service, REFUSED);
    std::fs::remove_file(service.path().join("settings.toml")).expect("it is there");
    reload(&service, REFUSED);
    assert_eq!(resolve(&service, "a").status, 200);
    assert!(!service.log().contains("canary-51c0"), "{}", service.log());
    apply(&service, &settings("b").toml());
    assert_eq!(resolve(&service, "b").status, 200);
}

#[test]
fn reload_names_settings_that_need_a_restart_and_applies_the_rest() {
    let service = settings("a").start();
    let other = settings("b").toml().replace("127.0.0.1:0", "127.0.0.1:1")
        + "[log]\nformat = \"json\"\n[limits]\nidle_timeout_ms = 5\n\
           [traces]\notlp_endpoint = \"http://127.0.0.1:9\"\nsample_ratio = 1.0\n";
    apply(&service, &other);
    assert_eq!(resolve(&service, "b").status, 200, "the rest is in use");
    let names = "server.listen, limits.idle_timeout_ms, log.format, traces.otlp_endpoint, \
                 traces.sample_ratio";
    until_so("the settings are named", || service.log().contains(names));
    assert_eq!(logged(&service, "need a restart"), 1);
}

#[test]
fn reload_names_limits_requests_as_waiting_for_a_restart_and_does_not_apply_it() {
    let with = |requests| settings("a").more(&format!("[limits]\nrequests = {requests}"));
    let service = with(100).env("FRONTEND_MAP__SERVER__CONNECTIONS", "8").start();
    for (requests, times) in [(100, 0), (101, 1), (6, 2), (100, 2)] {
        apply(&service, &with(requests).toml());
        assert_eq!(logged(&service, "limits.requests\""), times, "{requests}");
    }
    let lowered = "limits.requests is more than three quarters of the connections";
    assert_eq!(logged(&service, lowered), 1, "the start alone applies it");
}

#[test]
fn reload_by_signals_in_quick_succession_applies_the_newest_file() {
    let service = settings("a").start();
    for (prefix, other) in [("b", "a"), ("a", "b")].into_iter().cycle().take(20) {
        service.rewrite("settings.toml", &settings(other).toml());
        service.send_signal("HUP");
        service.rewrite("settings.toml", &settings(prefix).toml());
        service.send_signal("HUP");
        until_so("the newest rules are in use", || resolve(&service, prefix).status == 200);
    }
}

#[test]
fn reload_reads_the_content_file_again() {
    let service = settings("a").start();
    let sitemap = "/api/build-sitemap?site=main&contentType=api::a.a";
    let urls = || http::get(service.addr(), sitemap).json()["data"]["urls"].clone();
    assert_eq!(urls()[0], "https://x.example/a/x");
    service.rewrite("content.json", &content("y"));
    reload(&service, APPLIED);
    assert_eq!(urls()[0], "https://x.example/a/y");
}

#[test]
fn reload_applies_other_secrets() {
    let hook = |service, bearer: &str| {
        let headers = [("Authorization", bearer), ("Content-Length", "0")];
        http::send(service, "POST", "/hooks/cms", &headers).status
    };
    let with_hook = settings("a").more("[hooks]\nsecret_file = \"secret\"");
    let service = settings("a").file("secret", "one-secret\n").start();
    assert_eq!(hook(service.addr(), "Bearer one-secret"), 501);
    apply(&service, &with_hook.toml());
    assert_eq!(hook(service.addr(), "Bearer one-secret"), 202);
    service.rewrite("secret", "other-secret\n");
    reload(&service, APPLIED);
    assert_eq!(hook(service.addr(), "Bearer one-secret"), 401);
    assert_eq!(hook(service.addr(), "Bearer other-secret"), 202);
}

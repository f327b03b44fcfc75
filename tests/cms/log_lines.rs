//! The log of a service that fails: a line for each cause, not for each request.

use std::collections::BTreeMap;

use serde_json::json;

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::refusal;
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const TOKEN: (&str, &str) = ("Authorization", "Bearer canary-validate-token");
const DRAFTS: (&str, &str) = ("Authorization", "Bearer canary-draft-token");

/// What fails, and how.
type Failure<F> = (&'static str, F);

/// Two sites, one of which asks the documents for paths.
fn settings() -> Settings {
    let rules = |settings: Settings| {
        settings
            .rule("api::article.article", "/articles/{slug}")
            .rule("api::page.page", "/{parent.slug}/{slug}")
    };
    rules(rules(site("main").resolve("documents")).site("other"))
}

fn setup(settings: &Settings) -> Setup {
    settings
        .env("FRONTEND_MAP__HOOKS__SECRET", crate::support::hook::SECRET)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "canary-validate-token")
        .env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", "canary-draft-token")
}

/// A request of each kind, about documents and paths of its own.
fn request_each(service: &Service, n: usize) {
    let get = |target: &str, headers: &[(&str, &str)]| {
        http::send(service.addr(), "GET", target, headers);
    };
    for uid in ["api::article.article", "api::page.page"] {
        let one = format!("/api/frontend-url?uid={uid}&documentId=d{n}");
        get(&one, &[]);
        get(&format!("{one}&site=other"), &[]);
        get(&format!("{one}&status=draft"), &[DRAFTS]);
        let items = json!({"items": [{"uid": uid, "documentId": format!("b{n}")}]}).to_string();
        post(service, "/api/frontend-urls", &items, "");
        for site in ["main", "other"] {
            let list = format!("/api/build-sitemap?site={site}&contentType={uid}");
            get(&list, &[]);
            get(&format!("{list}&validate=true"), &[TOKEN]);
            get(&format!("/api/resolve?site={site}&uid={uid}&documentId=r{n}"), &[]);
            get(&format!("/sitemaps/{site}/{}-1.xml", uid.replace("::", ".")), &[]);
        }
    }
    for site in ["main", "other"] {
        for route in ["resolve", "get-content-type"] {
            get(&format!("/api/{route}?site={site}&pathname=/articles/p{n}"), &[]);
            get(&format!("/api/{route}?site={site}&pathname=/x{n}/p{n}"), &[]);
        }
        get(&format!("/api/resolve?site={site}&pathname=/articles/p{n}&status=draft"), &[DRAFTS]);
        for route in ["pages", "problems", "changes", "redirects", "validations"] {
            get(&format!("/api/{route}?site={site}"), &[]);
        }
        get(&format!("/sitemaps/{site}/sitemap.xml"), &[]);
        get(&format!("/api/nothing-{n}"), &[]);
    }
    let event = |id: &str| {
        format!(r#"{{"event":"entry.publish","uid":"{id}","entry":{{"documentId":"e{n}"}}}}"#)
    };
    for authorization in ["", "Bearer wrong", "Basic wrong", crate::support::hook::BEARER.1] {
        post(service, "/hooks/cms", &event("api::article.article"), authorization);
        post(service, "/hooks/cms", &event("api::unknown.unknown"), authorization);
    }
}

fn post(service: &Service, target: &str, body: &str, authorization: &str) {
    let length = body.len().to_string();
    let mut headers = vec![("Content-Length", length.as_str())];
    if !authorization.is_empty() {
        headers.push(("Authorization", authorization));
    }
    http::send_with(service.addr(), "POST", target, &headers, body);
}

/// The warnings and errors in the log, without their times.
fn complaints(service: &Service) -> Vec<String> {
    let log = service.log();
    let lines = log.lines().filter(|line| line.contains(" WARN ") || line.contains(" ERROR "));
    lines.map(|line| line.split_once(' ').expect("a time").1.to_owned()).collect()
}

/// Sends requests, and returns the lines that grow with them, without the numbers in them: in 20 rounds
/// there may be a second outage, but not a third.
fn repeated(service: &Service) -> Vec<String> {
    (0..20).for_each(|n| request_each(service, n));
    let mut counts = BTreeMap::<String, usize>::new();
    for line in complaints(service) {
        *counts.entry(line.replace(|char: char| char.is_ascii_digit(), "")).or_default() += 1;
    }
    let many = counts.into_iter().filter(|(_, count)| *count > 2);
    many.map(|(line, count)| format!("{count} times {line}")).collect()
}

#[test]
fn cms_that_fails_is_a_line_for_each_cause_and_not_for_each_request() {
    let failures: [Failure<fn() -> Script>; 11] = [
        ("401", || refusal(401, "UnauthorizedError", "{}")),
        ("403", || refusal(403, "ForbiddenError", "{}")),
        ("404", || refusal(404, "NotFoundError", "{}")),
        ("400", || refusal(400, "ValidationError", "{}")),
        ("302", || Script::raw("HTTP/1.1 302 X\r\nlocation: /admin\r\ncontent-length: 0\r\n\r\n")),
        ("500", || refusal(500, "InternalServerError", "{}")),
        ("503", || refusal(503, "X", "{}")),
        ("429", || refusal(429, "X", "{}")),
        ("HTML", || {
            Script::raw(
                "HTTP/1.1 200 X\r\ncontent-type: text/html\r\ncontent-length: 6\r\n\r\n<html>",
            )
        }),
        ("no fields", || Script::json(200, r#"{"data":[{"id":1}],"meta":{}}"#)),
        ("closed", || Script::raw("").and_close()),
    ];
    let mut wrong = Vec::new();
    for (what, script) in failures {
        let cms = Cms::start(move |_| script());
        let service = setup(&settings().strapi(&cms)).start();
        let repeated = repeated(&service);
        if !repeated.is_empty() {
            wrong.push(format!("{what}:\n{}", repeated.join("\n")));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// While a part of the service fails, which content does not need.
#[test]
fn redis_or_store_that_fails_is_a_line_for_each_cause_and_not_for_each_request() {
    let content = Content::new(&[("", "d1", "one"), ("", "d2", "two")]);
    let failures: [Failure<fn(&mut Redis)>; 4] = [
        ("killed", Redis::kill),
        ("silent", |redis| redis.pause()),
        ("full", |redis| {
            let _: String = redis.command(&["CONFIG", "SET", "maxmemory", "1"]);
        }),
        ("read-only", |redis| {
            let _: String = redis.command(&["REPLICAOF", "127.0.0.1", "1"]);
        }),
    ];
    let mut wrong = Vec::new();
    let mut judge = |what: &str, service: &Service| {
        let repeated = repeated(service);
        if !repeated.is_empty() {
            wrong.push(format!("{what}:\n{}", repeated.join("\n")));
        }
        let lines = complaints(service);
        let unpublished = lines.iter().filter(|line| line.contains("could not be published"));
        let mut causes: Vec<_> = unpublished.map(|line| line.split_once("error=")).collect();
        causes.sort_by_key(|cause| cause.map(|(_, error)| error));
        if causes.windows(2).any(|two| two[0].map(|one| one.1) == two[1].map(|one| one.1)) {
            wrong.push(format!("{what}: {causes:?}"));
        }
    };
    let cms = content.start();
    for (what, fail) in failures {
        let mut redis = Redis::start();
        let setup = setup(&settings().strapi(&cms)).env("FRONTEND_MAP__SHARED__URL", &redis.url());
        let service = setup.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
        until_so("it serves", || http::get(service.addr(), "/api/pages?site=main").status == 200);
        fail(&mut redis);
        assert!(service.logs("Redis is unavailable"), "{what}");
        judge(what, &service);
        if what == "silent" {
            redis.resume();
        }
    }
    for store in ["missing/store.redb", "."] {
        let service =
            setup(&settings().strapi(&cms)).env("FRONTEND_MAP__STORE__PATH", store).start();
        judge(store, &service);
    }
}

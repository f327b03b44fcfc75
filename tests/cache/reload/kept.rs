//! What a reload keeps while the CMS is down, and what it must not keep.

use super::{APPLIED, apply, reload};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{SITEMAP, assert_failure, refusal, urls};
use crate::support::http::{self, Response};
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::Settings;
use crate::support::wait::{until, until_so};

pub(super) const FIRST: &str = "/api/frontend-url?uid=plugin::cms.article&documentId=a&site=main";
const SECRET: &str = "a-secret-of-the-test";
const HINT: [(&str, &str); 2] =
    [("Authorization", "Bearer a-secret-of-the-test"), ("Content-Length", "0")];

/// Two sites in front of one CMS.
pub(super) fn settings(cms: &Cms) -> String {
    let with = |settings: Settings, key: &&str| {
        settings
            .site(key)
            .front_end_url(&format!("https://{key}.example"))
            .resolve("documents")
            .rule("plugin::cms.article", &format!("/{key}/{{slug}}"))
    };
    ["main", "other"].iter().fold(Settings::new(), with).strapi(cms).toml()
}

fn before(cms: &Cms) -> Setup {
    Setup::new(&settings(cms))
        .env("FRONTEND_MAP__CMS__TOKEN", "one-token")
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

pub(super) fn ask(service: &Service, target: &str) -> Response {
    http::get(service.addr(), target)
}

fn owner(service: &Service) -> Option<String> {
    let answer = ask(service, "/api/resolve?site=main&pathname=/main/x");
    answer.json()["data"]["documentId"].as_str().map(str::to_owned)
}

fn fail(content: &Content) {
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
}

#[test]
fn copies_survive_a_reload_of_unrelated_settings() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    let sitemap = SITEMAP.replace("site=main", "site=other");
    let (list, other, one) =
        (ask(&service, SITEMAP), ask(&service, &sitemap), ask(&service, FIRST));
    assert_eq!(urls(&list), ["https://main.example/main/x"]);
    until_so("the index is there", || owner(&service).as_deref() == Some("a"));
    fail(&content);
    let asked = cms.heads().len();
    let unrelated = settings(&cms).replace("[cms]", "cache_control = \"no-store\"\n[cms]");
    apply(&service, &unrelated);
    assert_eq!(ask(&service, SITEMAP).body, list.body);
    assert_eq!(owner(&service).as_deref(), Some("a"));
    assert_eq!(cms.heads().len(), asked, "nothing was built anew");
    let stale = ask(&service, FIRST);
    assert_eq!((stale.status, &stale.body), (200, &one.body));
    // One site alone changes: the other one keeps its snapshots, and this one gives none of the old.
    apply(&service, &unrelated.replace("/main/{slug}", "/new/{slug}"));
    assert_eq!(ask(&service, &sitemap).body, other.body);
    assert_failure(&ask(&service, SITEMAP), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, FIRST), 503, "ServiceUnavailableError");
    assert_eq!(owner(&service), None);
    // And back: what was said then is true again.
    apply(&service, &unrelated);
    assert_eq!(ask(&service, FIRST).body, one.body);
    content.heal();
    until_so("the snapshots are built", || ask(&service, SITEMAP).status == 200);
}

#[test]
fn copies_survive_a_reload_of_cms_limits() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    let (list, one) = (ask(&service, SITEMAP), ask(&service, FIRST));
    assert_eq!((list.status, one.status), (200, 200));
    until_so("the index is there", || owner(&service).as_deref() == Some("a"));
    fail(&content);
    apply(&service, &format!("{}[limits]\ncms_request_ms = 4000\n", settings(&cms)));
    assert_eq!(ask(&service, SITEMAP).body, list.body);
    assert_eq!(owner(&service).as_deref(), Some("a"));
    let stale = ask(&service, FIRST);
    assert_eq!((stale.status, &stale.body), (200, &one.body));
    assert!(stale.header("cache-status").is_some(), "it was asked for anew");
}

#[test]
fn last_validation_survives_a_reload_of_other_settings_than_those_of_its_site() {
    let cms = Content::new(&[("en", "a", "x")]).start();
    // Nothing listens there.
    let of_main = |url: &str| settings(&cms).replace("https://main.example", url);
    let first = of_main("http://127.0.0.1:1");
    let service = Setup::new(&first).start();
    let run = ask(&service, &format!("{SITEMAP}&validate=true"));
    assert_eq!((run.status, &run.json()["data"]["byClass"]["error"]), (200, &1.into()));
    let last = || ask(&service, "/api/validations?site=main").json()["data"]["validations"].clone();
    until_so("the run is recorded", || last()[0]["dead"][0]["documentId"] == "a");
    let before = last();
    apply(&service, &format!("{first}[limits]\ncms_request_ms = 4000\n"));
    assert_eq!(last(), before);
    apply(&service, &of_main("http://127.0.0.1:2"));
    assert_eq!(last(), serde_json::json!([]));
    // Forgotten for good: another reload may come a year later.
    apply(&service, &first);
    assert_eq!(last(), serde_json::json!([]));
}

#[test]
fn pending_refresh_is_started_after_a_reload_of_cms_limits() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let settings = settings(&cms).replace("resolve = \"documents\"\n", "");
    let setup = Setup::new(&settings).env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = setup.start();
    assert_eq!(ask(&service, SITEMAP).status, 200);
    let busy = "HTTP/1.1 429 X\r\nretry-after: 60\r\ncontent-length: 0\r\n\r\n";
    content.fail(move |_| Some(Script::raw(busy)));
    assert_eq!(ask(&service, &format!("{FIRST}&status=draft")).status, 503);
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &HINT).status, 202);
    until_so("the snapshot is due", || {
        let mark = ask(&service, SITEMAP).header("cache-status").unwrap_or_default();
        mark.contains("the CMS fails")
    });
    content.heal();
    let asked = cms.targets().len();
    apply(&service, &format!("{settings}[limits]\ncms_request_ms = 4000\n"));
    until_so("the walk is made up for", || cms.targets().len() >= asked + 2);
}

#[test]
fn another_cms_or_token_starts_with_empty_caches() {
    let content = Content::new(&[("en", "a", "x")]);
    let (cms, empty) = (content.start(), Content::new(&[]).start());
    let service = before(&cms).file("token", "another-token").start();
    assert_eq!(urls(&ask(&service, SITEMAP)).len(), 1);
    assert_eq!(ask(&service, FIRST).status, 200);
    apply(&service, &settings(&empty));
    assert!(urls(&ask(&service, SITEMAP)).is_empty());
    assert_eq!(ask(&service, FIRST).status, 404);
}

#[test]
fn walk_in_flight_serves_only_requests_of_its_own_settings() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    content.close();
    let addr = service.addr();
    let first = std::thread::spawn(move || http::get(addr, SITEMAP));
    until_so("a walk is under way", || {
        cms.targets().iter().any(|target| target.contains("%24gt") || target.contains("pagination"))
    });
    apply(&service, &settings(&cms).replace("/main/{slug}", "/new/{slug}"));
    let second = std::thread::spawn(move || http::get(addr, SITEMAP));
    content.open();
    // A request from before the reload gets the answer of its own settings.
    assert_eq!(urls(&first.join().unwrap()), ["https://main.example/main/x"]);
    assert_eq!(urls(&second.join().unwrap()), ["https://main.example/new/x"]);
    assert_eq!(urls(&ask(&service, SITEMAP)), ["https://main.example/new/x"]);
}

#[test]
fn orphaned_walk_without_waiters_ends() {
    let content = Content::many(&["en"], 250);
    let cms = content.start();
    content.close();
    let setup = before(&cms).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true");
    let service = setup.start();
    until_so("one walk for both sites", || cms.targets().len() == 1);
    let main = |of: &str| settings(&cms).replace("/main/{slug}", &format!("/{of}/{{slug}}"));
    apply(&service, &main("one"));
    until_so("the changed site is walked", || cms.targets().len() == 2);
    apply(&service, &main("two"));
    until_so("the changed site is walked", || cms.targets().len() == 3);
    content.open();
    assert_eq!(urls(&ask(&service, SITEMAP)).len(), 250);
    assert_eq!(urls(&ask(&service, &SITEMAP.replace("site=main", "site=other"))).len(), 250);
    let second = cms.targets().iter().filter(|target| target.contains("[$gt]")).count();
    assert_eq!(second, 4, "two walks have three pages: this site's of now, the other one's");
}

#[test]
fn no_webhook_is_lost_in_a_reload() {
    let content = Content::new(&[("en", "a", "s0")]);
    let cms = content.start();
    let service = before(&cms).start();
    assert_eq!(ask(&service, SITEMAP).status, 200);
    for n in 1..=20 {
        content.publish("en", "a", &format!("s{n}"));
        let bearer = format!("Bearer {SECRET}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
        if n % 2 == 0 {
            service.send_signal("HUP");
        }
        assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
        service.send_signal("HUP");
        let wanted = format!("https://main.example/main/s{n}");
        until("the change is seen", || {
            (urls(&ask(&service, SITEMAP)) == [wanted.clone()]).then_some(())
        });
    }
    reload(&service, APPLIED);
}

//! Redirects that are documents of the CMS: edits of them and of their targets, and what is known of them
//! after a restart, in an outage and on other instances.

use std::path::Path;

use serde_json::json;

use crate::support::api::{data, get};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::hook::{SECRET, post_body};
use crate::support::redis::Redis;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const REDIRECTS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
document = "target"
status = "code"
force = "force"
"#;

/// A CMS with pages and redirects.
struct World {
    pages: Content,
    redirects: Content,
    cms: Cms,
}

impl World {
    fn start() -> Self {
        let pages = Content::new(&[("en", "home", "home"), ("en", "news", "news")]);
        let redirects = Content::default();
        let (of_pages, of_redirects) = (pages.clone(), redirects.clone());
        let cms = Cms::start(move |target| {
            let is_redirect = target.starts_with("/api/redirects");
            if is_redirect { of_redirects.answer(target) } else { of_pages.answer(target) }
        });
        Self { pages, redirects, cms }
    }

    /// A redirect to an address.
    fn redirect(&self, id: &str, from: &str, to: &str) {
        self.put(id, &json!({"from": from, "to": to, "target": null, "code": 301, "force": null}));
    }

    fn put(&self, id: &str, fields: &serde_json::Value) {
        let fields = fields.to_string();
        self.redirects.put("en", id, &format!(",{}", &fields[1..fields.len() - 1]));
    }

    fn settings(&self) -> Settings {
        site("main")
            .resolve("documents")
            .set(REDIRECTS)
            .rule("api::page.page", "/{slug}")
            .strapi(&self.cms)
            .more("[[content_type]]\nuid = \"api::redirect.redirect\"\nendpoint = \"redirects\"\n")
    }

    fn setup(&self) -> Setup {
        self.settings()
            .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
            .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
    }
}

fn report(service: &Service, uid: &str, event: &str, id: &str) {
    let body = json!({"event": event, "uid": uid, "entry": {"documentId": id}}).to_string();
    let response = post_body(service, body.as_bytes());
    assert!(response.starts_with("HTTP/1.1 202 "), "{response}");
}

fn report_redirect(service: &Service, id: &str) {
    report(service, "api::redirect.redirect", "entry.publish", id);
}

/// Where a path leads: the status and the target of a redirect, a document, or the status of the response.
fn leads_to(service: &Service, path: &str) -> String {
    let response = get(service, &format!("/api/resolve?site=main&pathname={path}"));
    if response.status != 200 {
        return response.status.to_string();
    }
    let data = response.json()["data"].clone();
    match data["kind"].as_str() {
        Some("redirect") => {
            let redirect = &data["redirect"];
            format!("{} {}", redirect["status"], redirect["to"].as_str().unwrap())
        }
        Some("document") => format!("document {}", data["documentId"].as_str().unwrap()),
        Some("none") if data["gone"]["status"] == 410 => "gone".to_owned(),
        kind => kind.unwrap_or_default().to_owned(),
    }
}

const HOME: &str = "301 https://www.example.com/home";

fn known(service: &Service) {
    until_so("all is known", || leads_to(service, "/nothing/at/all") == "404");
}

fn with_store(world: &World, store: &Path) -> Setup {
    world.setup().env("FRONTEND_MAP__STORE__PATH", store.to_str().unwrap())
}

#[test]
fn edit_of_a_redirect_is_followed_after_its_webhook() {
    let world = World::start();
    world.redirect("r1", "/old", "/home");
    let service = world.setup().start();
    known(&service);
    assert_eq!(leads_to(&service, "/old"), HOME);
    let cursor = data(&service, "/api/changes?site=main")["cursor"].clone();
    world.redirect("r1", "/old", "/news");
    report_redirect(&service, "r1");
    until_so("the new target", || leads_to(&service, "/old") == "301 https://www.example.com/news");
    world.redirect("r1", "/older", "/news");
    report_redirect(&service, "r1");
    until_so("the new path", || leads_to(&service, "/old") == "none");
    assert_eq!(leads_to(&service, "/older"), "301 https://www.example.com/news");
    world.redirects.unpublish("en", "r1");
    report(&service, "api::redirect.redirect", "entry.unpublish", "r1");
    until_so("no redirect", || leads_to(&service, "/older") == "none");
    let since = format!("/api/changes?site=main&since={}", cursor.as_str().unwrap());
    let changes = data(&service, &since)["changes"].clone();
    let changes: Vec<_> = changes.as_array().unwrap().iter().collect();
    let of = |at: usize, name: &str| changes[at][name].as_str().unwrap();
    assert_eq!(changes.len(), 3, "{changes:?}");
    for (at, (path, from)) in
        [("/old", "/old"), ("/older", "/old"), ("/older", "/older")].into_iter().enumerate()
    {
        assert_eq!((of(at, "type"), of(at, "documentId")), ("redirect", "r1"));
        assert_eq!((of(at, "path"), of(at, "from")), (path, from));
    }
}

#[test]
fn redirect_to_a_document_follows_it_and_ends_with_it() {
    let world = World::start();
    let target = json!({"documentId": "news"});
    world.put(
        "r1",
        &json!({"from": "/n", "to": null, "target": target, "code": null, "force": null}),
    );
    let service = world.setup().start();
    known(&service);
    assert_eq!(leads_to(&service, "/n"), "308 https://www.example.com/news");
    world.pages.publish("en", "news", "latest");
    report(&service, "api::page.page", "entry.publish", "news");
    until_so("the new path", || leads_to(&service, "/latest") == "document news");
    assert_eq!(leads_to(&service, "/n"), "308 https://www.example.com/latest");
    world.pages.unpublish("en", "news");
    report(&service, "api::page.page", "entry.unpublish", "news");
    until_so("the page is gone", || leads_to(&service, "/latest") == "none");
    assert_eq!(leads_to(&service, "/n"), "none");
    let problems = data(&service, "/api/problems?site=main");
    assert_eq!(problems["count"], 1);
    assert_eq!(problems["problems"][0]["kind"], "redirect_without_target");
}

#[test]
fn live_page_wins_unless_the_redirect_is_forced_and_redirects_come_before_former_paths() {
    let world = World::start();
    world.redirect("r1", "/home", "/news");
    let service = world.setup().start();
    known(&service);
    assert_eq!(leads_to(&service, "/home"), "document home");
    let forced =
        json!({"from": "/home", "to": "/news", "target": null, "code": null, "force": true});
    world.put("r1", &forced);
    report_redirect(&service, "r1");
    let to_news = "308 https://www.example.com/news";
    until_so("the redirect is forced", || leads_to(&service, "/home") == to_news);
    // The page moves, and its former path has a redirect of its own.
    world.redirect("r1", "/home", "/news");
    report_redirect(&service, "r1");
    until_so("the page is live", || leads_to(&service, "/home") == "document home");
    world.pages.publish("en", "home", "start");
    report(&service, "api::page.page", "entry.publish", "home");
    until_so("the page has moved", || leads_to(&service, "/start") == "document home");
    assert_eq!(leads_to(&service, "/home"), "301 https://www.example.com/news");
    world.redirects.unpublish("en", "r1");
    report(&service, "api::redirect.redirect", "entry.delete", "r1");
    until_so("the former path", || {
        leads_to(&service, "/home") == "308 https://www.example.com/start"
    });
}

#[test]
fn path_without_a_page_is_a_503_until_redirects_are_known_and_a_store_knows_them() {
    let world = World::start();
    world.redirect("r1", "/old", "/home");
    world.put(
        "r2",
        &json!({"from": "/gone", "to": null, "target": null, "code": 410, "force": null}),
    );
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store.redb");
    world.redirects.fail(|_| Some(Script::raw("").and_close()));
    let mut service = with_store(&world, &store).start();
    until_so("the pages are known", || leads_to(&service, "/home") == "document home");
    assert_eq!(leads_to(&service, "/old"), "503");
    assert_eq!(leads_to(&service, "/nothing"), "503");
    world.redirects.heal();
    until_so("the redirects are known", || leads_to(&service, "/old") == HOME);
    assert_eq!(leads_to(&service, "/nothing"), "none");
    assert_eq!(service.signal("TERM"), Some(0));
    drop(service);
    world.redirects.fail(|_| Some(Script::raw("").and_close()));
    world.pages.fail(|_| Some(Script::raw("").and_close()));
    let service = with_store(&world, &store).start();
    assert_eq!(leads_to(&service, "/old"), HOME);
    assert_eq!(leads_to(&service, "/gone"), "gone");
    assert_eq!(leads_to(&service, "/home"), "document home");
}

#[test]
fn other_instances_adopt_redirects() {
    let world = World::start();
    world.redirect("r1", "/old", "/home");
    let redis = Redis::start();
    let start = || world.setup().env("FRONTEND_MAP__SHARED__URL", &redis.url()).start();
    let instances = [start(), start()];
    for instance in &instances {
        until_so("the redirect", || leads_to(instance, "/old") == HOME);
    }
    world.redirect("r1", "/old", "/news");
    report_redirect(&instances[1], "r1");
    for instance in &instances {
        until_so("the new target", || {
            leads_to(instance, "/old") == "301 https://www.example.com/news"
        });
    }
}

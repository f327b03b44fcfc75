//! Redirects that are documents of the CMS: edits of them and of their targets, and what is known of them
//! after a restart, in an outage and on other instances.

use std::path::Path;

use serde_json::json;

use crate::support::api::{data, get};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::hook::{SECRET, post_body};
use crate::support::http;
use crate::support::redis::Redis;
use crate::support::script::Script;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

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
            .redirects()
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
    // A rule of the pages matches the path, so that both content types have to be known.
    until_so("all is known", || leads_to(service, "/nothing") == "none");
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

const LIST: &str = "/api/build-sitemap?site=main&contentType=api::page.page";
const XML: &str = "/api/build-sitemap?site=main&contentType=api::page.page&xml=true";
const FILE: &str = "/sitemaps/main/api.page.page-1.xml";
const INDEX: &str = "/sitemaps/main/index.xml";

/// The URLs that the list in JSON has.
#[track_caller]
fn urls(service: &Service) -> Vec<String> {
    let list = data(service, LIST);
    let urls: Vec<&str> =
        list["urls"].as_array().unwrap().iter().map(|url| url.as_str().unwrap()).collect();
    assert_eq!(list["count"], urls.len());
    urls.iter().map(|url| (*url).to_owned()).collect()
}

/// Waits until the list has these paths, and then the texts in XML as well.
#[track_caller]
fn lists(service: &Service, paths: &[&str]) {
    let expected: Vec<String> =
        paths.iter().map(|path| format!("https://www.example.com{path}")).collect();
    until_so("the list has these paths", || urls(service) == expected);
    for target in [XML, FILE] {
        let response = get(service, target);
        if paths.is_empty() && target == FILE {
            assert_eq!(response.status, 404);
            continue;
        }
        let mut locs: Vec<&str> = response.text().split("<loc>").skip(1).collect();
        locs.sort_unstable();
        let locs = locs.iter().map(|loc| loc.split_once("</loc>").unwrap().0);
        assert!(locs.eq(expected.iter().map(String::as_str)), "{target}: {}", response.text());
    }
    let has_file = get(service, INDEX).text().contains("api.page.page-1.xml");
    assert_eq!(has_file, !paths.is_empty());
}

/// The validators of what sitemaps have.
fn validators(service: &Service) -> Vec<[String; 2]> {
    let of = |target: &&str| {
        let response = get(service, target);
        ["etag", "last-modified"].map(|name| response.header(name).unwrap())
    };
    [LIST, XML, FILE].iter().map(of).collect()
}

/// Whether the three have not changed for a client with these validators.
fn are_unchanged(service: &Service, validators: &[[String; 2]]) -> bool {
    let is_unchanged = |(target, [tag, date]): (&&str, &[String; 2])| {
        let status = |name, value: &String| {
            http::send(service.addr(), "GET", target, &[(name, value)]).status
        };
        let is_changed = status("If-None-Match", tag) == 200;
        // A date is that of a second, in which other content may have been sent.
        assert!(!is_changed || status("If-Modified-Since", date) == 200, "{target}");
        !is_changed
    };
    let all: Vec<bool> = [LIST, XML, FILE].iter().zip(validators).map(is_unchanged).collect();
    assert!(all.iter().all(|one| *one == all[0]), "{all:?}");
    all[0]
}

fn forced(from: &str, to: Option<&str>, code: Option<u16>) -> serde_json::Value {
    json!({"from": from, "to": to, "target": null, "code": code, "force": true})
}

#[test]
fn sitemaps_leave_out_a_page_while_a_forced_redirect_hides_it() {
    let world = World::start();
    world.redirect("r1", "/home", "/news");
    let service = world.setup().start();
    known(&service);
    let all = ["/home", "/news"];
    lists(&service, &all);
    let before = validators(&service);
    assert!(are_unchanged(&service, &before));
    for (fields, shown) in [
        (forced("/home", Some("/news"), None), &["/news"][..]),
        (forced("/home", None, Some(410)), &["/news"]),
        (forced("/home", Some("https://www.example.com/nothing"), Some(302)), &["/news"]),
        (forced("/news/*", Some("/home"), None), &["/home"]),
        (forced("/*", None, Some(410)), &[]),
    ] {
        world.put("r1", &fields);
        report_redirect(&service, "r1");
        lists(&service, shown);
        if shown.is_empty() {
            continue;
        }
        let hidden = validators(&service);
        assert!(are_unchanged(&service, &hidden) && !are_unchanged(&service, &before), "{fields}");
        // Withdrawn, and published again without `force`.
        world.redirects.unpublish("en", "r1");
        report(&service, "api::redirect.redirect", "entry.unpublish", "r1");
        lists(&service, &all);
        let back = validators(&service);
        let tags = |all: &[[String; 2]]| all.iter().map(|one| one[0].clone()).collect::<Vec<_>>();
        assert_eq!(tags(&back), tags(&before));
        assert!(are_unchanged(&service, &back) && !are_unchanged(&service, &hidden), "{fields}");
        world.redirect("r1", "/home", "/news");
        report_redirect(&service, "r1");
        until_so("it is shadowed", || {
            data(&service, "/api/problems?site=main")["problems"][0]["kind"] == "redirect_shadowed"
        });
        lists(&service, &all);
    }
    let problems = data(&service, "/api/problems?site=main");
    let rows: Vec<_> = problems["problems"].as_array().unwrap().iter().collect();
    assert_eq!((problems["count"].as_u64(), rows.len()), (Some(2), 2));
    for (row, path) in rows.iter().zip(all) {
        assert_eq!(
            (row["kind"].as_str(), row["path"].as_str()),
            (Some("redirect_hides_page"), Some(path))
        );
        assert_eq!(
            (row["documentId"].as_str(), row["contentType"].as_str()),
            (Some("r1"), Some("api::redirect.redirect"))
        );
    }
}

#[test]
fn update_of_a_page_beside_a_hidden_one_is_listed() {
    let world = World::start();
    world.put("r1", &forced("/home", Some("/news"), None));
    let service = world.setup().start();
    // At the first request: a list waits for the first walk of the redirects.
    lists(&service, &["/news"]);
    world.pages.publish("en", "more", "more");
    report(&service, "api::page.page", "entry.publish", "more");
    lists(&service, &["/more", "/news"]);
    // A target that is no page any more hides none.
    let target = json!({"documentId": "more"});
    world.put(
        "r1",
        &json!({"from": "/home", "to": null, "target": target, "code": null, "force": true}),
    );
    report_redirect(&service, "r1");
    until_so("the new target", || {
        leads_to(&service, "/home") == "308 https://www.example.com/more"
    });
    lists(&service, &["/more", "/news"]);
    world.pages.unpublish("en", "more");
    report(&service, "api::page.page", "entry.unpublish", "more");
    lists(&service, &["/home", "/news"]);
    assert_eq!(leads_to(&service, "/home"), "document home");
}

#[test]
fn list_is_sent_while_redirects_cannot_be_read() {
    let world = World::start();
    world.put("r1", &forced("/home", Some("/news"), None));
    world.redirects.fail(|_| Some(Script::raw("").and_close()));
    let service = world.setup().start();
    lists(&service, &["/home", "/news"]);
    assert_eq!(leads_to(&service, "/home"), "document home");
    world.redirects.heal();
    lists(&service, &["/news"]);
}

#[test]
fn url_checks_and_the_folder_of_sitemaps_leave_out_hidden_pages() {
    let world = World::start();
    world.put("r1", &forced("/home", None, Some(410)));
    // Nothing listens there: each URL that is checked fails at once.
    let settings = world.settings().front_end_url("http://127.0.0.1:9");
    let service = settings.clone().env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
    let checked = data(&service, &format!("{LIST}&validate=true"));
    assert_eq!(
        (checked["count"].as_u64(), checked["results"].as_array().unwrap().len()),
        (Some(1), 1)
    );
    assert_eq!(checked["results"][0]["url"], "http://127.0.0.1:9/news");
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().to_str().unwrap();
    let setup = settings.setup();
    let ended = setup.run(&["sitemap", "--site", "main", "--out", out]);
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    let file = std::fs::read_to_string(folder.path().join("api.page.page-1.xml")).unwrap();
    assert!(file.contains("/news<") && !file.contains("/home<"), "{file}");
    let expected = "api::page.page: 1 URL left out, because redirects hide them";
    assert!(ended.stderr.contains(expected), "{}", ended.stderr);
    let ended = setup.run(&["validate", "--site", "main", "--format", "csv"]);
    assert!(ended.stdout.contains("/news") && !ended.stdout.contains("/home"), "{}", ended.stdout);
}

#[test]
fn links_between_locales_name_no_hidden_page() {
    let pages = Content::new(&[("en", "home", "home"), ("de", "home", "start")]);
    let redirects = Content::default();
    redirects.put("en", "r1", r#","from":"/de/start","to":null,"code":410,"force":true"#);
    let (of_pages, of_redirects) = (pages.clone(), redirects.clone());
    let cms = Cms::start(move |target| {
        let is_redirect = target.starts_with("/api/redirects");
        if is_redirect { of_redirects.answer(target) } else { of_pages.answer(target) }
    });
    let fields = "from = \"from\"\nto = \"to\"\nstatus = \"code\"\nforce = \"force\"";
    let settings = site("main")
        .resolve("documents")
        .locales(&["en", "de"])
        .set(&format!("[[site.redirects]]\ncontent_type = \"api::redirect.redirect\"\n{fields}"))
        .rule("api::page.page", "/{locale}/{slug}")
        .strapi(&cms)
        .more("[[content_type]]\nuid = \"api::redirect.redirect\"\nendpoint = \"redirects\"\n")
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET);
    let service = settings.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true").start();
    let english = "https://www.example.com/en/home";
    assert_eq!(urls(&service), [english]);
    let file = get(&service, FILE);
    assert!(!file.text().contains("hreflang"), "{}", file.text());
    let alternates =
        || data(&service, "/api/resolve?site=main&pathname=/en/home")["alternates"].clone();
    assert_eq!(alternates(), json!({"en": english, "x-default": english}));
    redirects.unpublish("en", "r1");
    report(&service, "api::redirect.redirect", "entry.unpublish", "r1");
    let german = "https://www.example.com/de/start";
    until_so("both pages", || urls(&service) == [english, german]);
    assert_eq!(alternates(), json!({"en": english, "de": german, "x-default": english}));
    let file = get(&service, FILE);
    assert_eq!(file.text().matches("hreflang").count(), 6, "{}", file.text());
}

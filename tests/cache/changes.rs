//! `/api/changes`: what has changed on a site since a cursor.

mod deliveries;
mod indexnow;
mod restarts;
mod settings;
mod unwritable;

use serde_json::{Value, json};

use crate::support::content::Content;
use crate::support::hook::post_body;
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::settings::{Settings, site};
use crate::support::wait::{until, until_so};

const CHANGES: &str = "/api/changes?site=main";
const TOKEN: (&str, &str) = ("Authorization", "Bearer canary-validate-token");

/// A site with a rule for articles, some of which sitemaps leave out.
fn settings() -> Settings {
    site("main")
        .locales(&["en", "de"])
        .rule("api::article.article", "/{locale}/articles/{slug}")
        .with("title = \"title\"\nexclude_when = { hidden = true }")
}

fn setup(settings: &Settings) -> Setup {
    settings
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true")
        .env("FRONTEND_MAP__HOOKS__SECRET", crate::support::hook::SECRET)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", "canary-validate-token")
}

fn article(content: &Content, id: &str, slug: &str, title: &str, hidden: bool) {
    let fields = format!(r#","slug":"{slug}","title":"{title}","hidden":{hidden}"#);
    content.put("en", id, &fields);
}

fn content() -> Content {
    let content = Content::default();
    article(&content, "a", "one", "One", false);
    article(&content, "b", "two", "Two", false);
    article(&content, "h", "hidden", "Hidden", true);
    content
}

/// Reports a change of a document.
fn report(service: &Service, id: &str) {
    let event = format!(
        r#"{{"event":"entry.publish","uid":"api::article.article","entry":{{"documentId":"{id}","publishedAt":"2024-03-06T22:19:54.649Z"}}}}"#
    );
    assert!(post_body(service, event.as_bytes()).starts_with("HTTP/1.1 202"));
}

fn read(service: &Service, since: &str, headers: &[(&str, &str)]) -> Value {
    let since = if since.is_empty() { String::new() } else { format!("&since={since}") };
    let response = http::send(service.addr(), "GET", &format!("{CHANGES}{since}"), headers);
    assert_eq!(response.status, 200, "{}", response.text());
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    response.json()["data"].clone()
}

fn cursor(service: &Service) -> String {
    let read = read(service, "", &[]);
    assert_eq!((&read["changes"], &read["reset"]), (&json!([]), &json!(false)));
    read["cursor"].as_str().expect("text").to_owned()
}

/// The type, the document and the paths of each change, without its time.
fn brief(read: &Value) -> Vec<String> {
    let brief = |change: &Value| {
        assert_eq!(change["contentType"], "api::article.article");
        let text = |name: &str| change[name].as_str().unwrap_or_default().to_owned();
        assert!(text("at").ends_with('Z'), "{change}");
        let mut words = ["type", "documentId", "path", "from"].map(text).to_vec();
        words.retain(|word| !word.is_empty());
        words.join(" ")
    };
    read["changes"].as_array().expect("a list").iter().map(brief).collect()
}

/// A service that has walked.
fn started(settings: &Settings) -> Service {
    let service = setup(settings).start();
    let pages = || http::get(service.addr(), "/api/pages?site=main");
    until_so("it has walked", || pages().status == 200);
    service
}

#[test]
fn changes_are_listed_in_order_with_their_paths() {
    let content = content();
    let cms = content.start();
    let service = started(&settings().strapi(&cms));
    let start = cursor(&service);
    let mut last = start.clone();
    let mut step = |id: &str, expected: &str| {
        report(&service, id);
        let read = until("the change is listed", || {
            let read = read(&service, &last, &[]);
            (read["changes"] != json!([])).then_some(read)
        });
        assert_eq!(brief(&read), [expected]);
        last = read["cursor"].as_str().expect("text").to_owned();
    };
    article(&content, "a", "uno", "One", false);
    step("a", "moved a /en/articles/uno /en/articles/one");
    article(&content, "a", "uno", "Uno", false);
    step("a", "updated a /en/articles/uno");
    article(&content, "c", "three", "Three", false);
    step("c", "added c /en/articles/three");
    content.unpublish("en", "b");
    step("b", "gone b /en/articles/two");
    let expected = [
        "moved a /en/articles/uno /en/articles/one",
        "updated a /en/articles/uno",
        "added c /en/articles/three",
        "gone b /en/articles/two",
    ];
    let all = read(&service, &start, &[]);
    assert_eq!((brief(&all), &all["more"]), (expected.map(str::to_owned).to_vec(), &json!(false)));
    assert_eq!(all["cursor"], last.as_str());
    assert_eq!(brief(&read(&service, "0", &[])), expected);
    assert_eq!(brief(&read(&service, &last, &[])), [""; 0]);
}

#[test]
fn reader_without_the_token_gets_changes_of_listed_pages_alone() {
    let content = content();
    let cms = content.start();
    let service = started(&settings().strapi(&cms));
    let start = cursor(&service);
    let mut seen = 0;
    let mut step = |id: &str, with_token: &str, without: Option<&str>| {
        report(&service, id);
        let all = until("the change is listed", || {
            let all = brief(&read(&service, &start, &[TOKEN]));
            (all.len() > seen).then_some(all)
        });
        assert_eq!(&all[seen..], [with_token]);
        seen = all.len();
        let listed = brief(&read(&service, &start, &[]));
        assert_eq!(listed.last().map(String::as_str), without, "{listed:?}");
    };
    article(&content, "h", "secret", "Hidden", true);
    step("h", "moved h /en/articles/secret /en/articles/hidden", None);
    // Its former path is still unknown.
    article(&content, "h", "open", "Hidden", false);
    let added = Some("added h /en/articles/open");
    step("h", "moved h /en/articles/open /en/articles/secret", added);
    article(&content, "h", "closed", "Hidden", true);
    let gone = Some("gone h /en/articles/open");
    step("h", "moved h /en/articles/closed /en/articles/open", gone);
    content.unpublish("en", "h");
    step("h", "gone h /en/articles/closed", gone);
    article(&content, "a", "one", "One", true);
    step("a", "updated a /en/articles/one", Some("gone a /en/articles/one"));
    article(&content, "a", "one", "One", false);
    step("a", "updated a /en/articles/one", Some("added a /en/articles/one"));
    for wrong in ["Bearer wrong", "Basic x"] {
        let headers = [("Authorization", wrong)];
        let status = http::send(service.addr(), "GET", CHANGES, &headers).status;
        assert_eq!(status, if wrong == "Basic x" { 401 } else { 403 });
    }
}

#[test]
fn cursor_that_cannot_be_used_is_refused_or_reset() {
    let content = content();
    let cms = content.start();
    let service = started(&settings().strapi(&cms));
    let present = cursor(&service);
    for (query, message) in [
        ("", "`site` is required"),
        ("?site=x", "`site` is not a configured site: \"x\""),
        ("?site=main&since=1", "`since` must be a cursor of an earlier response or 0, not \"1\""),
        (
            "?site=main&since=2026-01-31T12:00:00Z",
            "`since` must be a cursor of an earlier response or 0, not \"2026-01-31T12:00:00Z\"",
        ),
        ("?site=main&since=0&since=0", "`since` is given more than once"),
    ] {
        let response = http::get(service.addr(), &format!("/api/changes{query}"));
        assert_eq!(
            (response.status, response.json()["error"]["message"].clone()),
            (400, message.into())
        );
    }
    let (log, _) = present.split_at(16);
    let future = format!("{log}ff");
    for unknown in [&*future, "00000000000000001"] {
        let read = read(&service, unknown, &[]);
        assert_eq!((&read["reset"], &read["changes"]), (&json!(true), &json!([])), "{unknown}");
        assert_eq!(read["cursor"], *present);
    }
    assert_eq!(read(&service, &present, &[])["reset"], false);
}

#[test]
fn more_changes_than_are_kept_are_a_reset_and_long_lists_have_pages() {
    let content = Content::default();
    let rename_all = |prefix: &str| {
        for n in 0..1_500 {
            article(&content, &format!("d{n:05}"), &format!("{prefix}{n}"), "Title", false);
        }
    };
    rename_all("s");
    let cms = content.start();
    let service = started(&settings().more("[changes]\nkeep = 2000").strapi(&cms));
    let start = cursor(&service);
    let walk = || {
        let body = r#"{"event":"entry.publish"}"#;
        assert!(post_body(&service, body.as_bytes()).starts_with("HTTP/1.1 202"));
    };
    rename_all("x");
    walk();
    let first = until("the changes are listed", || {
        let first = read(&service, &start, &[]);
        (first["changes"] != json!([])).then_some(first)
    });
    assert_eq!((brief(&first).len(), &first["more"]), (1_000, &json!(true)));
    let middle = first["cursor"].as_str().expect("text").to_owned();
    let second = read(&service, &middle, &[]);
    assert_eq!((brief(&second).len(), &second["more"]), (500, &json!(false)));
    let end = second["cursor"].as_str().expect("text").to_owned();
    rename_all("y");
    walk();
    until_so("the next changes are listed", || !brief(&read(&service, &end, &[])).is_empty());
    assert_eq!(read(&service, &start, &[])["reset"], true);
    assert_eq!(read(&service, &middle, &[])["reset"], false);
    // 3,000 less those that are kept.
    let oldest = read(&service, "0", &[]);
    assert_eq!((&oldest["reset"], &oldest["more"]), (&json!(false), &json!(true)));
    assert_eq!(read(&service, &middle, &[])["changes"], oldest["changes"]);
}

//! `--links`: the broken links of the content in each format, as a running service judges them.

use serde_json::Value;

use super::validate;
use crate::support::front_end::{FrontEnd, answer};
use crate::support::http;
use crate::support::service::Setup;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
"api::post.post": [
    {"documentId": "p1", "slug": "ok", "body": "[self](/posts/ok) [<b>none</b>](/posts/none)"}],
"api::page.page": [{"documentId": "home", "slug": "ok", "body": "[away](/posts/away)"}],
"api::redirect.redirect": [{"documentId": "r1", "from": "/posts/away", "code": 410, "to": null}]}"#;

const LINKS: &str = r#"
[[site.redirects]]
content_type = "api::redirect.redirect"
from = "from"
to = "to"
status = "code"

[[site.links]]
content_type = "api::post.post"
fields = ["body"]

[[site.links]]
content_type = "api::page.page"
fields = ["body"]
"#;

fn setup(front_end: &str, content: &str) -> Setup {
    settings(front_end).files(content).setup()
}

fn settings(front_end: &str) -> Settings {
    let site = site("main").front_end_url(front_end).resolve("documents");
    let site = site.rule("api::post.post", "/posts/{slug}").rule("api::page.page", "/{slug}");
    site.with(LINKS).cms("admin_url = \"https://cms.example.com/admin\"")
}

#[tokio::test(flavor = "multi_thread")]
async fn broken_links_are_in_each_format_and_fail_the_command() {
    let peer = FrontEnd::start(|_: &str| answer("200 OK", "", 5)).await;
    let base = peer.url("http", "");
    let service = setup(&base, CONTENT).start();
    let setup = setup(&base, CONTENT);
    let list = "/api/links?site=main";
    until_so("the content is read", || http::get(service.addr(), list).status == 200);
    let address = format!("http://{}", service.addr());
    let run = |args: &[&str]| {
        validate(&setup, "main", &[&["--links", "--service", &address], args].concat())
    };
    let ended = run(&[]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let line = "2 broken links in the content: frontend-map links --site main\n";
    assert_eq!(ended.stdout, format!("site main: 2 URLs, none dead (2xx 2)\n{line}"));
    let report = |format: &str| {
        let ended = run(&["--format", format]);
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        ended.stdout
    };
    let admin = |uid: &str, id: &str| {
        format!("https://cms.example.com/admin/content-manager/collection-types/{uid}/{id}")
    };
    let [of_post, of_page] = [admin("api::post.post", "p1"), admin("api::page.page", "home")];

    let rows = [
        format!(
            r#"{{"contentType":"api::post.post","documentId":"p1","locale":null,"url":"{base}/posts/ok","adminUrl":"{of_post}","field":"body","text":"none","address":"/posts/none","path":"/posts/none","verdict":"no_such_page","to":null}}"#
        ),
        format!(
            r#"{{"contentType":"api::page.page","documentId":"home","locale":null,"url":"{base}/ok","adminUrl":"{of_page}","field":"body","text":"away","address":"/posts/away","path":"/posts/away","verdict":"gone","to":null}}"#
        ),
    ];
    let json = report("json");
    let end = format!(r#","links":[{}]}}}}"#, rows.join(",")) + "\n";
    assert!(json.ends_with(&end), "{json}");
    assert!(json.contains(r#","links":{"count":2,"readAt":""#), "{json}");

    let lines = report("ndjson");
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!(lines[2..4], rows);
    let end: Value = serde_json::from_str(lines[4]).unwrap();
    let figures = ["count", "unknown", "leftOut", "unreadable"];
    assert_eq!(figures.map(|name| end["links"][name].as_u64().unwrap()), [2, 0, 0, 0]);

    let csv = report("csv");
    let records = [
        format!(
            "api::post.post,p1,,,{base}/posts/ok,,no_such_page,false,/posts/none,\"link in body\",,{of_post}\r\n"
        ),
        format!(
            "api::page.page,home,,,{base}/ok,,gone,false,/posts/away,\"link in body\",,{of_page}\r\n"
        ),
    ];
    assert!(csv.ends_with(&records.concat()), "{csv}");

    let xml = report("junit");
    let totals = r#"<testsuites name="main" tests="4" failures="2" errors="0">"#;
    assert!(xml.contains(totals), "{xml}");
    let (_, suite) = xml.split_once("  <testsuite name=\"links\" ").unwrap();
    let (start, cases) = suite.split_once(">\n").unwrap();
    assert!(start.starts_with(r#"tests="2" failures="2" errors="0" skipped="0" timestamp=""#));
    let expected = r#"    <testcase classname="api::post.post body" name="/posts/none">
      <failure type="no_such_page" message="no_such_page: /posts/none">documentId p1, locale none</failure>
    </testcase>
    <testcase classname="api::page.page body" name="/posts/away">
      <failure type="gone" message="gone: /posts/away">documentId home, locale none</failure>
    </testcase>
  </testsuite>
</testsuites>
"#;
    assert_eq!(cases, expected);

    let html = report("html");
    assert!(html.contains("<span data-number>2</span> links lead to no page."), "{html}");
    let row = format!(
        "<tr><td><code>/posts/none</code> none</td><td>no_such_page</td><td><div class=\"document\"><code>p1</code> <span class=\"means\"></span><a href=\"{of_post}\" target=\"_blank\" rel=\"noopener noreferrer\">Edit in the CMS</a></div><code>body</code></td></tr>"
    );
    assert!(html.contains(&row), "{html}");

    let of_pages = run(&["--content-type", "api::page.page", "--format", "csv"]);
    assert_eq!(of_pages.stdout.matches("link in body").count(), 1, "{}", of_pages.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_are_missing_are_in_the_summary() {
    let peer = FrontEnd::start(|_: &str| answer("200 OK", "", 5)).await;
    let long = format!("/ok) [long](/{})", "y".repeat(3_000));
    let content = CONTENT.replace("/posts/none)", &long).replace("/posts/away)", "relative)");
    let service = setup(&peer.url("http", ""), &content).start();
    let list = "/api/links?site=main";
    until_so("the content is read", || http::get(service.addr(), list).status == 200);
    let address = format!("http://{}", service.addr());
    let setup = setup(&peer.url("http", ""), &content);
    let ended = validate(&setup, "main", &["--links", "--service", &address]);
    let line = ended.stdout.lines().nth(1).unwrap();
    let expected = "1 broken link in the content, 1 left out: frontend-map links --site main";
    assert_eq!(line, expected, "{}", ended.stdout);
}

#[tokio::test(flavor = "multi_thread")]
async fn links_that_are_not_known_are_those_of_the_selected_types() {
    let peer = FrontEnd::start(|_: &str| answer("200 OK", "", 5)).await;
    let base = peer.url("http", "");
    // A relative address in a document without a URL has no verdict.
    let content = CONTENT
        .replace(
            r#""slug": "ok", "body": "[self](/posts/ok)"#,
            r#""slug": "", "body": "[self](ok)"#,
        )
        .replace("/posts/none", "/ok")
        .replace("/posts/away)", "/ok)");
    let page = "[[site.page]]\nname = \"contact\"\npath = \"/contact\"\n";
    let setup = || settings(&base).with(page).files(&content).setup();
    let service = setup().start();
    let list = "/api/links?site=main";
    until_so("the content is read", || http::get(service.addr(), list).status == 200);
    let address = format!("http://{}", service.addr());
    for (selected, unknown) in
        [(None, 1), (Some("api::post.post"), 1), (Some("api::page.page"), 0), (Some("pages"), 0)]
    {
        let selection = selected.map(|uid| ["--content-type", uid]);
        let selection = selection.iter().flatten().copied();
        let fixed = ["--links", "--service", &address, "--format", "json", "--out", "report.json"];
        let setup = setup();
        let args: Vec<&str> = fixed.into_iter().chain(selection).collect();
        let ended = validate(&setup, "main", &args);
        let found = match unknown {
            0 => "no broken links in the content",
            _ => "no broken links found in the content, 1 not known",
        };
        let line = format!("{found}: frontend-map links --site main");
        assert!(ended.stdout.lines().any(|own| own == line), "{selected:?}: {}", ended.stdout);
        assert_eq!(ended.status, Some(0), "{selected:?}: {}", ended.stderr);
        let report = std::fs::read(setup.path().join("report.json")).unwrap();
        let report: Value = serde_json::from_slice(&report).unwrap();
        let figures = ["count", "unknown"].map(|name| report["links"][name].as_u64().unwrap());
        assert_eq!(figures, [0, unknown], "{selected:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_without_a_service_or_a_broken_one_are_told_apart() {
    let peer = FrontEnd::start(|_: &str| answer("200 OK", "", 5)).await;
    let fine = CONTENT.replace("/posts/none", "/ok").replace("/posts/away)", "/ok)");
    let mut service = setup(&peer.url("http", ""), &fine).start();
    let setup = setup(&peer.url("http", ""), &fine);
    let list = "/api/links?site=main";
    until_so("the content is read", || http::get(service.addr(), list).status == 200);
    let address = format!("http://{}", service.addr());
    let run = || validate(&setup, "main", &["--links", "--service", &address]);
    let ended = run();
    let links = "no broken links in the content: frontend-map links --site main\n";
    assert_eq!(ended.stdout, format!("site main: 2 URLs, none dead (2xx 2)\n{links}"));
    assert_eq!(ended.status, Some(0), "{}", ended.stderr);
    assert_eq!(service.signal("TERM"), Some(0));
    let before = peer.heads().len();
    let ended = run();
    assert_eq!(ended.status, Some(2), "{}", ended.stderr);
    assert!(ended.stderr.starts_with(&format!("frontend-map: {address}: ")), "{}", ended.stderr);
    assert_eq!(peer.heads().len(), before, "no page is requested");
}

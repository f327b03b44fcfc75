//! `frontend-map validate` with a scripted frontend: every format word for word, exit statuses, refused
//! arguments, and what an interrupt leaves behind.

mod compare;
mod links;
mod retries;

use std::fs::Permissions;
use std::net::SocketAddr;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use crate::support::front_end::{Answer, FrontEnd, answer, refusing};
use crate::support::service::{Ended, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

const CONTENT: &str = r#"{
"api::post.post": [
    {"documentId": "p1", "locale": "en", "slug": "ok"},
    {"documentId": "p1", "locale": "de", "slug": "moved"},
    {"documentId": "p2", "locale": "en", "slug": "missing", "title": "Lost <b>"},
    {"documentId": "p3", "locale": "en", "slug": "broken"},
    {"documentId": "p4", "locale": "en", "title": "No \u202eslug"}],
"api::page.page": [
    {"documentId": "home", "slug": "ok"},
    {"documentId": "away", "slug": "reset"}],
"api::note.note": [{"documentId": "n1", "slug": "ok"}]}"#;

/// Pages by the last segment of the path.
fn pages(path: &str) -> Answer {
    match path.rsplit('/').next().unwrap_or_default() {
        "ok" => answer("200 OK", "", 5),
        "moved" => answer("301 Moved Permanently", "Location: /de/posts/neu?a=1&b=\"2\"\r\n", 0),
        "missing" => answer("404 Not Found", "", 5),
        "broken" => answer("500 Internal Server Error", "", 5),
        "reset" => Answer::Reset,
        "hang" => Answer::Hang,
        other => panic!("the script has no {other}"),
    }
}

/// Sites on this front end: `main` with all of the above, `fine` with one page, `lost` without a
/// base URL, and on the other address `down`.
fn setup(front_end: &str, down: SocketAddr) -> Setup {
    site("main")
        .front_end_url(front_end)
        .locales(&["en", "de"])
        .rule("api::post.post", "/{locale}/posts/{slug}")
        .with("title = \"title\"")
        .rule("api::page.page", "/{slug}")
        .site("fine")
        .front_end_url(front_end)
        .rule("api::note.note", "/notes/{slug}")
        .site("lost")
        .without_front_end_url()
        .rule("api::note.note", "/notes/{slug}")
        .site("down")
        .front_end_url(&format!("http://{down}"))
        .rule("api::note.note", "/notes/{slug}")
        .cms("admin_url = \"https://cms.example.com/admin\"")
        .files(CONTENT)
        .setup()
}

/// `frontend-map validate --site <site> <args>`.
fn validate(setup: &Setup, site: &str, args: &[&str]) -> Ended {
    setup.run(&[&["validate", "--site", site], args].concat())
}

/// Replaces what differs between runs: the frontend's port, and the digits of dates.
fn settled(text: &str, base: &str) -> String {
    let mut bytes = text.replace(base, "http://127.0.0.1:PORT").into_bytes();
    let is_date = |at: &[u8]| {
        "dddd-dd-dd dd:dd".bytes().zip(at).all(|(shape, byte)| match shape {
            b'd' => byte.is_ascii_digit(),
            b' ' => b"T ".contains(byte),
            other => *byte == other,
        })
    };
    for at in 0..bytes.len().saturating_sub("0000-00-00T00:00:00".len()) {
        if is_date(&bytes[at..]) {
            let date = &mut bytes[at..at + "0000-00-00T00:00:00".len()];
            let end = if date[16] == b':' { date.len() } else { 16 };
            date[..end].iter_mut().filter(|b| b.is_ascii_digit()).for_each(|b| *b = b'0');
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// The page without its style and script, which are files of their own, and their hashes.
fn without_assets(html: &str) -> String {
    let style = include_str!("../../crates/outbound/src/checks/report/html/page.css");
    let script = include_str!("../../crates/outbound/src/checks/report/html/page.js");
    let page = html.replace(style, "STYLE").replace(script, "SCRIPT");
    let hash = |text: &str| {
        let from = text.find("'sha256-").unwrap();
        let to = from + 2 + text[from + 1..].find('\'').unwrap();
        text.replacen(&text[from..to], "'HASH'", 1)
    };
    hash(&hash(&page))
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort_unstable();
    names
}

#[tokio::test(flavor = "multi_thread")]
async fn every_format_is_written_word_for_word() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let base = peer.url("http", "");
    let setup = setup(&base, down);
    let summary = include_str!("validate/expected/summary.txt");
    for (format, expected) in [
        ("json", include_str!("validate/expected/report.json")),
        ("ndjson", include_str!("validate/expected/report.ndjson")),
        ("csv", include_str!("validate/expected/report.csv")),
        ("junit", include_str!("validate/expected/report.xml")),
        ("html", include_str!("validate/expected/report.html")),
    ] {
        let ended = validate(&setup, "main", &["--format", format, "--out", "report"]);
        assert_eq!(ended.status, Some(1), "{}", ended.stderr);
        assert_eq!(settled(&ended.stdout, &base), summary, "{format}");
        let file = std::fs::read_to_string(setup.path().join("report")).unwrap();
        let file = if format == "html" { without_assets(&file) } else { file };
        assert_eq!(settled(&file, &base), expected.replace("\\r\n", "\r\n"), "{format}");
        let ended = validate(&setup, "main", &["--format", format]);
        let report = if format == "html" { without_assets(&ended.stdout) } else { ended.stdout };
        assert_eq!(settled(&report, &base), settled(&file, &base), "{format} on stdout");
        assert!(settled(&ended.stderr, &base).contains(summary), "{}", ended.stderr);
    }
    assert_eq!(names(setup.path()), ["content.json", "report", "settings.toml"]);
    // Six URLs, one of which is requested again after its reset, ten times.
    assert_eq!(peer.heads().len(), 70);
}

#[test]
fn page_about_validation_shows_the_real_summary() {
    let summary = include_str!("validate/expected/summary.txt");
    let summary = summary.replace("http://127.0.0.1:PORT", "https://www.example.com");
    let block = format!("```console\n$ frontend-map validate --site main\n{summary}```\n");
    assert!(include_str!("../../docs/validation.md").contains(&block));
}

#[tokio::test(flavor = "multi_thread")]
async fn front_end_that_is_down_is_not_a_404() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down);
    let url = format!("http://{down}/notes/ok");
    let ended = validate(&setup, "down", &["--format", "ndjson", "--out", "report"]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let summary = "site down: 1 URL, 1 dead (error 1)\n\nerror no response: 1 URL\n  \
        api::note.note /notes/{slug}: 1\n    fetch failed: refused  n1  en  ";
    assert_eq!(ended.stdout, format!("{summary}{url}\n"));
    let report = std::fs::read_to_string(setup.path().join("report")).unwrap();
    let line = format!(
        r#"{{"url":"{url}","status":null,"ok":false,"reason":"fetch failed: refused","contentType":"api::note.note","documentId":"n1","locale":"en","rule":"/notes/{{slug}}","adminUrl":"https://cms.example.com/admin/content-manager/collection-types/api::note.note/n1"}}"#
    );
    assert_eq!(report.lines().next(), Some(&*line));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_dead_urls_has_a_summary_of_one_line_and_a_redirect_is_not_dead() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let base = peer.url("http", "");
    // Nothing of the log stands between the lines, whatever is logged elsewhere.
    let setup = setup(&base, down).env("RUST_LOG", "warn");
    let ended = validate(&setup, "fine", &[]);
    assert_eq!((ended.status, &*ended.stdout), (Some(0), "site fine: 1 URL, none dead (2xx 1)\n"));
    assert!(ended.stderr.starts_with("api::note.note: 1 URL\nchecked 1 URL in "));
    let moved = r#"{"api::post.post": [{"documentId": "p1", "locale": "de", "slug": "moved"}]}"#;
    let ended = validate(&setup.file("content.json", moved), "main", &[]);
    assert_eq!(ended.status, Some(0));
    let expected = "site main: 1 URL, none dead (3xx 1)\n\n3xx leads elsewhere: 1 URL\n  \
        api::post.post /{locale}/posts/{slug}: 1\n    301  p1  de  http://127.0.0.1:PORT/de/posts/moved\n         \
        -> /de/posts/neu?a=1&b=\"2\"\n";
    assert_eq!(settled(&ended.stdout, &base), expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_named_content_types_are_checked() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let base = peer.url("http", "");
    let setup = setup(&base, down);
    let ended = validate(&setup, "main", &["--content-type", "api::page.page"]);
    let expected = "site main: 2 URLs, 1 dead (error 1, 2xx 1)\n\nerror no response: 1 URL\n  \
        api::page.page /{slug}: 1\n    fetch failed: reset  away  en  http://127.0.0.1:PORT/reset\n";
    assert_eq!((ended.status, settled(&ended.stdout, &base)), (Some(1), expected.to_owned()));
    assert_eq!(peer.heads().len(), 3, "two URLs, and one more request after the reset");
}

#[tokio::test(flavor = "multi_thread")]
async fn connections_are_reused_across_content_types() {
    let peer = FrontEnd::start(|_| answer("200 OK", "", 5)).await;
    let (_socket, down) = refusing();
    let documents = |uid: &str| {
        let one = |n: usize| format!(r#"{{"documentId": "{n}", "slug": "s{n}", "locale": "en"}}"#);
        format!(r#""{uid}": [{}]"#, (0..60).map(one).collect::<Vec<_>>().join(","))
    };
    let content = format!("{{{}, {}}}", documents("api::post.post"), documents("api::page.page"));
    let setup = setup(&peer.url("http", ""), down).file("content.json", &content);
    let ended = validate(&setup, "main", &["--retries", "2"]);
    assert_eq!(ended.stdout, "site main: 120 URLs, none dead (2xx 120)\n");
    assert!(peer.accepts() <= 10, "{} connections for 120 pages", peer.accepts());
    assert_eq!(peer.heads().len(), 120);
}

#[tokio::test(flavor = "multi_thread")]
async fn lack_of_file_descriptors_is_not_reported_as_a_dead_url() {
    let peer = FrontEnd::start(|_| answer("200 OK", "", 5)).await;
    let (_socket, down) = refusing();
    let post = |n: usize| format!(r#"{{"documentId": "{n}", "slug": "s{n}", "locale": "en"}}"#);
    let posts = (0..60).map(post).collect::<Vec<_>>().join(",");
    // Enough to start with, and for a few connections.
    let few = ["sh", "-c", "ulimit -n 17; exec \"$@\"", "sh"];
    let content = format!(r#"{{"api::post.post": [{posts}]}}"#);
    let setup = setup(&peer.url("http", ""), down).file("content.json", &content).behind(&few);
    let ended = validate(&setup, "main", &[]);
    assert_eq!(ended.stdout, "site main: 60 URLs, none dead (2xx 60)\n", "{}", ended.stderr);
    assert!(peer.most_in_flight() < 10, "there were enough of them");
}

#[tokio::test(flavor = "multi_thread")]
async fn wrong_arguments_are_reported_before_any_request() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down)
        .file("list.json", "[]")
        .file("other.json", r#"{"site": "fine", "contentTypes": []}"#)
        .file("half.json", "{\"site\": \"main\",\n \"contentTypes\": [{\"site\"");
    let lost = "unknown site `x`; there are: main, fine, lost, down";
    let half = "half.json: not the JSON of an earlier check (line 2, column 25)";
    for (site, args, message) in [
        ("x", &[][..], lost),
        ("lost", &[], "site \"lost\" has no base URL: set front_end_url or FRONT_END_URL_LOST"),
        ("main", &["--content-type", "api::x.x"], "site \"main\" has no rule for `api::x.x`"),
        ("main", &["--compare", "none.json"], "none.json: No such file or directory (os error 2)"),
        (
            "main",
            &["--compare", "list.json"],
            "list.json: not the JSON of an earlier check (line 1, column 1)",
        ),
        ("main", &["--compare", "half.json"], half),
        (
            "main",
            &["--compare", "other.json"],
            "other.json: a report about the site \"fine\", not \"main\"",
        ),
        (
            "main",
            &["--format", "csv", "--out", "no/report"],
            "no/report: No such file or directory (os error 2)",
        ),
        ("main", &["--format", "csv", "--out", "."], ".: is a directory"),
    ] {
        let ended = validate(&setup, site, args);
        let expected = format!("frontend-map: {message}\n");
        assert_eq!((ended.status, ended.stderr), (Some(2), expected));
        assert_eq!(ended.stdout, "");
    }
    assert_eq!(validate(&setup, "main", &["--out", "report"]).status, Some(2), "no format");
    assert_eq!(validate(&setup, "main", &["--retries", "11"]).status, Some(2));
    assert_eq!(peer.heads().len(), 0);
    let ended = site("main").locales(&[]).run(&["validate", "--site", "main"]);
    assert_eq!(ended.status, Some(78), "{}", ended.stderr);
}

#[tokio::test(flavor = "multi_thread")]
async fn content_that_cannot_be_read_is_not_a_finding() {
    let (_socket, down) = refusing();
    let url = format!("http://{down}");
    let settings = site("main").front_end_url(&url).rule("api::note.note", "/{slug}");
    let setup = settings.strapi_at(&url).without_endpoints().file("report", "the last one");
    let ended = validate(&setup, "main", &["--format", "html", "--out", "report"]);
    assert_eq!((ended.status, &*ended.stdout), (Some(2), ""), "{}", ended.stderr);
    assert!(ended.stderr.contains("frontend-map: api::note.note: "), "{}", ended.stderr);
    assert_eq!(names(setup.path()), ["report", "settings.toml"]);
    assert_eq!(std::fs::read_to_string(setup.path().join("report")).unwrap(), "the last one");
}

#[tokio::test(flavor = "multi_thread")]
async fn interrupt_leaves_the_previous_report_and_no_other_file() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let content = CONTENT.replace("reset", "hang");
    let setup = setup(&peer.url("http", ""), down)
        .file("content.json", &content)
        .file("report", "the last one");
    for (signal, status) in [("INT", 130), ("TERM", 143)] {
        let asked = peer.heads().len() + 6;
        let args = ["validate", "--site", "main", "--format", "json", "--out", "report"];
        let running = setup.begin(&args);
        until_so("all URLs are asked", || peer.heads().len() == asked);
        assert_eq!(names(setup.path()).len(), 4, "a new report is begun");
        running.signal(signal);
        let ended = running.wait();
        assert_eq!((ended.status, &*ended.stdout), (Some(status), ""), "{}", ended.stderr);
        let expected = "frontend-map: stopped before the end\n";
        assert!(ended.stderr.ends_with(expected), "{}", ended.stderr);
        assert_eq!(names(setup.path()), ["content.json", "report", "settings.toml"]);
        let report = std::fs::read_to_string(setup.path().join("report")).unwrap();
        assert_eq!(report, "the last one");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn pipe_without_a_reader_does_not_block_an_interrupt() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down);
    let made = std::process::Command::new("mkfifo").arg(setup.path().join("pipe")).status();
    assert!(made.unwrap().success());
    let running = setup.begin(&["validate", "--site", "fine", "--compare", "pipe"]);
    // Opens when the other end does. Nothing is ever written.
    let open = std::fs::File::options().write(true).open(setup.path().join("pipe"));
    running.signal("INT");
    let ended = running.wait();
    let expected = "frontend-map: stopped before the end\n";
    assert_eq!((ended.status, &*ended.stderr), (Some(130), expected));
    drop(open);
    assert_eq!(peer.heads().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn colours_are_for_terminals_without_no_color() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let base = peer.url("http", "");
    let dead = "\u{1b}[31;1m4xx not found or refused\u{1b}[0m: 1 URL\r\n";
    for (name, value, colours) in
        [("X", "", true), ("NO_COLOR", "", true), ("NO_COLOR", "1", false), ("TERM", "dumb", false)]
    {
        // The terminal is the one that `script` makes; no word here has a space in it.
        let terminal = ["sh", "-c", "exec script -qec \"$*\" /dev/null", "sh"];
        let setup = setup(&base, down).behind(&terminal).env("TERM", "xterm").env(name, value);
        let ended = validate(&setup, "main", &[]);
        assert_eq!(ended.status, Some(1), "{}", ended.stdout);
        assert_eq!(ended.stdout.contains(dead), colours, "{name}={value}: {}", ended.stdout);
        let plain = "\n4xx not found or refused: 1 URL\r\n";
        assert_eq!(ended.stdout.contains(plain), !colours, "{name}={value}: {}", ended.stdout);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn links_and_devices_are_written_to_and_not_replaced() {
    let peer = FrontEnd::start(pages).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down).file("real", "old");
    let link = setup.path().join("link");
    std::os::unix::fs::symlink("real", &link).unwrap();
    let mode = || link.metadata().unwrap().permissions().mode() & 0o777;
    std::fs::set_permissions(&link, Permissions::from_mode(0o600)).unwrap();
    let ended = validate(&setup, "fine", &["--format", "csv", "--out", "link"]);
    assert_eq!((ended.status, mode()), (Some(0), 0o600), "{}", ended.stderr);
    assert!(link.is_symlink());
    let real = std::fs::read_to_string(setup.path().join("real")).unwrap();
    assert!(real.starts_with("contentType,documentId,"), "{real}");
    let ended = validate(&setup, "fine", &["--format", "csv", "--out", "/dev/stderr"]);
    assert!(ended.stderr.contains("contentType,documentId,"), "{}", ended.stderr);
    let ended = validate(&setup, "fine", &["--format", "csv", "--out", "/dev/full"]);
    let full = "frontend-map: /dev/full: No space left on device (os error 28)\n";
    assert!(ended.stderr.ends_with(full), "{}", ended.stderr);
    assert_eq!((ended.status, &*ended.stdout), (Some(2), ""), "no summary of what was not written");
    let ended = validate(&setup, "fine", &["--format", "csv", "--out", "-"]);
    assert!(ended.stdout.starts_with("contentType,documentId,"), "{}", ended.stdout);
}

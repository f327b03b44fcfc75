//! `robots.txt` of a frontend: what cannot be read is said once, redirects are followed within bounds.

use serde_json::{Value, json};

use super::{HTML, faults, front_end, judge, not_found, page, posts};
use crate::support::front_end::{Answer, FrontEnd, answer, with_body};

/// The faults, and the files that cannot be read, of a site with two posts whose frontend answers requests
/// for `robots.txt`, and for paths that begin with `/r`, in this way.
async fn judged(
    robots: impl Fn(&str, &str) -> Answer + Send + Sync + 'static,
) -> (FrontEnd, Value) {
    let peer = front_end(move |base, target| match target {
        target if target.contains("/a-") => with_body("200 OK", HTML, page(base, target)),
        target if target.starts_with("/r") => robots(base, target),
        _ => not_found(),
    })
    .await;
    let setup = posts(&peer.url("http", ""), (1..3).map(|n| format!("a-{n}")));
    let report = tokio::task::block_in_place(|| judge(&setup).0);
    (peer, report)
}

/// Whether the rule of this file forbids the first post.
fn is_forbidden(peer: &FrontEnd, report: &Value) -> bool {
    let base = peer.url("http", "");
    let kinds = faults(report, &base);
    let of = |path: &str| kinds.iter().find(|(own, _)| *own == path).unwrap().1.clone();
    assert!(of("/en/posts/a-2").is_empty(), "{kinds:?}");
    of("/en/posts/a-1") == ["robots_disallowed"]
}

const RULES: &str = "User-agent: Googlebot\nDisallow: /en/posts/a-1\n";

#[tokio::test(flavor = "multi_thread")]
async fn server_error_is_one_problem_of_the_host_and_no_fault_of_a_page() {
    let (peer, report) = judged(|_, _| answer("503 Service Unavailable", "", 5)).await;
    assert!(!is_forbidden(&peer, &report));
    let url = peer.url("http", "/robots.txt");
    assert_eq!(report["content"]["robots"], json!([{"url": url, "reason": "503"}]));
    assert_eq!(report["content"]["faulty"], 0);
    let (_, report) = judged(|_, _| Answer::Reset).await;
    assert_eq!(report["content"]["robots"][0]["reason"], "fetch failed: reset");
}

#[tokio::test(flavor = "multi_thread")]
async fn file_that_cannot_be_read_is_in_each_report() {
    let peer = front_end(|base, target| match target {
        target if target.contains("/a-") => with_body("200 OK", HTML, page(base, target)),
        "/robots.txt" => answer("503 Service Unavailable", "", 5),
        _ => not_found(),
    })
    .await;
    let setup = posts(&peer.url("http", ""), std::iter::once("a-1".to_owned()));
    let url = peer.url("http", "/robots.txt");
    for (format, expected) in [
        ("csv", format!(",,,,{url},,error,false,,503,,,\r\n")),
        ("junit", format!("name=\"{url}\">\n      <error type=\"unreadable\" message=\"503\">")),
        ("junit", "failures=\"0\" errors=\"1\">\n  <testsuite name=\"api::post.post\"".to_owned()),
        ("ndjson", format!("\"robots\":[{{\"url\":\"{url}\",\"reason\":\"503\"}}]")),
        ("html", url.clone()),
    ] {
        let arguments = ["validate", "--site", "main", "--content", "--format", format];
        let ended = tokio::task::block_in_place(|| setup.run(&arguments));
        assert!(ended.stdout.contains(&expected), "{format}: {}", ended.stdout);
        assert_eq!(ended.status, Some(1));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn absent_file_forbids_nothing() {
    for status in ["404 Not Found", "403 Forbidden", "410 Gone"] {
        let (peer, report) = judged(move |_, _| answer(status, "", 5)).await;
        assert!(!is_forbidden(&peer, &report));
        assert_eq!(report["content"]["robots"], Value::Null);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn five_redirects_are_followed_and_no_more() {
    let redirect = |to: String| answer("301 Moved Permanently", &format!("Location: {to}\r\n"), 0);
    for (last, expected) in [(5, true), (6, false)] {
        let (peer, report) = judged(move |base, target| {
            let hop = target.strip_prefix("/r").and_then(|hop| hop.parse().ok()).unwrap_or(0);
            match hop {
                hop if hop == last => with_body("200 OK", "", RULES),
                hop if hop % 2 == 0 => redirect(format!("/r{}", hop + 1)),
                hop => redirect(format!("{base}/r{}", hop + 1)),
            }
        })
        .await;
        assert_eq!(is_forbidden(&peer, &report), expected, "{last}");
        let asked = peer.heads().iter().filter(|head| head.starts_with("GET /r")).count();
        assert_eq!(asked, 6, "{last}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn redirect_to_this_machine_or_to_metadata_is_not_followed() {
    let canary = FrontEnd::start(|_: &str| with_body("200 OK", "", RULES)).await;
    let (ip, name) = (canary.url("http", "/x"), canary.url("http", "/x"));
    let name = name.replace("127.0.0.1", "localhost");
    for target in [ip, name, "http://169.254.169.254/latest/meta-data".to_owned()] {
        let location = format!("Location: {target}\r\n");
        let (peer, report) = judged(move |_, _| answer("302 Found", &location, 0)).await;
        assert!(!is_forbidden(&peer, &report));
        let reason = &report["content"]["robots"][0]["reason"];
        assert_eq!(reason, "fetch failed: address not allowed", "{target}");
    }
    assert_eq!(canary.heads().len(), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn first_500_kib_of_a_file_of_10_mb_count() {
    let lines = |before: usize| {
        let comment = "# a line that says nothing, as long as it takes to fill the file\n";
        let all = comment.repeat(before / comment.len()) + RULES;
        all + &comment.repeat(10_000_000 / comment.len())
    };
    for (before, expected) in [(400_000, true), (600_000, false)] {
        let body = lines(before);
        let (peer, report) = judged(move |_, _| with_body("200 OK", "", body.clone())).await;
        assert_eq!(is_forbidden(&peer, &report), expected, "{before}");
    }
}

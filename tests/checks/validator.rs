//! The validator with a scripted frontend: exact results, and the requests that the frontend gets.

use frontend_map_outbound::checks::report::{Tally, UrlCheck};
use frontend_map_outbound::checks::{CheckResult, Failure, LOCATION_CHARS, Validator};
use frontend_map_rules::frontend_url::BaseUrl;
use futures::StreamExt;
use futures::future::join_all;
use serde_json::json;

use crate::support::front_end::{FrontEnd, refusing};
use crate::support::pages::{script, urls};

/// The entry of a URL without a response.
fn dead(url: &str, reason: &str) -> UrlCheck {
    let reason = Some(reason.to_owned());
    UrlCheck { url: url.to_owned(), status: None, ok: false, location: None, reason }
}

/// The entry of a URL with a response.
fn answered(url: &str, status: u16, location: Option<&str>) -> UrlCheck {
    let (url, location) = (url.to_owned(), location.map(str::to_owned));
    UrlCheck { url, status: Some(status), ok: status / 100 == 2, location, reason: None }
}

/// The origin of a URL, and the rest of it.
fn split(url: &str) -> (BaseUrl, &str) {
    let host = url.find("://").unwrap() + "://".len();
    let (origin, path) = url.split_at(host + url[host..].find('/').unwrap());
    (BaseUrl::parse(origin).unwrap(), path)
}

/// The results in the order of the URLs.
struct Report {
    tally: Tally,
    results: Vec<UrlCheck>,
}

impl Report {
    fn new(checked: impl Iterator<Item = (String, CheckResult)>) -> Self {
        let mut tally = Tally::default();
        let count = |(url, checked)| {
            tally.add(&checked);
            UrlCheck::new(url, checked)
        };
        let results = checked.map(count).collect();
        Self { tally, results }
    }
}

/// Checks URLs of any number of origins, one run each, at the same time. In a task of its own, as
/// the server does: the future must be `Send`.
async fn report(urls: &[String]) -> Report {
    let (validator, urls) = (Validator::new().unwrap(), urls.to_vec());
    let run = async move {
        let mut origins: Vec<(BaseUrl, Vec<(usize, &str)>)> = Vec::new();
        for (at, url) in urls.iter().enumerate() {
            let (base, path) = split(url);
            match origins.iter_mut().find(|(known, _)| *known == base) {
                Some((_, paths)) => paths.push((at, path)),
                None => origins.push((base, vec![(at, path)])),
            }
        }
        let runs = origins.iter().map(|(base, paths)| {
            let urls = paths.iter().map(|(at, path)| (*at, base.join(path)));
            validator.check(urls).collect::<Vec<_>>()
        });
        let mut checked = join_all(runs).await.concat();
        checked.sort_unstable_by_key(|(at, _)| *at);
        Report::new(checked.into_iter().map(|(at, checked)| (urls[at].clone(), checked)))
    };
    tokio::spawn(run).await.unwrap()
}

/// The entries of 40 URLs with every kind of response.
fn forty(peer: &FrontEnd, refusing: &str) -> Vec<UrlCheck> {
    let answers: [(&str, usize, u16, Option<&str>); 10] = [
        ("missing", 4, 404, None),
        ("ok", 15, 200, None),
        ("switching", 1, 101, None),
        ("moved", 4, 301, Some("/en/new")),
        ("empty", 2, 204, None),
        ("moved-nowhere", 1, 302, None),
        ("unchanged", 1, 304, None),
        ("broken", 3, 500, None),
        ("down", 1, 503, None),
        ("odd", 1, 999, None),
    ];
    let answers = answers.into_iter().flat_map(|(name, count, status, location)| {
        urls(peer, name, count).into_iter().map(move |url| answered(&url, status, location))
    });
    let failures = [
        dead(&peer.url("http", "/hang"), "timeout after 10000ms"),
        dead(refusing, "fetch failed: refused"),
        dead(&peer.url("http", "/reset"), "fetch failed: reset"),
        dead(&peer.url("http", "/silent"), "fetch failed: reset"),
        dead(&peer.url("https", "/tls"), "fetch failed: tls"),
        dead(&peer.url("http", "/not-http"), "fetch failed: invalid response"),
        dead("http://no-such-host.invalid/", "fetch failed: dns"),
    ];
    answers.chain(failures).collect()
}

#[tokio::test]
async fn forty_urls_of_every_kind_give_exact_counters_and_results() {
    let peer = FrontEnd::start_holding(10, script).await;
    let (_socket, address) = refusing();
    let expected = forty(&peer, &format!("http://{address}/"));
    let urls: Vec<_> = expected.iter().map(|entry| entry.url.clone()).collect();
    let report = report(&urls).await;
    assert_eq!(report.results, expected);
    let tally = serde_json::to_value(&report.tally).unwrap();
    assert_eq!(
        tally,
        json!({
            "count": 40,
            "byClass": {"2xx": 17, "3xx": 6, "4xx": 4, "5xx": 4, "error": 9},
            "byStatus": {"101": 1, "200": 15, "204": 2, "301": 4, "302": 1, "304": 1, "404": 4,
                         "500": 3, "503": 1, "999": 1},
        })
    );
    assert_eq!(peer.most_in_flight(), 10);
}

#[tokio::test]
async fn two_runs_at_once_share_the_ten_permits() {
    let peer = FrontEnd::start_holding(10, script).await;
    let validator = Validator::new().unwrap();
    let other = validator.clone();
    let base = BaseUrl::parse(&peer.url("http", "")).unwrap();
    let urls = |path| std::iter::repeat_n(base.join(path), 20).enumerate();
    let (found, missing) = (urls("/ok"), urls("/missing"));
    let runs = tokio::join!(validator.check(found).count(), other.check(missing).count());
    assert_eq!(runs, (20, 20));
    assert_eq!(peer.most_in_flight(), 10);
}

#[tokio::test]
async fn each_url_gets_one_get_with_a_user_agent_and_after_a_reset_one_more() {
    let peer = FrontEnd::start(script).await;
    let expected = [("/ok", 1), ("/reset", 2), ("/silent", 2), ("/moved", 1), ("/down", 1)];
    let urls: Vec<_> = expected.iter().map(|(path, _)| peer.url("http", path)).collect();
    assert_eq!(report(&urls).await.tally.count, 5);
    let heads = peer.heads();
    for (path, count) in expected {
        let start = format!("GET {path} HTTP/1.1\r\n");
        assert_eq!(heads.iter().filter(|head| head.starts_with(&start)).count(), count, "{path}");
    }
    assert_eq!(heads.len(), 7, "{heads:?}");
    let agent = format!("\r\nuser-agent: frontend-map/{}\r\n", env!("CARGO_PKG_VERSION"));
    for head in heads {
        assert!(head.starts_with("GET /") && head.contains(&agent), "{head}");
        assert!(!head.contains("referer"), "{head}");
    }
}

#[tokio::test]
async fn body_never_changes_the_result() {
    let peer = FrontEnd::start(script).await;
    let names = ["/endless", "/one-mebibyte", "/just-drained", "/cut-off", "/stalled-body"];
    let urls: Vec<_> = names.iter().map(|path| peer.url("http", path)).collect();
    let expected: Vec<_> = urls.iter().map(|url| answered(url, 200, None)).collect();
    assert_eq!(report(&urls).await.results, expected);
}

#[tokio::test]
async fn connections_of_drained_pages_are_reused() {
    let peer = FrontEnd::start(script).await;
    let report = report(&urls(&peer, "ten-kilobytes", 200)).await;
    assert_eq!(report.tally.by_class.success, 200);
    assert!(peer.accepts() <= 50, "{} connections for 200 pages", peer.accepts());
}

#[tokio::test]
async fn close_of_a_reused_connection_is_not_reported() {
    let peer = FrontEnd::start(script).await;
    let urls = urls(&peer, "once", 30);
    let expected: Vec<_> = urls.iter().map(|url| answered(url, 200, None)).collect();
    assert_eq!(report(&urls).await.results, expected);
    assert_eq!(peer.heads().len(), 30);
    // A connection that is opened while another one looks idle may remain unused.
    assert!((30..=40).contains(&peer.accepts()), "{} connections", peer.accepts());
}

#[tokio::test]
async fn header_lines_that_browsers_accept_or_skip_are_no_failure() {
    let peer = FrontEnd::start(script).await;
    let one = |name: &str| urls(&peer, name, 1).remove(0);
    let expected = [
        answered(&one("cookies"), 200, None),
        answered(&one("folded"), 200, None),
        answered(&one("spaced"), 200, None),
        answered(&one("malformed"), 302, Some("/new")),
    ];
    let urls: Vec<String> = expected.iter().map(|entry| entry.url.clone()).collect();
    assert_eq!(report(&urls).await.results, expected);
}

#[tokio::test]
async fn location_is_reported_as_sent_but_bounded_and_as_text() {
    let peer = FrontEnd::start(script).await;
    let names = ["/latin", "/far", "/created"];
    let urls: Vec<_> = names.iter().map(|path| peer.url("http", path)).collect();
    let far = format!("/{}", "ä".repeat(LOCATION_CHARS - 1));
    let expected = [
        answered(&urls[0], 302, Some("/caf\u{fffd}")),
        answered(&urls[1], 302, Some(&far)),
        answered(&urls[2], 201, None),
    ];
    assert_eq!(report(&urls).await.results, expected);
}

#[tokio::test]
async fn results_are_streamed_in_the_order_of_arrival() {
    let peer = FrontEnd::start(script).await;
    let base = BaseUrl::parse(&peer.url("http", "")).unwrap();
    let urls = ["/hang", "/reset", "/ok"].map(|path| base.join(path)).into_iter().enumerate();
    let validator = Validator::new().unwrap();
    let mut first: Vec<_> = validator.check(urls).take(2).collect().await;
    first.sort_unstable_by_key(|(index, _)| *index);
    let ok = CheckResult::Response { status: 200, location: None, retry_after: None };
    assert_eq!(first, [(1, CheckResult::Failed(Failure::Reset)), (2, ok)]);
}

//! `--retries`: which results are retried, how often, and that the last result counts.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use super::{setup, validate};
use crate::support::front_end::{Answer, FrontEnd, answer, refusing};

const CONTENT: &str = r#"{"api::page.page": [
    {"documentId": "a", "slug": "busy"}, {"documentId": "b", "slug": "limited"},
    {"documentId": "c", "slug": "missing"}, {"documentId": "d", "slug": "moved"},
    {"documentId": "e", "slug": "reset"}]}"#;

/// Requests so far for the pages that recover.
struct Recovering {
    busy: AtomicUsize,
    reset: AtomicUsize,
}

impl Recovering {
    const fn new() -> Self {
        Self { busy: AtomicUsize::new(0), reset: AtomicUsize::new(0) }
    }

    /// `/busy` and `/reset` recover with the third request, `/limited` never.
    fn answer(&self, path: &str) -> Answer {
        match path {
            "/busy" if self.busy.fetch_add(1, SeqCst) < 2 => {
                answer("503 Service Unavailable", "Retry-After: 0\r\n", 0)
            }
            "/reset" if self.reset.fetch_add(1, SeqCst) < 2 => Answer::Reset,
            "/limited" => {
                answer("429 Too Many Requests", "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT\r\n", 0)
            }
            "/missing" => answer("404 Not Found", "Retry-After: 0\r\n", 0),
            "/moved" => answer("302 Found", "", 0),
            _ => answer("200 OK", "", 0),
        }
    }
}

/// The number of requests for each path.
fn requests(peer: &FrontEnd) -> [usize; 5] {
    let heads = peer.heads();
    ["/busy", "/limited", "/missing", "/moved", "/reset"]
        .map(|path| heads.iter().filter(|head| head.starts_with(&format!("GET {path} "))).count())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_retries_a_url_gets_one_request_and_after_a_reset_one_more() {
    static PAGES: Recovering = Recovering::new();
    let peer = FrontEnd::start(|path| PAGES.answer(path)).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down).file("content.json", CONTENT);
    let ended = validate(&setup, "main", &[]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let summary = "site main: 5 URLs, 4 dead (4xx 2, 5xx 1, error 1, 3xx 1)\n";
    assert!(ended.stdout.starts_with(summary), "{}", ended.stdout);
    assert_eq!(requests(&peer), [1, 1, 1, 1, 2]);
}

#[tokio::test(flavor = "multi_thread")]
async fn retryable_results_are_retried_and_the_last_result_counts() {
    static PAGES: Recovering = Recovering::new();
    let peer = FrontEnd::start(|path| PAGES.answer(path)).await;
    let (_socket, down) = refusing();
    let setup = setup(&peer.url("http", ""), down).file("content.json", CONTENT);
    let ended = validate(&setup, "main", &["--retries", "3"]);
    assert_eq!(ended.status, Some(1), "{}", ended.stderr);
    let summary = "site main: 5 URLs, 2 dead (4xx 2, 3xx 1, 2xx 2)\n";
    assert!(ended.stdout.starts_with(summary), "{}", ended.stdout);
    assert_eq!(requests(&peer), [3, 4, 1, 1, 3]);
}

#[tokio::test(flavor = "multi_thread")]
async fn retries_are_among_the_ten_in_flight() {
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    // All fail once, so all are retried; the front end answers none before ten have arrived.
    let peer = FrontEnd::start_holding(10, |_| match ASKED.fetch_add(1, SeqCst) {
        0..30 => answer("503 Service Unavailable", "Retry-After: 0\r\n", 0),
        _ => answer("200 OK", "", 0),
    })
    .await;
    let (_socket, down) = refusing();
    let page = |n: usize| format!(r#"{{"documentId": "d{n}", "slug": "s{n}"}}"#);
    let documents = (0..30).map(page).collect::<Vec<_>>().join(",");
    let content = format!(r#"{{"api::page.page": [{documents}]}}"#);
    let setup = setup(&peer.url("http", ""), down).file("content.json", &content);
    let ended = validate(&setup, "main", &["--retries", "1"]);
    assert_eq!((ended.status, peer.heads().len()), (Some(0), 60), "{}", ended.stderr);
    assert_eq!(peer.most_in_flight(), 10);
}

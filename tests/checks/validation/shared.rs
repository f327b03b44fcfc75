//! One run for all its clients, ten requests at a time, and none after the last client has gone.

use std::collections::BTreeSet;
use std::thread;

use super::ask;
use crate::support::front_end::{Answer, FrontEnd, answer};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::url_checks::{Caller, EVENTS, LINES, site, slugs, target};
use crate::support::wait::until_so;

fn fine(_: &str) -> Answer {
    answer("200 OK", "", 5)
}

fn silent(_: &str) -> Answer {
    Answer::Hang
}

fn paths(peer: &FrontEnd) -> Vec<String> {
    peer.heads().iter().map(|head| head.split(' ').nth(1).unwrap().to_owned()).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn thousand_clients_share_one_run() {
    let peer = FrontEnd::start_holding(10, fine).await;
    let service = site(&peer.url("http", ""), 1, &slugs("a", 40)).start();
    let address = service.addr();
    let caller = || http::get(address, &target(0)).body;
    let answers: BTreeSet<Vec<u8>> = thread::scope(|scope| {
        let callers: Vec<_> = (0..1000).map(|_| scope.spawn(caller)).collect();
        callers.into_iter().map(|caller| caller.join().unwrap()).collect()
    });
    assert_eq!(answers.len(), 1, "all have the same bytes");
    let seen = paths(&peer);
    let distinct: BTreeSet<_> = seen.iter().collect();
    assert_eq!((seen.len(), distinct.len(), peer.most_in_flight()), (40, 40, 10));
}

#[tokio::test(flavor = "multi_thread")]
async fn run_without_clients_is_aborted() {
    let behind = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    for (header, behind) in [
        (None, ""),
        (None, behind),
        (Some(EVENTS), ""),
        (Some(EVENTS), behind),
        (Some(LINES), behind),
    ] {
        let peer = FrontEnd::start(silent).await;
        let service = site(&peer.url("http", ""), 1, &slugs("a", 30)).start();
        let mut callers: Vec<_> =
            (0..20).map(|_| Caller::new(&service, 0, header, behind)).collect();
        until_so("ten requests", || peer.heads().len() == 10);
        // A request that the service reads when all the others have gone would begin another run.
        match header {
            None => until_so("all wait for the run", || {
                scrape(service.admin()).of("requests_in_flight") >= 20.0
            }),
            Some(_) => callers.iter_mut().for_each(|caller| {
                caller.until("HTTP/1.1 200 OK\r\n");
            }),
        }
        // Pipelined bytes behind others that the service has not read yet.
        for caller in callers.iter_mut().filter(|_| !behind.is_empty()) {
            std::io::Write::write_all(&mut caller.0, behind.as_bytes()).unwrap();
        }
        // One remaining client keeps the run going.
        let last = callers.pop();
        drop(callers);
        assert_eq!(peer.open(), 10, "{header:?} {behind:?}");
        drop(last);
        until_so("all requests are given up", || peer.open() == 0);
        assert_eq!(peer.heads().len(), 10, "{header:?} {behind:?}");
        // Nothing is left of that run: the next one starts from the beginning.
        let _caller = Caller::new(&service, 0, header, "");
        until_so("ten more", || peer.heads().len() == 20);
        let seen = paths(&peer);
        let first: BTreeSet<_> = seen[..10].iter().collect();
        assert_eq!(first, seen[10..].iter().collect());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_runs_are_in_flight_eight_are_queued_and_more_are_refused() {
    let peer = FrontEnd::start(silent).await;
    let service = site(&peer.url("http", ""), 11, &slugs("a", 20)).start();
    let follow = |t| {
        let mut caller = Caller::new(&service, t, Some(EVENTS), "");
        let begin = caller.until("\"total\":20");
        assert!(begin.starts_with("HTTP/1.1 200 OK\r\n"), "{begin}");
        caller
    };
    let mut callers: Vec<_> = (0..10).map(follow).collect();
    let busy = http::get(service.addr(), &target(10));
    assert_eq!((busy.status, busy.header("retry-after").as_deref()), (503, Some("10")));
    let error = &busy.json()["error"];
    assert_eq!(error["name"], "ServiceUnavailableError");
    assert_eq!(error["message"], "too many validations are in progress or queued");
    // A request for one of the ten runs is accepted.
    drop(follow(9));
    until_so("ten requests", || peer.heads().len() == 10);
    assert_eq!(peer.most_in_flight(), 10);
    let of = |t: usize| {
        let end = format!("-t{t}");
        paths(&peer).iter().filter(|path| path.ends_with(&end)).count()
    };
    assert_eq!(of(0) + of(1), 10, "the first two run");
    // The end of a run starts the next one in the queue.
    callers.drain(..2);
    until_so("the next two run", || of(2) + of(3) == 10);
    drop(follow(10));
}

#[tokio::test(flavor = "multi_thread")]
async fn result_is_reused_with_its_age() {
    let peer = FrontEnd::start(fine).await;
    let setup = || site(&peer.url("http", ""), 1, &slugs("a", 3));
    let service = setup().start();
    let first = ask(&service, &[]);
    let seen = peer.heads().len();
    let again = ask(&service, &[]);
    assert_eq!((first.text(), seen), (again.text(), 3));
    assert_eq!(peer.heads().len(), 3);
    for answer in [&first, &again] {
        assert!(answer.header("age").unwrap().parse::<u64>().unwrap() < 60);
        assert_eq!(answer.header("cache-control").as_deref(), Some("no-store"));
    }
    drop(service);
    let service = setup().env("FRONTEND_MAP__VALIDATION__REUSE_SECONDS", "0").start();
    let (first, again) = (ask(&service, &[]), ask(&service, &[]));
    assert_eq!((first.text(), first.header("age").as_deref()), (again.text(), Some("0")));
    assert_eq!(peer.heads().len(), 9);
}

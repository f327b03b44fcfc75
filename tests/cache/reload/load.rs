//! A thousand reloads under load, half of them broken: each response comes from one version of the
//! settings.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::settings;
use crate::support::http;
use crate::support::wait::until_so;

/// The rules of one version, and what caches may do with its answers.
fn version(prefix: &str) -> String {
    let age = |kind| format!("cache_control{kind} = \"max-age={}\"", age(prefix));
    settings(prefix).server(&age("")).server(&age("_404")).toml()
}

fn age(prefix: &str) -> usize {
    if prefix == "a" { 100 } else { 200 }
}

#[test]
fn no_response_fails_or_mixes_two_versions_of_the_settings() {
    let service = settings("a").file("settings.toml", &version("a")).start();
    let (addr, over) = (service.addr(), Arc::new(AtomicBool::new(false)));
    let callers: Vec<_> = (0..2)
        .map(|_| {
            let over = Arc::clone(&over);
            std::thread::spawn(move || {
                let mut seen = [0, 0];
                while !over.load(Ordering::Relaxed) {
                    // A 404 names the rules that were tried.
                    let target = "/api/get-content-type?site=main&pathname=/a/x&debug=1";
                    let answer = http::get(addr, target);
                    let body = answer.json();
                    let (prefix, rule) = match answer.status {
                        200 => ("a", &body["data"]["matched"]["rule"]),
                        404 => ("b", &body["error"]["details"]["candidates"][0]["rule"]),
                        status => panic!("{status}: {body}"),
                    };
                    assert_eq!(*rule, format!("/{prefix}/{{slug}}"), "{body}");
                    let caching = answer.header("cache-control").unwrap_or_default();
                    assert_eq!(caching, format!("max-age={}", age(prefix)), "{body}");
                    seen[usize::from(prefix == "b")] += 1;
                }
                seen
            })
        })
        .collect();
    for n in 0..1000 {
        let (text, status) = match n % 4 {
            0 => (version("b"), 404),
            2 => (version("a"), 200),
            _ => ("nonsense = 1".to_owned(), 0),
        };
        service.rewrite("settings.toml", &text);
        service.send_signal("HUP");
        match status {
            0 => until_so("it is refused", || super::logged(&service, super::REFUSED) > n / 2),
            status => until_so("it is in use", || super::resolve(&service, "a").status == status),
        }
    }
    over.store(true, Ordering::Relaxed);
    let seen = callers.into_iter().map(|caller| caller.join().expect("no wrong answer"));
    let [found, missing] = seen.fold([0, 0], |sum, seen| [sum[0] + seen[0], sum[1] + seen[1]]);
    assert!(found > 0 && missing > 0, "both versions were asked: {found} and {missing}");
}

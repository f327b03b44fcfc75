//! A walk requests totals only where its proof uses them: a `COUNT` is expensive for the CMS.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::cms::Cms;
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{
    SITEMAP, articles, assert_failure, in_front_of, list, one_url, refusal, setup, urls,
};
use crate::support::http;
use crate::support::service::Setup;
use crate::support::wait::until;

const TOTAL: bool = true;
const PLAIN: bool = false;

fn in_english(cms: &Cms) -> Setup {
    setup(&articles().strapi(cms))
}

/// Page size, and whether a total was requested, of each list.
fn requests(cms: &Cms) -> Vec<(usize, bool)> {
    let targets = cms.targets();
    let queries = targets.iter().filter_map(|target| Query::parse(target));
    queries.map(|query| (query.size, query.with_total)).collect()
}

#[test]
fn first_page_last_page_and_the_end_have_a_total() {
    for (documents, expected) in [
        (0, vec![(100, TOTAL), (1, TOTAL)]),
        (99, vec![(100, TOTAL), (1, TOTAL)]),
        (100, vec![(100, TOTAL), (100, TOTAL), (1, TOTAL)]),
        (
            450,
            vec![(100, TOTAL), (100, PLAIN), (100, PLAIN), (100, PLAIN), (100, TOTAL), (1, TOTAL)],
        ),
    ] {
        let cms = Content::many(&["en"], documents).start();
        assert_eq!(urls(&http::get(in_front_of(&cms).addr(), SITEMAP)).len(), documents);
        assert_eq!(requests(&cms), expected, "{documents} documents");
    }
}

#[test]
fn echoed_page_size_decides_whatever_was_requested() {
    for (page_size, max_limit, documents, pages) in
        [("100", 10, 35, 4), ("1000", 1_000, 2_500, 3), ("1000", 100, 250, 3), ("7", 100, 20, 3)]
    {
        let content = Content::many(&["en"], documents);
        content.clamp(max_limit);
        let cms = content.start();
        let service = in_english(&cms).env("FRONTEND_MAP__CMS__PAGE_SIZE", page_size).start();
        assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), documents);
        let requests = requests(&cms);
        assert_eq!(requests.len(), pages + 1, "{requests:?}");
        let size: usize = page_size.parse().expect("a number");
        assert_eq!(requests[0], (size, TOTAL));
        assert_eq!(requests.iter().filter(|(_, with_total)| *with_total).count(), 3);
    }
}

#[test]
fn short_page_without_a_total_is_requested_again_with_one() {
    let content = Content::many(&["en"], 450);
    let served = content.clone();
    let answered = AtomicUsize::new(0);
    let cms = Cms::start(move |target| {
        // After the first of five pages, all documents but thirty are unpublished.
        if answered.fetch_add(1, Ordering::Relaxed) == 1 {
            (130..450).for_each(|n| served.unpublish("en", &format!("d{n:05}")));
        }
        served.answer(target)
    });
    let service = in_front_of(&cms);
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 130);
    assert_eq!(requests(&cms), [(100, TOTAL), (100, PLAIN), (100, TOTAL), (1, TOTAL)]);
}

#[test]
fn page_that_lost_a_row_while_the_totals_move_does_not_end_the_walk() {
    // The second page, and the last one.
    for lossy in ["[$gt]=d00099", "[$gt]=d00199"] {
        let content = Content::many(&["en"], 230);
        let served = content.clone();
        let answered = AtomicUsize::new(0);
        let lost = AtomicUsize::new(0);
        let cms = Cms::start(move |target| {
            // Editors unpublish documents that the walk has seen, so the totals differ.
            let n = answered.fetch_add(1, Ordering::Relaxed);
            if n > 0 {
                served.unpublish("en", &format!("d{n:05}"));
            }
            if target.contains(lossy) && lost.fetch_add(1, Ordering::Relaxed) == 0 {
                let query = Query::parse(target).expect("a list");
                let first: usize = query.after[1..].parse().expect("a number");
                // All rows of the page but its second one.
                let ids: Vec<String> = (first + 1..first + 101)
                    .filter(|n| *n != first + 2 && *n < 230)
                    .map(|n| format!("d{n:05}"))
                    .collect();
                let row = |id: &String| format!(r#","locale":"en","slug":"{id}""#);
                let rows: Vec<_> = ids.iter().map(|id| (id.as_str(), row(id))).collect();
                let rows: Vec<_> = rows.iter().map(|(id, row)| (*id, row.as_str())).collect();
                return list(&rows, 100, query.with_total.then_some(230 - first - 1));
            }
            served.answer(target)
        });
        let service = in_front_of(&cms);
        let found = urls(&http::get(service.addr(), SITEMAP));
        for n in [101, 199, 201, 229] {
            let url = format!("https://www.example.com/en/articles/s{n}");
            assert!(found.contains(&url), "{lossy}: {url} is missing");
        }
    }
}

#[test]
fn proxy_that_ignores_the_parameter_changes_nothing_unless_it_drops_all_totals() {
    let content = Content::many(&["en"], 450);
    let always = content.clone();
    let with_total = |target: &str| target.replace("withCount]=false", "withCount]=true");
    let cms = Cms::start(move |target| always.answer(&with_total(target)));
    assert_eq!(urls(&http::get(in_front_of(&cms).addr(), SITEMAP)).len(), 450);
    assert_eq!(requests(&cms).len(), 6);
    let without = |target: &str| target.replace("withCount]=true", "withCount]=false");
    let cms = Cms::start(move |target| content.answer(&without(target)));
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_failure(&response, 502, "BadGatewayError");
    assert!(response.text().contains("a list without its page size and total"));
}

#[test]
fn token_that_expires_in_mid_walk_ends_it_and_the_last_good_copy_is_served() {
    let content = Content::many(&["en"], 250);
    let cms = content.start();
    let setup = in_english(&cms).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1");
    let service = setup.start();
    let expire = |target: &str| {
        let expired = target.contains("[$gt]=d00099");
        expired.then(|| refusal(401, "UnauthorizedError", "{}"))
    };
    content.fail(expire);
    assert_failure(&http::get(service.addr(), SITEMAP), 502, "BadGatewayError");
    assert_eq!(requests(&cms).len(), 2, "no request follows a 401");
    content.heal();
    let good = http::get(service.addr(), SITEMAP);
    assert_eq!(urls(&good).len(), 250);
    content.publish("en", "d99999", "new");
    content.fail(expire);
    until("a marked snapshot", || {
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!((answer.status, &answer.body), (200, &good.body));
        let status = answer.header("cache-status").unwrap_or_default();
        status.ends_with("detail=\"the CMS fails\"").then_some(())
    });
}

#[test]
fn type_that_is_not_localized_is_walked_once_with_three_totals() {
    let content = Content::many(&[""], 250);
    let cms = Cms::start(move |target| {
        if target.contains("=locale") {
            return refusal(400, "ValidationError", r#"{"key":"locale"}"#);
        }
        content.answer(target)
    });
    let url = format!("http://{}", cms.addr());
    let service = setup(&articles().locales(&["en", "de", "fr"]).strapi_at(&url)).start();
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 250);
    let refused = (100, TOTAL);
    assert_eq!(requests(&cms), [refused, (100, TOTAL), (100, PLAIN), (100, TOTAL), (1, TOTAL)]);
}

#[test]
fn confirmation_of_an_endpoint_requests_no_total() {
    let cms = Cms::start(|target| match Query::parse(target) {
        Some(query) => list(&[], query.size, query.with_total.then_some(0)),
        None => refusal(404, "NotFoundError", "{}"),
    });
    let service = setup(&articles().strapi(&cms).without_endpoints()).start();
    assert_failure(&http::get(service.addr(), &one_url()), 404, "NotFoundError");
    assert_eq!(requests(&cms), [(1, PLAIN)]);
}

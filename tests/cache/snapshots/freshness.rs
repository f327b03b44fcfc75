//! How old a snapshot gets, and what becomes of it while the CMS fails.

use super::{age, cache_status, in_english, is_past_soft, paths, sitemap, soft, walks};
use crate::support::content::Content;
use crate::support::front_of_cms::{assert_failure, refusal};
use crate::support::http::Response;
use crate::support::script::{Act, Script};
use crate::support::service::Service;
use crate::support::wait::until;

const FAILS: &str = r#"; detail="the CMS fails""#;

fn until_past_soft(service: &Service) -> Response {
    until("a snapshot past its soft limit", || Some(sitemap(service)).filter(is_past_soft))
}

fn until_marked(service: &Service) -> Response {
    until("a marked snapshot", || {
        let answer = sitemap(service);
        assert_eq!(answer.status, 200, "{}", answer.text());
        cache_status(&answer).ends_with(FAILS).then_some(answer)
    })
}

#[test]
fn fresh_copy_is_served_without_a_request_to_the_cms() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = in_english(&cms).start();
    assert_eq!(cache_status(&sitemap(&service)), "frontend-map; fwd=miss; stored");
    content.publish("en", "b", "new");
    for _ in 0..10 {
        let answer = sitemap(&service);
        assert_eq!(paths(&answer), ["/en/articles/old"]);
        assert!(cache_status(&answer).starts_with("frontend-map; hit; ttl="));
        assert!(!is_past_soft(&answer), "{}", cache_status(&answer));
    }
    assert_eq!(cms.targets().len(), 2, "one page and the total");
}

#[test]
fn copy_beyond_the_soft_limit_is_served_and_refreshed_once() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = soft(in_english(&cms), 1).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/old"]);
    content.close();
    content.publish("en", "b", "new");
    until_past_soft(&service);
    // The refresh cannot end, so a request that is answered now did not wait for it.
    for _ in 0..30 {
        assert_eq!(paths(&sitemap(&service)), ["/en/articles/old"]);
    }
    until("the refresh", || (walks(&cms, "en") == 2).then_some(()));
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/old"]);
    assert_eq!(walks(&cms, "en"), 2, "the first walk and one refresh");
    content.open();
    let both = ["/en/articles/new", "/en/articles/old"];
    let fresh = until("the fresh list", || Some(sitemap(&service)).filter(|a| paths(a) == both));
    assert!(age(&fresh) <= age(&until_past_soft(&service)), "the age begins anew");
}

#[test]
fn copy_while_the_cms_fails_is_served_with_its_growing_age() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = soft(in_english(&cms), 1).start();
    let good = sitemap(&service);
    content.fail(|_| Some(refusal(500, "InternalServerError", "{}")));
    let marked = until_marked(&service);
    assert_eq!(marked.body, good.body);
    assert_eq!(marked.header("etag"), good.header("etag"));
    let older =
        until("an older snapshot", || Some(sitemap(&service)).filter(|a| age(a) > age(&marked)));
    assert_eq!(older.body, good.body);
    content.heal();
    content.publish("en", "b", "new");
    let fresh =
        until("a fresh snapshot", || Some(sitemap(&service)).filter(|a| paths(a).len() == 2));
    assert!(!cache_status(&fresh).contains("detail"), "{}", cache_status(&fresh));
}

#[test]
fn copy_beyond_the_hard_limit_is_replaced_by_the_error_of_the_cms() {
    let failures = [
        (503, "ServiceUnavailableError", refusal(500, "InternalServerError", "{}")),
        // By then the circuit breaker is open.
        (503, "ServiceUnavailableError", Script::silence()),
        (502, "BadGatewayError", Script::json(200, "<html>")),
    ];
    for (status, name, failure) in failures {
        let is_silent = matches!(failure.acts[..], [Act::Silence]);
        let content = Content::new(&[("en", "a", "old")]);
        let cms = content.start();
        let setup = soft(in_english(&cms), 1).env("FRONTEND_MAP__SNAPSHOTS__HARD_SECONDS", "4");
        let service = setup.env("FRONTEND_MAP__LIMITS__CMS_REQUEST_MS", "500").start();
        assert_eq!(paths(&sitemap(&service)).len(), 1);
        content.fail(move |_| Some(failure.clone()));
        let answer = until("an error", || Some(sitemap(&service)).filter(|a| a.status != 200));
        assert_failure(&answer, status, name);
        let retry_after = answer.header("retry-after");
        assert_eq!(retry_after.as_deref(), (status == 503).then_some("5"));
        assert_eq!(answer.header("cache-status"), None);
        content.heal();
        content.publish("en", "b", "new");
        let rests = service.log().contains("the CMS fails: the circuit breaker is open");
        assert_eq!(rests, is_silent, "{status}");
        // Once the CMS answers, there is no pause: the very next request reaches it.
        let again =
            until("an answer", || Some(sitemap(&service)).filter(|a| !rests || a.status == 200));
        assert_eq!(paths(&again).len(), 2, "after {status}");
    }
}

#[test]
fn first_walk_that_fails_leaves_no_copy() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = in_english(&cms).start();
    content.fail(|_| Some(refusal(500, "InternalServerError", "{}")));
    for _ in 0..3 {
        assert_failure(&sitemap(&service), 503, "ServiceUnavailableError");
    }
    assert_eq!(walks(&cms, "en"), 6, "each of them asked, and once more");
    content.heal();
    assert_eq!(cache_status(&sitemap(&service)), "frontend-map; fwd=miss; stored");
}

//! 4.2 while the CMS fails: what it last said about a published document, for as long as that may
//! be believed.

use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{assert_failure, refusal, setup};
use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const SECRET: &str = "a-secret-of-the-test";

fn before(cms: &Cms) -> Setup {
    setup(&format!("http://{}", cms.addr()), r#""en", "de""#, true)
        .env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
        .env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false")
}

fn ask(service: &Service, query: &str) -> Response {
    let target = format!("/api/frontend-url?uid=plugin::cms.article&documentId={query}");
    http::get(service.addr(), &target)
}

fn fail(content: &Content) {
    content.fail(|_| Some(refusal(503, "ServiceUnavailableError", "{}")));
}

#[test]
fn a_url_that_was_given_is_given_again_and_says_so() {
    let content = Content::new(&[("en", "a", "x"), ("de", "a", "z")]);
    let cms = content.start();
    let service = before(&cms).start();
    let good = ask(&service, "a");
    assert_eq!((good.status, good.header("cache-status"), good.header("age")), (200, None, None));
    fail(&content);
    let stale = ask(&service, "a");
    assert_eq!((stale.status, &stale.body), (200, &good.body));
    let mark = "frontend-map; hit; detail=\"the CMS fails\"";
    assert_eq!(stale.header("cache-status").as_deref(), Some(mark));
    assert!(stale.header("age").is_some_and(|age| age.parse::<u64>().is_ok()));
    // What nobody asked before nobody knows.
    assert_failure(&ask(&service, "a&locale=de"), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, "b"), 503, "ServiceUnavailableError");
    content.heal();
    content.publish("en", "a", "y");
    let fresh = ask(&service, "a");
    assert_eq!(fresh.json()["data"]["path"], "/en/articles/y");
    assert_eq!(fresh.header("cache-status"), None);
}

#[test]
fn drafts_are_never_given_again() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    assert_eq!(ask(&service, "a&status=draft").status, 200);
    fail(&content);
    assert_failure(&ask(&service, "a&status=draft"), 503, "ServiceUnavailableError");
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn a_document_that_is_gone_is_not_given_again() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).start();
    assert_eq!(ask(&service, "a").status, 200);
    content.unpublish("en", "a");
    assert_failure(&ask(&service, "a"), 404, "NotFoundError");
    fail(&content);
    assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
}

#[test]
fn a_document_that_may_have_changed_is_not_given_again() {
    let named = r#"{"uid":"plugin::cms.article","entry":{"documentId":"a"}}"#;
    for (event, others) in [(named, 200), ("", 503)] {
        let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
        let cms = content.start();
        let service = before(&cms).start();
        assert_eq!([ask(&service, "a").status, ask(&service, "b").status], [200, 200]);
        fail(&content);
        let length = event.len().to_string();
        let bearer = format!("Bearer {SECRET}");
        let headers = [("Authorization", bearer.as_str()), ("Content-Length", &length)];
        let hint = http::send_with(service.addr(), "POST", "/hooks/cms", &headers, event);
        assert_eq!(hint.status, 202);
        assert_failure(&ask(&service, "a"), 503, "ServiceUnavailableError");
        assert_eq!(ask(&service, "b").status, others);
    }
}

#[test]
fn an_answer_that_is_too_old_is_not_given_again() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).env("FRONTEND_MAP__LIMITS__LAST_GOOD_MS", "1").start();
    assert_eq!(ask(&service, "a").status, 200);
    fail(&content);
    until_so("a millisecond has passed", || ask(&service, "a").status == 503);
}

//! Snapshots while the breaker is open: they are kept, and refreshed after the recovery without a
//! request of a client.

use super::{CLOSES, OPENS, before, count, unavailable};
use crate::support::content::{Content, Query};
use crate::support::front_of_cms::{SITEMAP, assert_failure, refusal, urls};
use crate::support::http;
use crate::support::service::Service;
use crate::support::settings::site;
use crate::support::wait::{until, until_so};

const SECRET: &str = "a-secret-of-the-test";

fn hint(service: &Service) {
    let bearer = format!("Bearer {SECRET}");
    let headers = [("Authorization", bearer.as_str()), ("Content-Length", "0")];
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms", &headers).status, 202);
}

/// Whether a request is for a page of a walk and not for its total.
fn is_page(target: &str) -> bool {
    Query::parse(target).is_some_and(|query| query.size > 1)
}

#[test]
fn snapshot_is_refreshed_after_the_recovery_without_a_request() {
    let content = Content::new(&[("en", "a", "old")]);
    let cms = content.start();
    let service = before(&cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET).start();
    let good = http::get(service.addr(), SITEMAP);
    assert_eq!(good.status, 200);
    content.fail(|_| Some(unavailable()));
    hint(&service);
    until_so("the breaker opens", || service.logs(OPENS));
    // More hints make no more walks.
    for _ in 0..3 {
        hint(&service);
    }
    until_so("a probe is sent", || cms.targets().len() >= 6);
    let pages = cms.targets().iter().filter(|target| is_page(target)).count();
    assert_eq!(pages, 3, "the first walk, the one that failed, and its retry");
    assert_eq!(http::get(service.addr(), SITEMAP).body, good.body);
    content.publish("en", "b", "new");
    content.heal();
    until_so("the breaker closes", || service.logs(CLOSES));
    until_so("a walk", || service.log().matches("a snapshot is built").count() == 2);
    let fresh = http::get(service.addr(), SITEMAP);
    assert_eq!(urls(&fresh).len(), 2);
    assert!(fresh.header("cache-status").is_some_and(|status| status.contains("hit; ttl=")));
    let targets = cms.targets();
    // A probe for changes may follow at any time.
    let page = targets.iter().rposition(|target| is_page(target)).expect("a walk has a page");
    let [probe, _, total] = &targets[page - 1..=page + 1] else { panic!("{targets:?}") };
    assert_eq!([probe, total].map(|target| is_page(target)), [false, false], "{targets:?}");
    assert!(targets.len() <= page + 3, "one walk: {targets:?}");
    assert_eq!((count(&service, OPENS), count(&service, CLOSES)), (1, 1));
    assert_eq!(count(&service, "a walk failed"), 1, "{}", service.log());
}

#[test]
fn first_snapshot_is_built_as_soon_as_the_cms_recovers() {
    let content = Content::new(&[("en", "a", "x")]);
    content.fail(|_| Some(unavailable()));
    let cms = content.start();
    let setup = before(&cms).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true");
    let service = setup.start();
    until_so("the breaker opens", || service.logs(OPENS));
    for _ in 0..20 {
        assert_failure(&http::get(service.addr(), SITEMAP), 503, "ServiceUnavailableError");
    }
    content.heal();
    until_so("a snapshot", || service.logs("a snapshot is built"));
    let answer = http::get(service.addr(), SITEMAP);
    assert!(answer.header("cache-status").is_some_and(|status| status.contains("hit")));
    let pages = cms.targets().iter().filter(|target| is_page(target)).count();
    assert_eq!(pages, 3, "one that failed, its retry, and the one that did not");
}

#[test]
fn snapshot_past_its_soft_limit_is_marked_while_the_breaker_is_open() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = before(&cms).env("FRONTEND_MAP__SNAPSHOTS__SOFT_SECONDS", "1").start();
    let good = http::get(service.addr(), SITEMAP);
    content.fail(|_| Some(unavailable()));
    let document = "/api/frontend-url?uid=plugin::cms.article&documentId=a";
    // From the snapshot.
    assert_eq!(http::get(service.addr(), document).status, 200);
    assert!(service.logs(OPENS));
    until("a mark", || {
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!(answer.body, good.body);
        answer.header("cache-status").filter(|status| status.ends_with("\"the CMS fails\""))
    });
    let pages = cms.targets().iter().filter(|target| is_page(target)).count();
    assert_eq!(pages, 1, "no walk began");
    content.heal();
    until_so("a fresh snapshot", || service.log().matches("a snapshot is built").count() == 2);
}

#[test]
fn failing_content_type_does_not_block_the_others() {
    let content = Content::new(&[("en", "a", "x")]);
    content.fail(|target| target.starts_with("/api/bs").then(|| refusal(503, "X", "{}")));
    let cms = content.start();
    let service = site("main")
        .rule("api::a.a", "/a/{slug}")
        .rule("api::b.b", "/b/{slug}")
        .strapi(&cms)
        .start();
    let sitemap = |uid: &str| {
        http::get(service.addr(), &format!("/api/build-sitemap?site=main&contentType={uid}"))
    };
    assert_failure(&sitemap("api::b.b"), 503, "ServiceUnavailableError");
    assert!(service.logs(OPENS));
    // No client requests a document, so the probes alone can find out.
    until_so("the other one answers", || service.logs(CLOSES));
    assert_eq!(
        until("a list", || Some(sitemap("api::a.a")).filter(|a| a.status == 200)).status,
        200
    );
}

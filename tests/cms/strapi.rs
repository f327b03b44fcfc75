//! Endpoints, retries and limits toward Strapi, through the real binary.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::support::cms::Cms;
use crate::support::front_of_cms::{
    SITEMAP, articles, assert_failure, in_front_of, list, one_url, refusal, setup, urls,
};
use crate::support::gzip::gzip_bomb;
use crate::support::http;
use crate::support::script::Script;

#[test]
fn response_that_is_a_gzip_bomb_is_502_with_the_limit_and_what_to_do() {
    let bomb = gzip_bomb(32 << 20);
    assert!(bomb.len() < 256 << 10);
    let cms = Cms::start(move |_| Script::gzip(&bomb));
    let service = in_front_of(&cms);
    for (target, why) in [
        (
            SITEMAP.to_owned(),
            "a list page larger than limits.cms_page_bytes; raise it, or lower cms.page_size",
        ),
        (one_url(), "a document larger than 1 MiB; let its rule name smaller fields and relations"),
    ] {
        let response = http::get(service.addr(), &target);
        assert_failure(&response, 502, "BadGatewayError");
        let message = format!("the CMS sent an unusable response: {why}");
        assert_eq!(response.json()["error"]["message"], message, "{target}");
        assert!(service.logs(&message), "{}", service.log());
    }
}

#[test]
fn error_of_the_cms_larger_than_64_kib_is_502() {
    let cms = Cms::start(|_| {
        refusal(404, "NotFoundError", &format!(r#"{{"a":"{}"}}"#, "a".repeat(1 << 16)))
    });
    let response = http::get(in_front_of(&cms).addr(), SITEMAP);
    assert_failure(&response, 502, "BadGatewayError");
    let message = "the CMS sent an unusable response: a 400 or 404 larger than 64 KiB";
    assert_eq!(response.json()["error"]["message"], message);
}

#[test]
fn failed_request_is_retried_once_and_a_429_never() {
    for (failures, status) in [(1, 200), (2, 503)] {
        let asked = AtomicUsize::new(0);
        let cms = Cms::start(move |_| {
            if asked.fetch_add(1, Ordering::Relaxed) < failures {
                return Script::reset();
            }
            list(&[("a", r#","locale":"en","slug":"s""#)], 100, 1)
        });
        let response = http::get(in_front_of(&cms).addr(), SITEMAP);
        assert_eq!(response.status, status, "{}", response.text());
    }
    let cms = Cms::start(|_| refusal(429, "RateLimitError", "{}"));
    assert_failure(&http::get(in_front_of(&cms).addr(), SITEMAP), 503, "ServiceUnavailableError");
    assert_eq!(cms.targets().len(), 1, "a 429 is not retried");
}

#[test]
fn endpoint_is_read_from_the_schema_once() {
    let cms = Cms::start(|target| {
        if target.starts_with("/api/content-type-builder/content-types/plugin::cms.article") {
            let schema =
                r#"{"kind":"collectionType","singularName":"article","pluralName":"posts"}"#;
            let data = format!(r#"{{"uid":"plugin::cms.article","schema":{schema}}}"#);
            return Script::json(200, &format!(r#"{{"data":{data}}}"#));
        }
        assert!(target.starts_with("/api/cms/posts"), "{target}");
        if target.starts_with("/api/cms/posts?") {
            list(&[], 100, 0)
        } else {
            refusal(404, "NotFoundError", "{}")
        }
    });
    let service = setup(&articles().strapi(&cms).without_endpoints()).start();
    assert_eq!(urls(&http::get(service.addr(), SITEMAP)).len(), 0);
    assert_eq!(cms.targets().len(), 3);
    let document = "/api/frontend-url?uid=plugin::cms.article&documentId=one";
    assert_eq!(http::get(service.addr(), document).status, 404);
    assert_eq!(cms.targets().len(), 4, "the schema is requested once");
}

#[test]
fn endpoint_is_guessed_where_the_schema_is_denied_and_a_wrong_guess_is_502() {
    let guess = |exists: bool| {
        Cms::start(move |target| match target {
            _ if target.starts_with("/api/content-type-builder/") => {
                refusal(403, "ForbiddenError", "{}")
            }
            _ if exists && target.starts_with("/api/cms/articles?") => list(&[], 100, 0),
            _ => refusal(404, "NotFoundError", "{}"),
        })
    };
    for (exists, sitemap, one) in [(true, 200, 404), (false, 502, 502)] {
        let cms = guess(exists);
        let service = setup(&articles().strapi(&cms).without_endpoints()).start();
        assert_eq!(http::get(service.addr(), &one_url()).status, one);
        let answer = http::get(service.addr(), SITEMAP);
        assert_eq!(answer.status, sitemap);
        assert_eq!(answer.text().contains("[[content_type]]"), !exists, "{}", answer.text());
    }
}

#[test]
fn schema_request_without_a_response_is_504_within_one_timeout() {
    let cms = Cms::start(|_| Script::silence());
    let service = setup(&articles().strapi(&cms).without_endpoints()).start();
    assert_failure(&http::get(service.addr(), SITEMAP), 504, "GatewayTimeoutError");
    assert_eq!(cms.targets().len(), 1, "no request follows");
}

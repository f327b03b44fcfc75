//! `POST /hooks/cms`: authentication, and the refreshes that it causes.

mod lost_events;
mod probes;
mod refresh;

use super::{age, ends, in_english, paths, sitemap, soft, walks};
use crate::support::cms::Cms;
use crate::support::content::Content;
use crate::support::front_of_cms::{assert_failure, refusal};
use crate::support::hook::{BEARER, HOOK, SECRET, post, post_body};
use crate::support::http;
use crate::support::metrics::scrape;
use crate::support::service::{Service, Setup};
use crate::support::wait::{until, until_so};

pub(super) fn with_secret(cms: &Cms) -> Setup {
    in_english(cms).env("FRONTEND_MAP__HOOKS__SECRET", SECRET)
}

pub(super) fn hint(service: &Service) {
    assert_eq!(post(service, &[BEARER]).status, 202);
}

/// Sends all these bodies on one connection.
pub(super) fn post_all(service: &Service, bodies: &[String]) {
    for bodies in bodies.chunks(100) {
        let request = |body: &String| {
            let length = body.len();
            let (name, value) = BEARER;
            format!(
                "POST {HOOK} HTTP/1.1\r\nHost: x\r\n{name}: {value}\r\nContent-Length: {length}\r\n\r\n{body}"
            )
        };
        let burst: String = bodies.iter().map(request).collect();
        let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("HTTP/1.1 202").count();
        let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
        let enough = |bytes: &[u8]| count(bytes) == bodies.len();
        let (answers, _) = http::exchange(service.addr(), burst.as_bytes(), deadline, enough);
        assert_eq!(count(&answers), bodies.len());
    }
}

#[test]
fn webhook_without_a_configured_secret_is_501() {
    let cms = Content::new(&[]).start();
    let service = in_english(&cms).start();
    assert_failure(&post(&service, &[BEARER]), 501, "NotImplementedError");
    assert_failure(&post(&service, &[]), 501, "NotImplementedError");
}

#[test]
fn webhook_with_a_wrong_secret_is_401_and_the_secret_never_leaks() {
    let cms = Content::new(&[("en", "a", "x")]).start();
    let service = with_secret(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    let mut answers = Vec::new();
    for wrong in [
        "",
        "Bearer",
        "Bearer ",
        "Bearer canary-2b81f0-secre",
        "Bearer canary-2b81f0-secret2",
        "Bearer  canary-2b81f0-secret",
        "Basic canary-2b81f0-secret",
        "canary-2b81f0-secret",
        "Bearer canary-2b81f0-\u{e9}",
    ] {
        answers.push(post(&service, &[("Authorization", wrong)]));
    }
    answers.push(post(&service, &[]));
    for answer in &answers {
        assert_failure(answer, 401, "UnauthorizedError");
        assert_eq!(answer.header("www-authenticate").as_deref(), Some("Bearer"));
    }
    for right in ["Bearer canary-2b81f0-secret", "bearer canary-2b81f0-secret"] {
        let answer = post(&service, &[("Authorization", right)]);
        assert_eq!(
            (answer.status, answer.text()),
            (202, r#"{"data":{"accepted":true},"meta":{}}"#)
        );
        assert_eq!(answer.header("cache-control").as_deref(), Some("no-store"));
        answers.push(answer);
    }
    until_so("the hint is followed", || ends(&cms, "en") == 2);
    let leaked = answers.iter().any(|answer| format!("{answer:?}").contains(SECRET));
    assert!(!leaked && !service.log().contains(SECRET), "the secret leaks");
    assert!(service.logs("TRACE"), "the log is at trace");
}

#[test]
fn refused_webhooks_are_counted_and_logged_once_for_each_cause() {
    let cms = Content::new(&[]).start();
    let service = with_secret(&cms).start();
    let unconfigured = in_english(&cms).start();
    for _ in 0..3 {
        post(&service, &[("Authorization", "Bearer wrong")]);
        post(&service, &[]);
        post(&unconfigured, &[BEARER]);
    }
    assert_eq!(post(&service, &[BEARER]).status, 202);
    let counts = |service: &Service| {
        let page = scrape(service.admin());
        ["no_secret", "no_token", "wrong_token"]
            .map(|cause| page.of(&format!("hooks_refused_total{{cause=\"{cause}\"}}")).round())
    };
    assert_eq!(format!("{:?}", counts(&service)), "[0.0, 3.0, 3.0]");
    assert_eq!(format!("{:?}", counts(&unconfigured)), "[3.0, 0.0, 0.0]");
    for (service, lines) in [(&service, 2), (&unconfigured, 1)] {
        assert!(service.logs("webhooks of the CMS are refused"));
        let log = service.log();
        assert_eq!(log.matches("webhooks of the CMS are refused").count(), lines, "{log}");
    }
}

/// Of a document that a webhook has named, and of one that none has.
#[test]
fn edits_that_a_walk_finds_are_counted_if_no_webhook_has_announced_them() {
    let content = Content::new(&[("en", "a", "x"), ("en", "b", "y")]);
    let cms = content.start();
    let service = soft(with_secret(&cms), 1)
        .env("FRONTEND_MAP__SNAPSHOTS__CHECK_SECONDS", "1")
        .env("FRONTEND_MAP__SNAPSHOTS__CMS_SHARE", "1.0")
        .start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x", "/en/articles/y"]);
    // The event comes after the walk that finds its edit.
    content.publish("en", "a", "x2");
    until_so("a walk has found it", || paths(&sitemap(&service))[0] == "/en/articles/x2");
    let event = r#"{"event":"entry.update","uid":"plugin::cms.article","entry":{"documentId":"a","publishedAt":"2024-03-06T22:19:54.649Z"}}"#;
    assert!(post_body(&service, event.as_bytes()).starts_with("HTTP/1.1 202"));
    content.publish("en", "b", "y2");
    until_so("a walk has found it", || paths(&sitemap(&service))[1] == "/en/articles/y2");
    let series = "edits_unannounced_total{site=\"main\",content_type=\"plugin::cms.article\"}";
    let mut count = 0.0;
    until_so("it is counted", || {
        count = scrape(service.admin()).of(series);
        count > 0.0
    });
    assert!((count - 1.0).abs() < 0.1, "{count}");
}

#[test]
fn webhook_accepts_post_alone() {
    let cms = Content::new(&[]).start();
    let service = with_secret(&cms).start();
    for method in ["GET", "HEAD", "PUT", "DELETE", "PATCH"] {
        let answer = http::send(service.addr(), method, HOOK, &[BEARER]);
        assert_eq!(answer.status, 405, "{method}");
        assert_eq!(answer.header("allow").as_deref(), Some("POST, OPTIONS"), "{method}");
        if method != "HEAD" {
            assert_failure(&answer, 405, "MethodNotAllowedError");
        }
    }
    let answer = http::send(service.addr(), "OPTIONS", HOOK, &[]);
    assert_eq!((answer.status, answer.body.len()), (200, 0));
    assert_eq!(answer.header("allow").as_deref(), Some("POST, OPTIONS"));
    assert_eq!(http::send(service.addr(), "POST", "/hooks/cms/", &[BEARER]).status, 404);
}

#[test]
fn webhook_with_any_body_is_accepted() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    for (hints, size) in [(1, 10), (2, 900_000), (3, 8 << 20)] {
        let answer = post_body(&service, &vec![b'x'; size]);
        assert!(answer.starts_with("HTTP/1.1 202 "), "{size}: {answer:?}");
        until_so("the hint is followed", || ends(&cms, "en") == hints + 1);
    }
}

#[test]
fn webhook_refreshes_the_copy_soon() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(paths(&sitemap(&service)), ["/en/articles/x"]);
    content.publish("en", "b", "y");
    hint(&service);
    let both = ["/en/articles/x", "/en/articles/y"];
    let fresh = until("the new one", || Some(sitemap(&service)).filter(|a| paths(a) == both));
    // Long before the soft limit of a minute.
    assert!(age(&fresh) < 30);
}

#[test]
fn burst_of_webhooks_causes_at_most_two_walks() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    let text = format!(
        "POST {HOOK} HTTP/1.1\r\nHost: x\r\n{}: {}\r\nContent-Length: 0\r\n\r\n",
        BEARER.0, BEARER.1
    );
    // All of them on their way at once, on one connection.
    let burst = text.repeat(50);
    let count = |bytes: &[u8]| String::from_utf8_lossy(bytes).matches("HTTP/1.1 202").count();
    let deadline = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let enough = |bytes: &[u8]| count(bytes) == 50;
    let (answers, _) = http::exchange(service.addr(), burst.as_bytes(), deadline, enough);
    assert_eq!(count(&answers), 50);
    content.publish("en", "b", "y");
    hint(&service);
    until_so("the last hint is followed", || paths(&sitemap(&service)).len() == 2);
    assert!(walks(&cms, "en") <= 3, "{} walks, the first among them", walks(&cms, "en"));
}

#[test]
fn webhook_during_a_walk_causes_one_more() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = with_secret(&cms).start();
    assert_eq!(sitemap(&service).status, 200);
    content.close();
    hint(&service);
    until_so("the second walk", || walks(&cms, "en") == 2);
    hint(&service);
    let followed = "something may have changed in the CMS";
    until_so("the second hint", || service.log().matches(followed).count() == 2);
    assert_eq!(walks(&cms, "en"), 2, "one at a time");
    content.open();
    until_so("the third walk", || walks(&cms, "en") == 3);
    until_so("its end", || ends(&cms, "en") == 3);
}

#[test]
fn webhook_while_the_cms_fails_is_followed_afterwards() {
    let content = Content::new(&[("en", "a", "x")]);
    let cms = content.start();
    let service = soft(with_secret(&cms), 3600).start();
    assert_eq!(sitemap(&service).status, 200);
    content.fail(|_| Some(refusal(500, "InternalServerError", "{}")));
    hint(&service);
    assert!(service.logs("a walk failed"));
    content.heal();
    content.publish("en", "b", "y");
    // The snapshot is younger than the soft limit, but known to be outdated.
    let fresh = until("the change", || Some(sitemap(&service)).filter(|a| paths(a).len() == 2));
    assert!(age(&fresh) < 30);
}

#[test]
fn webhook_without_a_copy_causes_no_walk() {
    let cms = Content::new(&[("en", "a", "x")]).start();
    let service = with_secret(&cms).start();
    hint(&service);
    assert!(service.logs("something may have changed in the CMS"));
    assert_eq!(sitemap(&service).status, 200);
    assert_eq!(walks(&cms, "en"), 1);
}

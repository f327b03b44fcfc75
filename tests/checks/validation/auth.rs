//! Bearer tokens of URL checks and of drafts.

use super::ask;
use crate::support::front_end::{FrontEnd, answer};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::url_checks::{site, slugs};

const VALIDATE: &str = "canary-51c2aa-validate";
const DRAFT: &str = "canary-77e0d3-draft";
const DRAFT_URL: &str = "/api/frontend-url?uid=api::t0.t0&documentId=d0&status=draft";

/// Sends each kind of `Authorization`, and expects `passes` for the right token alone.
fn opens_to(service: &Service, target: &str, token: &str, passes: u16) {
    let right = format!("Bearer {token}");
    let shouted = format!("bEARER {token}");
    let longer = format!("Bearer {token}x");
    let other = if token == VALIDATE { DRAFT } else { VALIDATE };
    let other = format!("Bearer {other}");
    for (sent, status) in [
        (None, 401),
        (Some("Basic Y2FuYXJ5"), 401),
        (Some("Bearer"), 401),
        (Some("Bearer x"), 403),
        (Some(longer.as_str()), 403),
        (Some(other.as_str()), 403),
        (Some(shouted.as_str()), passes),
        (Some(right.as_str()), passes),
    ] {
        let headers: Vec<_> = sent.iter().map(|value| ("Authorization", *value)).collect();
        let answer = http::send(service.addr(), "GET", target, &headers);
        assert_eq!(answer.status, status, "{sent:?}");
        assert!(!answer.text().contains("canary"), "{}", answer.text());
        let challenge = answer.header("www-authenticate");
        assert_eq!(challenge.as_deref(), (status == 401).then_some("Bearer"));
        let error = answer.json()["error"]["name"].clone();
        match status {
            401 => assert_eq!(error, "UnauthorizedError"),
            403 => assert_eq!(error, "ForbiddenError"),
            _ => {}
        }
    }
    assert!(!service.log().contains("canary"), "{}", service.log());
}

fn closed(peer: &FrontEnd) -> Setup {
    let setup = site(&peer.url("http", ""), 1, &slugs("a", 2));
    setup.env("FRONTEND_MAP__LOG__ACCESS", "true").env("FRONTEND_MAP__LOG__LEVEL", "trace")
}

#[tokio::test(flavor = "multi_thread")]
async fn tokens_protect_url_checks_and_drafts_and_nothing_else() {
    let peer = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
    let by_variables = closed(&peer)
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN", VALIDATE)
        .env("FRONTEND_MAP__AUTH__DRAFT_TOKEN", DRAFT);
    let by_files = closed(&peer)
        .file("validate", &format!("{VALIDATE}\n"))
        .file("draft", &format!("{DRAFT}\n"))
        .env("FRONTEND_MAP__AUTH__VALIDATE_TOKEN_FILE", "validate")
        .env("FRONTEND_MAP__AUTH__DRAFT_TOKEN_FILE", "draft");
    for setup in [by_variables, by_files] {
        let service = setup.start();
        let asked = peer.heads().len();
        opens_to(&service, &crate::support::url_checks::target(0), VALIDATE, 200);
        assert_eq!(peer.heads().len(), asked + 2, "a refused request causes no URL check");
        opens_to(&service, "/api/validations?site=main", VALIDATE, 200);
        // There is no draft, which only an authorized request learns.
        opens_to(&service, DRAFT_URL, DRAFT, 404);
        let refused = http::get(service.addr(), DRAFT_URL);
        assert_eq!(refused.header("cache-control").as_deref(), Some("no-store"));
        for open in [
            "/api/build-sitemap?site=main&contentType=api::t0.t0",
            "/api/frontend-url?uid=api::t0.t0&documentId=d0",
            "/api/get-content-type?site=main&pathname=/a-000-t0",
        ] {
            assert_eq!(http::get(service.addr(), open).status, 200, "{open}");
        }
        // Wrong parameters come before authorization.
        for wrong in ["/api/build-sitemap?site=x&validate=true", "/api/validations?site=x"] {
            assert_eq!(http::get(service.addr(), wrong).status, 400, "{wrong}");
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn without_tokens_no_request_needs_authorization() {
    let peer = FrontEnd::start(|_| answer("200 OK", "", 0)).await;
    let service = closed(&peer).start();
    assert_eq!(ask(&service, &[]).status, 200);
    assert_eq!(http::get(service.addr(), DRAFT_URL).status, 404);
    assert_eq!(http::get(service.addr(), "/api/validations?site=main").status, 200);
}

//! `/readyz` while the documents that decide about paths are not known.

use serde_json::Value;

use super::knowledge::{Faults, setup};
use super::{document_of, rules, until};
use crate::support::http;
use crate::support::service::{Service, Setup};
use crate::support::settings::site;
use crate::support::wait::until_so;

fn ready_within(setup: Setup, seconds: &str) -> Service {
    let setup = setup.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true");
    setup.env("FRONTEND_MAP__SNAPSHOTS__READY_SECONDS", seconds).start()
}

fn ready(service: &Service) -> (u16, String) {
    let response = http::get(service.addr(), "/readyz");
    assert_eq!(response.header("cache-control").as_deref(), Some("no-store"));
    (response.status, response.text().to_owned())
}

/// The content types that readiness waits for, by the admin page, which has the same status.
fn awaited(service: &Service) -> (u16, Value, Vec<String>) {
    let response = http::get(service.admin(), "/readyz");
    let state = response.json();
    let types = state["contentTypes"].as_array().expect("a list");
    let awaited = types.iter().filter(|own| own["awaited"] == true);
    let uid = |own: &Value| own["contentType"].as_str().expect("text").to_owned();
    let flags = serde_json::json!([state["ready"], state["starting"], state["draining"]]);
    (response.status, flags, awaited.map(uid).collect())
}

fn flags(ready: bool, starting: bool) -> Value {
    serde_json::json!([ready, starting, false])
}

#[test]
fn readyz_is_503_until_the_documents_of_each_type_are_known() {
    let faults = Faults::default();
    faults.set("story", 403);
    let service = ready_within(setup(&faults.start()), "3600");
    until(&service, &document_of("/en/about"), |response| response.status == 200);
    until(&service, &document_of("/help/refund.html"), |response| response.status == 200);
    assert_eq!(ready(&service), (503, "starting\n".to_owned()));
    let story = vec!["api::story.story".to_owned()];
    assert_eq!(awaited(&service), (503, flags(false, true), story));
    faults.heal();
    until_so("it is ready", || ready(&service) == (200, "ready\n".to_owned()));
    assert_eq!(awaited(&service), (200, flags(true, false), Vec::new()));
    assert_eq!(http::get(service.addr(), &document_of("/en/journey")).status, 200);
    // Known once is enough: a CMS that fails later changes nothing.
    faults.set("story", 403);
    assert!(service.logs("a walk failed"), "{}", service.log());
    assert_eq!(ready(&service).0, 200);
}

#[test]
fn readyz_waits_no_longer_than_ready_seconds() {
    let faults = Faults::default();
    faults.set("story", 403);
    let service = ready_within(setup(&faults.start()), "4");
    assert_eq!(ready(&service), (503, "starting\n".to_owned()));
    until_so("it is ready", || ready(&service).0 == 200);
    let story = vec!["api::story.story".to_owned()];
    assert_eq!(awaited(&service), (200, flags(true, false), story));
}

#[test]
fn readyz_without_at_start_or_without_resolve_by_documents_waits_for_nothing() {
    let faults = Faults::default();
    for name in ["page", "story", "faq"] {
        faults.set(name, 403);
    }
    let cms = faults.start();
    let without = setup(&cms).env("FRONTEND_MAP__SNAPSHOTS__AT_START", "false");
    let by_rules = rules(site("main").without_front_end_url()).strapi(&cms).singular_endpoints();
    let by_rules = by_rules.env("FRONTEND_MAP__SNAPSHOTS__AT_START", "true");
    for setup in [without, by_rules] {
        let service = setup.start();
        assert_eq!(ready(&service), (200, "ready\n".to_owned()));
        assert_eq!(awaited(&service).0, 200);
    }
}

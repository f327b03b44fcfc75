//! Reloads: other settings are applied as a whole or not at all, and nothing is lost that does not
//! depend on them.

mod applied;
mod bounds;
mod kept;
mod load;
mod watched;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::settings::{Settings, site};
use crate::support::wait::until_so;

const APPLIED: &str = "the settings are reloaded";
const REFUSED: &str = "the reload is refused";

/// A site with one rule, on content of a file, whose template begins with this.
fn settings(prefix: &str) -> Settings {
    site("main")
        .front_end_url("https://x.example")
        .rule(&format!("api::a.{prefix}"), &format!("/{prefix}/{{slug}}"))
        .files(&content("x"))
}

fn content(slug: &str) -> String {
    let documents = format!(r#"[{{"documentId": "d", "slug": "{slug}"}}]"#);
    format!(r#"{{"api::a.a": {documents}, "api::a.b": {documents}}}"#)
}

/// How often a text stands in the log.
fn logged(service: &Service, text: &str) -> usize {
    service.log().matches(text).count()
}

/// Sends SIGHUP and waits for the outcome.
fn reload(service: &Service, outcome: &str) {
    let before = logged(service, outcome);
    service.send_signal("HUP");
    until_so(outcome, || logged(service, outcome) > before);
}

/// Other settings, in use.
fn apply(service: &Service, settings: &str) {
    service.rewrite("settings.toml", settings);
    reload(service, APPLIED);
}

fn resolve(service: &Service, prefix: &str) -> Response {
    http::get(service.addr(), &format!("/api/get-content-type?site=main&pathname=/{prefix}/x"))
}

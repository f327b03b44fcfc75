//! Other settings while the service runs: put to use as a whole or not at all, and nothing lost that
//! does not depend on them.

mod applied;
mod bounds;
mod kept;
mod load;
mod watched;

use crate::support::http::{self, Response};
use crate::support::service::{Service, Setup};
use crate::support::wait::until_so;

const APPLIED: &str = "the settings were read anew";
const REFUSED: &str = "the settings are wrong";

/// A site with one rule, on content of a file, whose template begins with this.
fn settings(prefix: &str) -> String {
    format!(
        "[server]\nlisten = \"127.0.0.1:0\"\n[cms]\nsource = \"files\"\npath = \"content.json\"\n\
         [[site]]\nkey = \"main\"\nfront_end_url = \"https://x.example\"\nlocales = [\"en\"]\n\
         [[site.rule]]\ncontent_type = \"api::a.{prefix}\"\ntemplate = \"/{prefix}/{{slug}}\"\n"
    )
}

fn content(slug: &str) -> String {
    let documents = format!(r#"[{{"documentId": "d", "slug": "{slug}"}}]"#);
    format!(r#"{{"api::a.a": {documents}, "api::a.b": {documents}}}"#)
}

fn setup(prefix: &str) -> Setup {
    Setup::new(&settings(prefix)).file("content.json", &content("x"))
}

/// How often something stands in the log.
fn told(service: &Service, text: &str) -> usize {
    service.log().matches(text).count()
}

/// SIGHUP, until the settings were read.
fn reload(service: &Service, outcome: &str) {
    let before = told(service, outcome);
    service.tell("HUP");
    until_so(outcome, || told(service, outcome) > before);
}

/// Other settings, in use.
fn apply(service: &Service, settings: &str) {
    service.rewrite("settings.toml", settings);
    reload(service, APPLIED);
}

fn resolve(service: &Service, prefix: &str) -> Response {
    http::get(service.addr(), &format!("/api/get-content-type?site=main&pathname=/{prefix}/x"))
}

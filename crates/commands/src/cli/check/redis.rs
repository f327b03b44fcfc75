//! Tries the Redis that several instances share.

use super::findings::{Check, Finding, Level, Place};
use crate::config::Config;
use frontend_map_fleet::changes::describe;
use frontend_map_fleet::redis::probe;

/// Tries Redis, unless `offline` or without `[shared]`.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn examine(config: &Config, offline: bool) -> Vec<Finding> {
    let Some(shared) = &config.shared else { return Vec::new() };
    let information =
        |text: String| Finding::new(Check::Redis, Level::Information, Place::File, text);
    if offline {
        return vec![information("Redis was not tried (--offline)".to_owned())];
    }
    let probe = probe(shared, &describe(&config.sites)).await;
    let problem =
        |text: &String| Finding::problem(Check::Redis, Place::File, format!("Redis: {text}"));
    let mut findings: Vec<Finding> = probe.problems.iter().map(problem).collect();
    findings.extend(probe.notes.iter().map(|text| information(format!("Redis: {text}"))));
    if findings.is_empty() {
        findings.push(information(format!("Redis can be used: {}", shared.url)));
    }
    findings
}

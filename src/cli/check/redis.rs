//! Tries the Redis that several instances share.

use std::fmt::Write as _;

use crate::config::Config;
use frontend_map_fleet::changes::describe;
use frontend_map_fleet::redis::probe;

/// What Redis showed.
#[derive(Default)]
pub(super) struct RedisReport {
    /// As it is printed; empty without `[shared]`.
    pub(super) text: String,
    /// The number of problems.
    pub(super) findings: usize,
}

/// Tries Redis, unless `offline` or without `[shared]`.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn examine(config: &Config, offline: bool) -> RedisReport {
    let mut report = RedisReport::default();
    let Some(shared) = &config.shared else { return report };
    // Writing to a string cannot fail.
    if offline {
        let _ = writeln!(report.text, "\nRedis was not tried (--offline)");
        return report;
    }
    let probe = probe(shared, &describe(&config.sites)).await;
    report.findings = probe.problems.len();
    for text in probe.problems.iter().chain(&probe.notes) {
        let _ = writeln!(report.text, "\nRedis: {text}");
    }
    if report.text.is_empty() {
        let _ = writeln!(report.text, "\nRedis can be used: {}", shared.url);
    }
    report
}

//! `[snapshots]`: how old cached snapshots of the public URLs may get.

use std::time::Duration;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_cache::Freshness;

/// The highest age that can be set: a leap year.
const MAX_SECONDS: u64 = 366 * 24 * 60 * 60;

/// The longest time without readiness that can be set.
const MAX_READY_SECONDS: u64 = 60 * 60;

/// The smallest share of the CMS. Below it, a walk of a minute would start less than once in 16
/// hours.
const MIN_SHARE: f64 = 0.001;

#[derive(Debug, Deserialize)]
#[serde(default)]
struct SnapshotsToml {
    soft_seconds: u64,
    check_seconds: u64,
    hard_seconds: u64,
    at_start: bool,
    ready_seconds: u64,
    cms_share: f64,
}

impl Default for SnapshotsToml {
    fn default() -> Self {
        Self {
            soft_seconds: 60,
            check_seconds: 600,
            hard_seconds: 24 * 60 * 60,
            at_start: true,
            ready_seconds: 30,
            cms_share: 0.1,
        }
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> Freshness {
    let toml: SnapshotsToml = table::read(table, "snapshots", problems);
    let ages =
        [("soft", toml.soft_seconds), ("check", toml.check_seconds), ("hard", toml.hard_seconds)];
    for (name, seconds) in ages {
        if !(1..=MAX_SECONDS).contains(&seconds) {
            let name = format!("snapshots.{name}_seconds");
            problems.add(&name, format_args!("must be between 1 and {MAX_SECONDS}"));
        }
    }
    if toml.hard_seconds < toml.soft_seconds {
        problems.add("snapshots.hard_seconds", "must be at least `snapshots.soft_seconds`");
    }
    if !(MIN_SHARE..=1.0).contains(&toml.cms_share) {
        problems.add("snapshots.cms_share", format_args!("must be a number from {MIN_SHARE} to 1"));
    }
    if toml.ready_seconds > MAX_READY_SECONDS {
        let message = format_args!("must be at most {MAX_READY_SECONDS}");
        problems.add("snapshots.ready_seconds", message);
    }
    Freshness {
        soft: Duration::from_secs(toml.soft_seconds),
        check: Duration::from_secs(toml.check_seconds),
        hard: Duration::from_secs(toml.hard_seconds),
        at_start: toml.at_start,
        ready: Duration::from_secs(toml.ready_seconds),
        cms_share: toml.cms_share,
    }
}

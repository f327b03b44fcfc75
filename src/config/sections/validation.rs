//! `[validation]`: the deadline of a URL check, and how long its results are reused.

use std::time::Duration;

use serde::Deserialize;

use crate::config::Problems;
use crate::config::table;
use crate::config::value::Table;
use frontend_map_outbound::checks::runs::RunTimes;

/// The longest times that can be set: a day.
const MAX_SECONDS: u64 = 24 * 60 * 60;

#[derive(Debug, Deserialize)]
#[serde(default)]
struct ValidationToml {
    deadline_seconds: u64,
    reuse_seconds: u64,
}

impl Default for ValidationToml {
    fn default() -> Self {
        Self { deadline_seconds: 15 * 60, reuse_seconds: 60 }
    }
}

pub(in crate::config) fn read(table: &mut Table, problems: &mut Problems) -> RunTimes {
    let toml: ValidationToml = table::read(table, "validation", problems);
    if !(1..=MAX_SECONDS).contains(&toml.deadline_seconds) {
        problems.add(
            "validation.deadline_seconds",
            format_args!("must be between 1 and {MAX_SECONDS}"),
        );
    }
    if toml.reuse_seconds > MAX_SECONDS {
        problems.add("validation.reuse_seconds", format_args!("must be at most {MAX_SECONDS}"));
    }
    RunTimes {
        deadline: Duration::from_secs(toml.deadline_seconds),
        reuse: Duration::from_secs(toml.reuse_seconds),
    }
}

//! `[validation]`: the deadline of a URL check, and how long its results are reused.

use crate::config::section::Section;
use crate::config::value::seconds;
use frontend_map_outbound::checks::runs::RunTimes;

/// The longest times that can be set: a day.
const MAX_SECONDS: u64 = 24 * 60 * 60;

pub(in crate::config) fn read(validation: &mut Section<'_>) -> RunTimes {
    RunTimes {
        deadline: validation.get("deadline_seconds", seconds(1..=MAX_SECONDS)),
        reuse: validation.get("reuse_seconds", seconds(..=MAX_SECONDS)),
    }
}

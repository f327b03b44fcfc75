//! `[snapshots]`: how old cached snapshots of the public URLs may get.

use crate::config::section::Section;
use crate::config::value::{boolean, ratio, seconds};
use frontend_map_cache::Freshness;

/// The highest age that can be set: a leap year.
const MAX_SECONDS: u64 = 366 * 24 * 60 * 60;

/// The longest time without readiness that can be set.
const MAX_READY_SECONDS: u64 = 60 * 60;

/// The smallest share of the CMS. Below it, a walk of a minute would start less than once in 16
/// hours.
const MIN_SHARE: f64 = 0.001;

pub(in crate::config) fn read(snapshots: &mut Section<'_>) -> Freshness {
    let freshness = Freshness {
        soft: snapshots.get("soft_seconds", seconds(1..=MAX_SECONDS)),
        check: snapshots.get("check_seconds", seconds(1..=MAX_SECONDS)),
        hard: snapshots.get("hard_seconds", seconds(1..=MAX_SECONDS)),
        at_start: snapshots.get("at_start", boolean),
        ready: snapshots.get("ready_seconds", seconds(..=MAX_READY_SECONDS)),
        cms_share: snapshots.get("cms_share", ratio(MIN_SHARE)),
    };
    if freshness.hard < freshness.soft && !freshness.hard.is_zero() {
        snapshots.problem("hard_seconds", "must be at least `snapshots.soft_seconds`");
    }
    freshness
}

//! Reads of the settings while the service runs.

use std::fmt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, SystemTime};

use super::{Counts, Page};

closed! {
    /// How a read of the settings ended while the service ran.
    pub enum Reload {
        /// They are in use now.
        Applied => "applied",
        /// Something is wrong with them; the ones before are still in use.
        Refused => "refused",
    }
}

/// Reads of the settings while the service runs.
#[derive(Debug)]
pub struct Reloads {
    outcomes: Counts<Reload>,
    /// When the settings in use were read, in milliseconds since 1970.
    applied: AtomicU64,
    refused_last: AtomicBool,
}

impl Default for Reloads {
    /// The settings of the start are in use.
    fn default() -> Self {
        let (outcomes, refused_last) = (Counts::default(), AtomicBool::new(false));
        Self { outcomes, applied: AtomicU64::new(now()), refused_last }
    }
}

impl Reloads {
    /// The settings were read, and put to use or not.
    pub fn ended(&self, applied: bool) {
        self.outcomes.of(if applied { Reload::Applied } else { Reload::Refused }).one();
        self.refused_last.store(!applied, Relaxed);
        if applied {
            self.applied.store(now(), Relaxed);
        }
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        let outcomes = &self.outcomes;
        page.counts("reloads", "Reads of the settings while serving", "outcome", outcomes)?;
        let refused = f64::from(u8::from(self.refused_last.load(Relaxed)));
        let help = "1 while the settings that were read last are wrong and others are in use";
        page.gauge("settings_refused", help, [([], refused)])?;
        let applied = Duration::from_millis(self.applied.load(Relaxed)).as_secs_f64();
        let help = "When the settings in use were read, in seconds since 1970";
        page.gauge("settings_applied_timestamp_seconds", help, [([], applied)])
    }
}

fn now() -> u64 {
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    u64::try_from(since.as_millis()).unwrap_or(u64::MAX)
}

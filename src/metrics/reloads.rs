//! Reads of the settings while the service runs.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::{Mutex, MutexGuard};

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
    last: Mutex<Last>,
}

#[derive(Debug)]
struct Last {
    applied: SystemTime,
    problems: Option<String>,
}

impl Default for Reloads {
    /// The settings of the start are in use.
    fn default() -> Self {
        let last = Last { applied: SystemTime::now(), problems: None };
        Self { outcomes: Counts::default(), last: Mutex::new(last) }
    }
}

impl Reloads {
    /// The settings were read, and are in use now.
    pub fn applied(&self) {
        self.outcomes.of(Reload::Applied).one();
        *self.last() = Last { applied: SystemTime::now(), problems: None };
    }

    /// The settings were read, and something is wrong with them.
    pub fn refused(&self, problems: String) {
        self.outcomes.of(Reload::Refused).one();
        self.last().problems = Some(problems);
    }

    /// When the settings in use were read, and what is wrong with those that were read since.
    #[must_use]
    pub fn state(&self) -> (SystemTime, Option<String>) {
        let last = self.last();
        (last.applied, last.problems.clone())
    }

    fn last(&self) -> MutexGuard<'_, Last> {
        self.last.lock()
    }

    pub(super) fn write(&self, page: &mut Page<'_>) -> fmt::Result {
        let outcomes = &self.outcomes;
        page.counts("reloads", "Reads of the settings while serving", "outcome", outcomes)?;
        let (applied, problems) = self.state();
        let refused = f64::from(problems.is_some());
        let help = "1 while the settings that were read last are wrong and others are in use";
        page.gauge("settings_refused", help, [([], refused)])?;
        let applied = applied.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "When the settings in use were read, in seconds since 1970";
        page.gauge("settings_applied_timestamp_seconds", help, [([], applied)])
    }
}

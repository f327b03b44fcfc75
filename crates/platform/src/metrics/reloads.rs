//! Reloads of the settings.

use std::fmt;
use std::time::{SystemTime, UNIX_EPOCH};

use parking_lot::Mutex;

use super::{CounterFamily, Encoder};

label! {
    /// How a reload ended.
    pub enum ReloadOutcome as "outcome" {
        /// The new settings are in use.
        Applied => "applied",
        /// The new settings have problems; the previous ones stay in use.
        Refused => "refused",
    }
}

/// Reloads of the settings.
#[derive(Debug)]
pub struct Reloads {
    outcomes: CounterFamily<ReloadOutcome>,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    applied: SystemTime,
    problems: Option<String>,
}

impl Default for Reloads {
    /// The settings of the start are in use.
    fn default() -> Self {
        let state = State { applied: SystemTime::now(), problems: None };
        Self { outcomes: CounterFamily::default(), state: Mutex::new(state) }
    }
}

impl Reloads {
    /// Counts a reload whose settings are in use now.
    pub fn applied(&self) {
        self.outcomes.inc(ReloadOutcome::Applied);
        *self.state.lock() = State { applied: SystemTime::now(), problems: None };
    }

    /// Counts a reload whose settings have these problems.
    pub fn refused(&self, problems: String) {
        self.outcomes.inc(ReloadOutcome::Refused);
        self.state.lock().problems = Some(problems);
    }

    /// When the settings in use were applied, and the problems of newer ones, if any.
    pub fn state(&self) -> (SystemTime, Option<String>) {
        let state = self.state.lock();
        (state.applied, state.problems.clone())
    }

    pub(super) fn encode(&self, encoder: &mut Encoder<'_>) -> fmt::Result {
        encoder.metric("reloads", "Reloads of the settings by outcome", &self.outcomes)?;
        let (applied, problems) = self.state();
        let refused = f64::from(problems.is_some());
        let help = "1 while the newest settings have problems and the previous ones are in use";
        encoder.gauge("settings_refused", help, [([], refused)])?;
        let applied = applied.duration_since(UNIX_EPOCH).unwrap_or_default().as_secs_f64();
        let help = "When the settings in use were applied, in seconds since 1970";
        encoder.gauge("settings_applied_timestamp_seconds", help, [([], applied)])
    }
}

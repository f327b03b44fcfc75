//! The clock of the rows. Instances that share rows need one: else the one whose clock is ahead had
//! each path last.

use std::fmt::{Debug, Formatter, Result};
use std::sync::OnceLock;

/// The present time in milliseconds since 1970; that of the system unless it is set.
#[derive(Default)]
pub(super) struct RowClock(OnceLock<Box<dyn Fn() -> i64 + Send + Sync>>);

impl Debug for RowClock {
    fn fmt(&self, formatter: &mut Formatter<'_>) -> Result {
        formatter.debug_tuple("RowClock").field(&self.0.get().is_some()).finish()
    }
}

impl RowClock {
    /// Sets the clock, unless one is set.
    pub(super) fn set(&self, clock: impl Fn() -> i64 + Send + Sync + 'static) {
        // The rows would not fit another one.
        let _ = self.0.set(Box::new(clock));
    }

    pub(super) fn now(&self, system: impl FnOnce() -> i64) -> i64 {
        self.0.get().map_or_else(system, |clock| clock())
    }
}

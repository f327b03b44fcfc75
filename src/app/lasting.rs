//! What outlives the settings of one app: a reload puts another app in its place, and this stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::metrics::Metrics;

/// What all apps of a process share, one after the other.
#[derive(Debug, Default)]
pub struct Lasting {
    /// What is counted.
    pub metrics: Arc<Metrics>,
    draining: AtomicBool,
}

impl Lasting {
    /// From now on the service is not ready for new work.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the service is on its way out.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }
}

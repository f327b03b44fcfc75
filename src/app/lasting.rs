//! What outlives the settings of one app: a reload puts another app in its place, and this stays.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::sync::Notify;

use super::documents::Documents;
use super::files::Texts;
use super::snapshots::Hints;
use crate::content::RequestLimiters;
use crate::metrics::Metrics;
use crate::outgoing::BuildError;
use crate::validator::Validator;
use crate::validator::runs::RunRegistry;

/// What all apps of a process share, one after the other. What is kept here for a site is kept by
/// what the site was made of, so that no app finds what was made by the rules of another one.
pub struct Lasting {
    /// What is counted.
    pub metrics: Arc<Metrics>,
    draining: AtomicBool,
    /// The in-flight limit toward the CMS (D28), which clients of before and after a reload share.
    pub(super) limiters: RequestLimiters,
    /// Checks public URLs: ten at a time in the whole process (D26).
    pub(super) validator: Validator,
    /// The runs of URL checks.
    pub(super) runs: RunRegistry,
    /// The last good answers of the CMS about single documents.
    pub(super) documents: Documents,
    /// The texts of sitemap files.
    pub(super) texts: Texts,
    /// Hints that nobody has followed yet.
    pub(super) hints: Hints,
    /// Told when a walk has ended or cannot begin, and when there is another app.
    pub(super) landed: Notify,
}

impl Lasting {
    /// Nothing yet. At most `cms_requests` requests to the CMS are in flight at a time.
    ///
    /// # Errors
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new(cms_requests: usize) -> Result<Self, BuildError> {
        let validator = Validator::new()?;
        let metrics: Arc<Metrics> = Arc::default();
        Ok(Self {
            draining: AtomicBool::new(false),
            limiters: RequestLimiters::new(cms_requests),
            runs: RunRegistry::new(validator.clone(), Arc::clone(&metrics)),
            validator,
            metrics,
            documents: Documents::new(),
            texts: Texts::new(),
            hints: Hints::default(),
            landed: Notify::new(),
        })
    }

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

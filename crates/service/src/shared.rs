//! Process-wide state that survives a reload.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use frontend_map_cache::{FileCache, LastGoodDocuments, RefreshTriggers};
use frontend_map_catalog::changes::log::{ChangeLog, Recorder};
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_cms::RequestLimiters;
use frontend_map_fleet::Fleet;
use frontend_map_fleet::checks::runs::FleetRuns;
use frontend_map_fleet::redis;
use frontend_map_outbound::checks::Validator;
use frontend_map_outbound::checks::runs::RunRegistry;
use frontend_map_outbound::webhooks::Notifier;
use frontend_map_platform::metrics::Metrics;
use frontend_map_platform::outgoing::BuildError;
use frontend_map_store::Store;

/// The state that successive apps of a process share. Cached data of a site is keyed by the site's
/// fingerprint, so an app never finds data that the rules of another app have produced.
pub struct SharedState {
    /// All counters.
    pub metrics: Arc<Metrics>,
    /// Checks public URLs: ten at a time in the whole process (D26).
    pub validator: Validator,
    /// The runs of URL checks.
    pub runs: RunRegistry,
    /// The texts of sitemap files.
    pub files: FileCache,
    /// The last good responses of the CMS about single documents.
    pub last_good: Arc<LastGoodDocuments>,
    /// What survives the process.
    pub store: Arc<Store>,
    /// Which document had which path before.
    pub path_history: Arc<PathHistory>,
    /// What has changed, in order.
    pub change_log: Arc<ChangeLog>,
    /// Sends it to the targets of webhooks.
    pub notifier: Arc<Notifier>,
    /// Invalidations, and the wake-up call of the refresher.
    pub triggers: Arc<RefreshTriggers>,
    /// The instances that share a Redis with this one.
    pub fleet: Arc<Fleet>,
    /// The in-flight limit toward the CMS (D28), shared by the HTTP clients from before and after a
    /// reload.
    pub limiters: RequestLimiters,
    started: Instant,
    draining: AtomicBool,
    /// Whether the drain delay is over.
    closing: watch::Sender<bool>,
}

impl SharedState {
    /// The state at process start, with at most this many requests to the CMS in flight.
    ///
    /// # Errors
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new(cms_requests: usize) -> Result<Self, BuildError> {
        let validator = Validator::new()?;
        let metrics: Arc<Metrics> = Arc::default();
        let change_log: Arc<ChangeLog> = Arc::default();
        let counters = Arc::clone(&metrics.notify);
        Ok(Self {
            runs: RunRegistry::new(validator.clone(), Arc::clone(&metrics), Arc::default(), None),
            validator,
            metrics,
            files: FileCache::default(),
            last_good: Arc::default(),
            store: Arc::default(),
            path_history: Arc::default(),
            notifier: Arc::new(Notifier::new(Arc::clone(&change_log), counters)),
            change_log,
            triggers: Arc::default(),
            fleet: Arc::default(),
            limiters: RequestLimiters::new(cms_requests),
            started: Instant::now(),
            draining: AtomicBool::new(false),
            closing: watch::Sender::new(false),
        })
    }

    /// Joins the instances that share Redis with these settings, if there are any. Must be called
    /// within a runtime, and before [`SharedState::open_store`].
    pub fn join_fleet(&mut self, settings: Option<redis::Settings>) {
        let Some(settings) = settings else { return };
        let redis = redis::Client::start(&settings, Arc::clone(&self.metrics.redis));
        self.validator = self.validator.clone().in_fleet(redis.clone());
        let (log, history) = (Arc::clone(&self.change_log), Arc::clone(&self.path_history));
        self.fleet = Arc::new(Fleet::sharing(redis, log, history));
    }

    /// Opens the store in the file with this path; without one, snapshots are in memory only. An instance
    /// joins its fleet before that, and keeps no change log in the file then.
    pub fn open_store(&mut self, path: Option<PathBuf>) {
        let (history, counters) = (Arc::clone(&self.path_history), Arc::clone(&self.metrics.store));
        let log = Arc::clone(&self.change_log);
        let is_shared = self.fleet.redis().is_some();
        let recorder = if is_shared { Recorder::idle(log) } else { Recorder::new(log) };
        self.store = Arc::new(Store::start(path, history, recorder, counters));
        let fleet = self.fleet.redis().cloned().map(FleetRuns::new);
        let (validator, metrics) = (self.validator.clone(), Arc::clone(&self.metrics));
        self.runs = RunRegistry::new(validator, metrics, Arc::clone(&self.store), fleet);
    }

    /// The time since the process started.
    #[must_use]
    pub fn running_for(&self) -> Duration {
        self.started.elapsed()
    }

    /// Marks the service as draining: `/readyz` reports that it is not ready.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the service is about to stop.
    #[must_use]
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Ends the drain delay: streams that may go on for hours end now.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether the drain delay is over, now and later.
    #[must_use]
    pub fn watch_closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}

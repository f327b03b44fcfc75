//! Process-wide state that survives a reload.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::watch;

use crate::app::MissRegistry;
use frontend_map_cache::{FileCache, LastGoodDocuments, LinkRegistry, RefreshTriggers};
use frontend_map_catalog::changes::log::{ChangeLog, Recorder};
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_cms::RequestLimiters;
use frontend_map_fleet::Fleet;
use frontend_map_fleet::checks::runs::FleetRuns;
use frontend_map_fleet::redis;
use frontend_map_outbound::checks::Validator;
use frontend_map_outbound::checks::runs::RunRegistry;
use frontend_map_outbound::webhooks::Notifier;
use frontend_map_platform::http_client::BuildError;
use frontend_map_platform::metrics::Metrics;
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
    /// The paths that visitors could not find.
    pub misses: MissRegistry,
    /// The links in content.
    pub links: LinkRegistry,
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

/// What the state is shared with, and where it is kept; by default nothing.
#[derive(Default)]
pub struct Backends {
    /// Redis, which other instances share.
    pub redis: Option<redis::Settings>,
    /// The file of the store; without one, snapshots are in memory only.
    pub store: Option<PathBuf>,
}

impl SharedState {
    /// The state at process start, with at most this many requests to the CMS in flight. With Redis, it
    /// must be called within a runtime.
    ///
    /// # Errors
    /// [`BuildError`] when TLS cannot be set up.
    pub fn new(
        metrics: Arc<Metrics>,
        cms_requests: usize,
        backends: Backends,
    ) -> Result<Self, BuildError> {
        let (change_log, path_history) =
            (Arc::<ChangeLog>::default(), Arc::<PathHistory>::default());
        let redis = backends
            .redis
            .map(|settings| redis::Client::start(&settings, Arc::clone(&metrics.redis)));
        let validator = Validator::new()?;
        let (fleet, validator) = match redis.clone() {
            Some(redis) => {
                let (log, history) = (Arc::clone(&change_log), Arc::clone(&path_history));
                let fleet = Fleet::sharing(redis.clone(), log, history);
                (fleet, validator.in_fleet(redis))
            }
            None => (Fleet::alone(), validator),
        };
        // The instances of a fleet keep their change log in Redis alone.
        let recorder = match redis {
            Some(_) => Recorder::idle(Arc::clone(&change_log)),
            None => Recorder::new(Arc::clone(&change_log)),
        };
        let (history, counters) = (Arc::clone(&path_history), Arc::clone(&metrics.store));
        let store = Arc::new(Store::start(backends.store, history, recorder, counters));
        let counters = Arc::clone(&metrics.notify);
        Ok(Self {
            runs: RunRegistry::new(
                validator.clone(),
                Arc::clone(&metrics),
                Arc::clone(&store),
                redis.map(FleetRuns::new),
            ),
            validator,
            metrics,
            files: FileCache::default(),
            last_good: Arc::default(),
            store,
            path_history,
            misses: MissRegistry::default(),
            links: LinkRegistry::default(),
            notifier: Arc::new(Notifier::new(Arc::clone(&change_log), counters)),
            change_log,
            triggers: Arc::default(),
            fleet: Arc::new(fleet),
            limiters: RequestLimiters::new(cms_requests),
            started: Instant::now(),
            draining: AtomicBool::new(false),
            closing: watch::Sender::new(false),
        })
    }

    /// The time since the process started.
    pub fn running_for(&self) -> Duration {
        self.started.elapsed()
    }

    /// Marks the service as draining: `/readyz` reports that it is not ready.
    pub fn drain(&self) {
        self.draining.store(true, Ordering::Relaxed);
    }

    /// Whether the service is about to stop.
    pub fn is_draining(&self) -> bool {
        self.draining.load(Ordering::Relaxed)
    }

    /// Ends the drain delay: streams that may go on for hours end now.
    pub fn close(&self) {
        self.closing.send_replace(true);
    }

    /// Whether the drain delay is over, now and later.
    pub fn watch_closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }
}

//! Webhooks that are sent: the changes of sites, to each target in order, until it accepts them (D45).
//! Search engines get URLs alone (IndexNow).

mod client;
mod indexnow;
mod message;
mod position;
mod signing_key;
mod target;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use tokio::sync::watch;
use tokio::task::JoinSet;

use client::Client;
use frontend_map_catalog::changes::log::ChangeLog;
use frontend_map_fleet::positions::{SharedPosition, SharedPositions};
use frontend_map_platform::http_client::{BuildError, LookUp};
use frontend_map_platform::metrics::NotifyCounters;
use frontend_map_store::Store;
pub use indexnow::{BadKey as BadIndexNowKey, IndexNow, Key as IndexNowKey};
pub use message::{ChangesMessage, ChangesOfSite};
use position::Position;
pub use signing_key::{BadKey, SigningKey};
pub use target::{Target, TargetKind, Timing};
use worker::Worker;

/// The most changes that wait for a target; more are replaced by a reset.
pub const MAX_WAITING: u64 = 100_000;

/// The state of a target, for metrics.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetState {
    /// As in [`Target::name`].
    pub name: String,
    /// How many changes wait, including those that the target does not get.
    pub waiting: u64,
    /// Whether a request is retried, or a reset is pending.
    pub is_failing: bool,
}

/// The webhooks of a process. They survive a reload of the settings.
pub struct Notifier {
    targets: watch::Sender<Vec<Arc<Target>>>,
    /// By target and site, once its worker runs. `None`: this process alone sends.
    positions: Mutex<FxHashMap<String, Option<Arc<SharedPosition>>>>,
    /// By target and site.
    progress: Mutex<FxHashMap<String, Progress>>,
    log: Arc<ChangeLog>,
    counters: Arc<NotifyCounters>,
}

/// How far the changes of a site have been sent to a target.
#[derive(Clone, Copy, Debug)]
struct Progress {
    position: Position,
    /// The generation of the logs for which it was loaded; `None`: not loaded yet.
    generation: Option<u64>,
}

impl Notifier {
    /// Without targets.
    pub fn new(log: Arc<ChangeLog>, counters: Arc<NotifyCounters>) -> Self {
        let targets = watch::Sender::new(Vec::new());
        Self { targets, positions: Mutex::default(), progress: Mutex::default(), log, counters }
    }

    /// Sets the targets. A target with the same URL as before keeps its position. The same targets as
    /// before keep their requests in flight and their pauses, too.
    pub fn set_targets(&self, targets: Vec<Arc<Target>>) {
        self.targets.send_if_modified(|present| {
            let is_changed = *present != targets;
            *present = targets;
            is_changed
        });
    }

    /// The states of all targets. An instance that does not send knows of no change that waits.
    pub fn states(&self) -> Vec<TargetState> {
        let positions = self.positions.lock();
        let progress = self.progress.lock();
        let state = |target: &Arc<Target>| {
            let of_sites = target.sites.iter().filter_map(|site| {
                let key = position::key(target, site);
                let shared = positions.get(&key).and_then(Option::as_ref);
                let sends = shared.is_none_or(|shared| shared.is_sender());
                let position = progress.get(&key).filter(|_| sends)?.position;
                let waiting = self.log.waiting(site, position.cursor);
                // The number is not known if the log no longer has all of them.
                Some((waiting.unwrap_or(MAX_WAITING), position.failing_since.is_some()))
            });
            let add = |(sum, any), (waiting, is_failing)| (sum + waiting, any | is_failing);
            let (waiting, is_failing) = of_sites.fold((0, false), add);
            TargetState { name: target.name.clone(), waiting, is_failing }
        };
        self.targets.borrow().iter().map(state).collect()
    }

    /// Sends changes until it is dropped. The positions are kept in the store, if there is one, or in Redis
    /// that several instances share: then the holder of the lease of a target and a site sends.
    ///
    /// # Errors
    /// [`BuildError`] when TLS cannot be set up.
    pub async fn run(
        self: Arc<Self>,
        store: Arc<Store>,
        shared: Option<SharedPositions>,
        look_up: LookUp,
        timing: Timing,
    ) -> Result<(), BuildError> {
        let client = Client::new(look_up, timing)?;
        let mut changed = self.targets.subscribe();
        loop {
            let targets = changed.borrow_and_update().clone();
            let mut workers = JoinSet::new();
            let mut all = FxHashMap::default();
            for target in &targets {
                for site in &target.sites {
                    let key = position::key(target, site);
                    if all.contains_key(&key) {
                        // The settings name the site twice.
                        continue;
                    }
                    let id = position::target_id(target);
                    let shared = shared.as_ref().map(|shared| Arc::new(shared.of(&id, site)));
                    all.insert(key, shared.clone());
                    let worker = Worker {
                        notifier: Arc::clone(&self),
                        store: Arc::clone(&store),
                        shared,
                        epoch: AtomicU64::new(0),
                        client: client.clone(),
                        target: Arc::clone(target),
                        site: site.clone(),
                        timing,
                    };
                    workers.spawn(worker.run());
                }
            }
            // The leases of targets and sites that stay are not released in between.
            *self.positions.lock() = all;
            tokio::select! {
                // The channel stays open as long as this.
                _ = changed.changed() => {}
                // The panic hook has logged it; the others begin again, too.
                () = until_panic(&mut workers) => tokio::time::sleep(timing.first_pause).await,
            }
        }
    }
}

async fn until_panic(workers: &mut JoinSet<()>) {
    match workers.join_next().await {
        Some(_) => {}
        None => std::future::pending().await,
    }
}

#[cfg(test)]
mod tests;

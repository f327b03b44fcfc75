//! The runs that are in flight, queued or reusable, with the number of their subscriptions.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::Notify;
use tokio::task::AbortHandle;

use crate::checks::runs::run::Run;
use crate::checks::runs::run_key::RunKey;

/// Runs in flight at a time; all of them share the ten requests of the process.
pub(super) const MAX_RUNNING: usize = 2;
/// Runs that wait in the queue. A longer queue would take hours.
const MAX_QUEUED: usize = 8;

/// A run and its task.
pub(super) struct Entry {
    pub(super) run: Arc<Run>,
    pub(super) subscriptions: usize,
    pub(super) task: AbortHandle,
    /// Whether this instance checks the URLs.
    pub(super) is_own: bool,
    /// Woken when the last subscription is dropped and other instances may have one.
    pub(super) left: Arc<Notify>,
}

/// All runs of the process.
pub(super) struct Entries {
    by_key: Mutex<HashMap<RunKey, Entry>>,
    is_in_fleet: bool,
}

impl Entries {
    pub(super) fn new(is_in_fleet: bool) -> Self {
        Self { by_key: Mutex::default(), is_in_fleet }
    }

    /// Adds a subscription to the run with this key, or to one that `begin` starts, which learns
    /// whether this instance may check the URLs. `None`: a new run would be needed, and the queue is
    /// full.
    pub(super) fn subscribe(
        &self,
        key: &RunKey,
        reuse: Duration,
        begin: impl FnOnce(bool) -> Entry,
    ) -> Option<Arc<Run>> {
        let mut entries = self.by_key.lock();
        if let Some(run) = join(&mut entries, key, reuse) {
            return Some(run);
        }
        let is_unfinished = |entry: &&Entry| entry.is_own && !entry.run.has_ended();
        let may_own = entries.values().filter(is_unfinished).count() < MAX_RUNNING + MAX_QUEUED;
        if !may_own && !self.is_in_fleet {
            return None;
        }
        let entry = begin(may_own);
        let run = Arc::clone(&entry.run);
        entries.insert(key.clone(), entry);
        Some(run)
    }

    /// Adds a subscription to the run with this key, if there is one.
    pub(super) fn subscribe_to_existing(&self, key: &RunKey, reuse: Duration) -> Option<Arc<Run>> {
        join(&mut self.by_key.lock(), key, reuse)
    }

    /// Drops a subscription. The last one ends the run, unless other instances may need it.
    pub(super) fn unsubscribe(&self, key: &RunKey, run: &Arc<Run>) {
        let mut entries = self.by_key.lock();
        let Some(entry) = entries.get_mut(key).filter(|entry| Arc::ptr_eq(&entry.run, run)) else {
            return;
        };
        entry.subscriptions -= 1;
        if entry.subscriptions > 0 || run.has_ended() {
            return;
        }
        if self.is_in_fleet && entry.is_own {
            entry.left.notify_one();
        } else {
            entry.task.abort();
            entries.remove(key);
        }
    }

    /// Whether this instance has a subscription to the run.
    pub(super) fn is_needed(&self, key: &RunKey, run: &Arc<Run>) -> bool {
        let entries = self.by_key.lock();
        let entry = entries.get(key).filter(|entry| Arc::ptr_eq(&entry.run, run));
        entry.is_some_and(|entry| entry.subscriptions > 0)
    }

    /// Enters whether this instance checks the URLs.
    pub(super) fn set_own(&self, key: &RunKey, run: &Arc<Run>, is_own: bool) {
        let mut entries = self.by_key.lock();
        if let Some(entry) = entries.get_mut(key).filter(|entry| Arc::ptr_eq(&entry.run, run)) {
            entry.is_own = is_own;
        }
    }

    /// Removes a run that no instance needs; false if it has a subscription by now.
    pub(super) fn stop(&self, key: &RunKey, run: &Arc<Run>) -> bool {
        let mut entries = self.by_key.lock();
        let entry = entries.get(key).filter(|entry| Arc::ptr_eq(&entry.run, run));
        let Some(entry) = entry else { return true };
        let is_unneeded = entry.subscriptions == 0;
        if is_unneeded {
            entries.remove(key);
        }
        is_unneeded
    }

    /// Ends the tasks of all runs.
    pub(super) fn stop_all(&self) {
        for (_, entry) in self.by_key.lock().drain() {
            entry.task.abort();
        }
    }

    /// Removes this run, but not a newer one with the same key.
    pub(super) fn remove(&self, key: &RunKey, run: &Arc<Run>) {
        let mut entries = self.by_key.lock();
        if entries.get(key).is_some_and(|entry| Arc::ptr_eq(&entry.run, run)) {
            entries.remove(key);
        }
    }
}

fn join(entries: &mut HashMap<RunKey, Entry>, key: &RunKey, reuse: Duration) -> Option<Arc<Run>> {
    // An expired result stays in the map until its task removes it.
    let is_fresh = |run: &Run| !run.has_ended() || run.age() < reuse;
    let entry = entries.get_mut(key).filter(|entry| is_fresh(&entry.run))?;
    entry.subscriptions += 1;
    Some(Arc::clone(&entry.run))
}

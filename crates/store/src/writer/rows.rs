//! What the thread writes beside snapshots.

use super::Shared;
use crate::changes;
use crate::file::{FileError, StoreFile};
use frontend_map_catalog::moved::history::Mirror;

/// How many rows of the path history one transaction writes.
const MAX_ROWS: usize = 10_000;

impl Shared {
    /// Writes the last runs of URL checks, unless something has failed. Returns what has.
    pub(super) fn write_runs(
        &self,
        file: &StoreFile,
        mut failed: Option<FileError>,
    ) -> Option<FileError> {
        let runs = self.queue.lock().take_runs();
        for (key, bytes) in runs {
            if failed.is_some() {
                self.queue.lock().put_run_back(key, bytes);
                continue;
            }
            match file.write_run(&key, &bytes()) {
                Ok(()) => {
                    self.counters.written.inc();
                    self.slot.is_written();
                }
                Err(error) => {
                    self.counters.failed.inc();
                    self.queue.lock().put_run_back(key, bytes);
                    failed = Some(error);
                }
            }
        }
        failed
    }

    /// Records in memory what the snapshots change that cannot be written now.
    pub(super) fn record_pending(&self) {
        let pending: Vec<_> = self.queue.lock().pending().cloned().collect();
        for stored in &pending {
            changes::record(&self.recorder, stored);
        }
    }

    pub(super) fn write_history(&self, file: &StoreFile) -> Result<(), FileError> {
        loop {
            let changes = self.history.take_changes(Mirror::Store, MAX_ROWS);
            if changes.is_empty() {
                return Ok(());
            }
            file.write_history(&changes)?;
        }
    }

    pub(super) fn remove(&self, file: &StoreFile) -> Result<(), FileError> {
        let removals = self.queue.lock().take_removals();
        let remove = |(site, uid): &(String, String)| {
            let prepared = changes::prepare_removal(&self.recorder, file, site, uid)?;
            file.remove(site, uid, prepared.as_ref(), self.recorder.keep())?;
            if let Some(prepared) = prepared {
                self.recorder.commit(prepared);
            }
            Ok(())
        };
        let removed = removals.iter().try_for_each(remove);
        if removed.is_err() {
            self.queue.lock().put_removals_back(removals);
        }
        removed
    }

    /// Writes the paths that were not found, unless something has failed. Returns what has.
    pub(super) fn write_misses(
        &self,
        file: &StoreFile,
        failed: Option<FileError>,
    ) -> Option<FileError> {
        let misses = self.queue.lock().take_misses();
        if misses.is_empty() {
            return failed;
        }
        let failed = failed.or_else(|| file.write_misses(&misses).err());
        if failed.is_some() {
            self.queue.lock().put_misses_back(misses);
        }
        failed
    }

    /// Writes how far webhooks have been sent, unless something has failed. Returns what has.
    pub(super) fn write_positions(
        &self,
        file: &StoreFile,
        failed: Option<FileError>,
    ) -> Option<FileError> {
        if failed.is_some() {
            return failed;
        }
        let positions = self.queue.lock().take_positions();
        if positions.is_empty() { None } else { file.write_positions(&positions).err() }
    }
}

//! The store: saves and loads, whether there is a file or not.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use tokio::sync::watch;

use crate::changes;
use crate::file::RowKey;
use crate::file_slot::StoreState;
use crate::history_copy::HistoryCopy;
use crate::snapshot_key::SnapshotKey;
use crate::stored_snapshot::{StoredSnapshot, Urgency, read};
use crate::writer::Writer;
use frontend_map_catalog::changes::log::Recorder;
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_catalog::snapshot::{Builder, Snapshot};
use frontend_map_platform::clock::unix_ms;
use frontend_map_platform::metrics::StoreCounters;

/// The store of the process, which survives a reload.
#[derive(Default)]
pub struct Store {
    recorder: Arc<Recorder>,
    /// `None`: snapshots are in memory only.
    writer: Option<Writer>,
}

impl Store {
    /// The store in this file, which is opened at once if that is possible, or one without a file.
    pub fn start(
        path: Option<PathBuf>,
        history: Arc<PathHistory>,
        recorder: Recorder,
        counters: Arc<StoreCounters>,
    ) -> Self {
        let recorder = Arc::new(recorder);
        if path.is_none() {
            tracing::info!(
                "no [store] path is set: after a restart nothing is known until the CMS responds"
            );
        }
        let start = |path| Writer::start(path, history, Arc::clone(&recorder), counters);
        Self { writer: path.map(start), recorder }
    }

    /// The state of the file; `None` without one.
    pub fn state(&self) -> Option<StoreState> {
        self.writer.as_ref().map(|writer| writer.slot.state())
    }

    /// The copy of the path history beside the file. `None` without a file, while another process
    /// has it open, and while it can be read alone.
    pub fn history_copy(&self) -> Option<Arc<HistoryCopy>> {
        self.writer.as_ref()?.slot.history_copy()
    }

    /// How many unreadable files are beside the present one, to which they gave way; `None` without a
    /// file.
    pub fn moved_aside(&self) -> Option<usize> {
        self.writer.as_ref().map(|writer| writer.slot.moved_aside())
    }

    /// Changes whenever the file has been opened.
    pub fn watch_openings(&self) -> Option<watch::Receiver<u64>> {
        self.writer.as_ref().map(|writer| writer.slot.watch_openings())
    }

    /// Stores a snapshot, and drops those of the same site and content type by other rules. It is
    /// complete: the result of a walk with the incremental updates since. The change log gets what it has
    /// changed.
    pub fn save(&self, snapshot: StoredSnapshot<Arc<Snapshot>>, urgency: Urgency) {
        match &self.writer {
            Some(writer) => writer.save(snapshot, urgency),
            None => changes::record(&self.recorder, &snapshot),
        }
    }

    /// The stored snapshots of a content type of a site, built by any rules. Left out, with a line in
    /// the log, are unreadable ones and those whose age is unknown because the clock was set back.
    pub fn load(&self, site: &str, uid: &str, builder: Builder) -> Vec<StoredSnapshot<Snapshot>> {
        let Some(writer) = &self.writer else { return Vec::new() };
        let found = writer.read(|file| file.snapshots(site, uid)).into_iter();
        found.filter_map(|found| read(&found.bytes, found.written, site, uid, builder)).collect()
    }

    /// A snapshot that [`Self::load`] has returned will be in use.
    pub fn adopt(&self, key: &SnapshotKey, snapshot: &Arc<Snapshot>) {
        if self.writer.is_some() {
            changes::adopt(&self.recorder, key, snapshot);
        }
    }

    /// The content types of a site of which there are snapshots.
    pub fn types(&self, site: &str) -> BTreeSet<String> {
        let Some(writer) = &self.writer else { return BTreeSet::new() };
        writer.read(|file| file.types(site))
    }

    /// Stores a row in place of the one before it. `serialize` is called when it is written, in another
    /// thread.
    pub fn save_row(&self, row: RowKey, serialize: impl Fn() -> Vec<u8> + Send + Sync + 'static) {
        if let Some(writer) = &self.writer {
            writer.save_row(row, Arc::new(serialize));
        }
    }

    /// The bytes of a row; `None` if there is none, or if the file cannot be read now.
    pub fn load_row(&self, row: &RowKey) -> Option<Vec<u8>> {
        self.writer.as_ref()?.read(|file| file.row(row))
    }

    /// Whether there is no file, or one that can be read now.
    pub fn is_readable(&self) -> bool {
        self.writer.as_ref().is_none_or(|writer| writer.slot.readable().is_some())
    }

    /// A site has these content types from now on.
    pub fn set_types(&self, site: &str, uids: Vec<String>) {
        self.recorder.set_types(site, uids);
    }

    /// Drops the snapshots and the last run of a content type of a site, after the present changes of
    /// the path history have been written.
    pub fn remove(&self, site: &str, uid: &str) {
        match &self.writer {
            Some(writer) => writer.remove(site, uid),
            None => self.recorder.record(site, uid, None, unix_ms()),
        }
    }

    /// Writes what is left and releases the file, so that another process can open it. Returns after a
    /// few seconds at most, even if the disk hangs.
    pub fn close(&self) {
        if let Some(writer) = &self.writer {
            writer.close();
        }
    }
}

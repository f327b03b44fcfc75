//! The lists of redirects of the settings, until they have been imported.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use parking_lot::Mutex;

use frontend_map_cache::SnapshotCache;
use frontend_map_catalog::moved::import::{
    Import, ImportFile, ListedPaths, Outcome, Reason, listed_paths,
};
use frontend_map_catalog::site::{ResolveBy, Site, Sites};
use frontend_map_rules::Pathname;

/// How many rows that lead nowhere have a line in the log, for each site.
const MAX_LOGGED: u64 = 10;

/// The lists that wait for the content types of sites.
pub struct Imports {
    pending: Mutex<Pending>,
    /// Locked while lists are imported.
    importing: Mutex<()>,
}

struct Pending {
    files: Arc<[ImportFile]>,
    /// The keys of the sites for which they have not been imported, each with the paths that may become
    /// redirects.
    sites: Vec<(String, ListedPaths)>,
}

impl Imports {
    /// Lists for all sites with a path history.
    pub fn new(files: Vec<ImportFile>, sites: &Sites) -> Self {
        let with_history = sites.iter().filter(|site| site.resolve == ResolveBy::Documents);
        let waiting = with_history.filter(|_| !files.is_empty());
        let sites = waiting.map(|site| (site.key.clone(), listed_paths(&files, site))).collect();
        let pending = Mutex::new(Pending { files: files.into(), sites });
        Self { pending, importing: Mutex::default() }
    }

    /// Whether a path of a site is in a list that has not been imported.
    pub fn may_redirect(&self, site: &Site, pathname: &Pathname<'_>) -> bool {
        let pending = self.pending.lock();
        let paths = pending.sites.iter().find(|(key, _)| *key == site.key);
        paths.is_some_and(|(_, paths)| paths.have(&pathname.normalized()))
    }

    /// Whether any site waits.
    pub fn are_pending(&self) -> bool {
        !self.pending.lock().sites.is_empty()
    }

    /// Imports the lists for each site whose content types are all known. Takes seconds for a million
    /// rows.
    pub fn run(&self, sites: &Sites, snapshots: &SnapshotCache) {
        let _importing = self.importing.lock();
        let (files, keys): (_, Vec<String>) = {
            let pending = self.pending.lock();
            let keys = pending.sites.iter().map(|(key, _)| key.clone());
            (Arc::clone(&pending.files), keys.collect())
        };
        for key in keys {
            let Some(site) = sites.get(&key) else { continue };
            if import(&files, site, snapshots) {
                self.pending.lock().sites.retain(|(own, _)| *own != key);
            }
        }
        let mut pending = self.pending.lock();
        if pending.sites.is_empty() {
            // The rows are in the history, and their texts take much memory.
            pending.files = Arc::new([]);
        }
    }
}

/// Imports the lists for a site. False: not all of its content types are known.
fn import(files: &[ImportFile], site: &Site, snapshots: &SnapshotCache) -> bool {
    let (Some(state), Some(history)) = (snapshots.path_index(site), snapshots.history(site)) else {
        return true;
    };
    if !state.index.knows_all_types() {
        return false;
    }
    let started = Instant::now();
    let import = Import { files, site, index: &state.index, history };
    let (mut found, mut new, mut left_out) = (0_u64, 0_u64, BTreeMap::<Reason, u64>::new());
    import.resolve(history.now, |outcome| match outcome {
        Outcome::Row(row) => {
            found += 1;
            new += u64::from(history.history.import(&row, history.now));
        }
        Outcome::LeftOut(row) => {
            *left_out.entry(row.reason).or_default() += 1;
            if left_out.values().sum::<u64>() <= MAX_LOGGED {
                let (site, file, line) = (&site.key, row.file, row.line);
                let reason = row.reason.word();
                tracing::warn!(site, file, line, reason, "a redirect is not imported");
            }
        }
    });
    let site = &site.key;
    for (reason, rows) in &left_out {
        let reason = reason.word();
        tracing::warn!(site, reason, rows, "redirects are not imported");
    }
    let milliseconds = started.elapsed().as_millis();
    tracing::info!(site, rows = found, new, milliseconds, "redirects are imported");
    true
}

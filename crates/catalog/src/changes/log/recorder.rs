//! Compares each snapshot with the one before it, and makes changes of the differences.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use super::ChangeLog;
use super::baseline::Baseline;
use super::entry::Entry;
use super::site_log::{Batch, LogHead};

/// What was found in the file as the snapshot of a content type.
#[derive(Debug)]
pub enum Loaded {
    /// This one.
    Baseline(Box<Baseline>),
    /// None.
    Nothing,
    /// One that cannot be read.
    Unreadable,
}

/// Changes that are to be written, and the snapshot that made them.
#[derive(Debug)]
pub struct Prepared {
    key: TypeKey,
    after: Option<Baseline>,
    head: LogHead,
    batch: Batch,
}

/// The key of a site, and a content type.
type TypeKey = (String, String);

/// The last snapshot of each content type of each site that the log knows.
#[derive(Debug, Default)]
pub struct Recorder {
    log: Arc<ChangeLog>,
    /// Whether others record the changes.
    is_idle: bool,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    baselines: HashMap<TypeKey, Baseline>,
    /// The content types of each site.
    types: HashMap<String, Vec<String>>,
    /// The content types that a site had when its log was loaded, until the log has a snapshot of them.
    first_types: HashSet<TypeKey>,
    /// Content types that a site had when its log began, and that have no snapshot yet: their pages existed
    /// before, although they are not known.
    expected: HashSet<TypeKey>,
}

impl Recorder {
    /// A recorder for this log.
    pub fn new(log: Arc<ChangeLog>) -> Self {
        Self { log, is_idle: false, state: Mutex::default() }
    }

    /// One that records nothing, because the instances of a fleet have one log in Redis that they
    /// share.
    pub fn idle(log: Arc<ChangeLog>) -> Self {
        Self { log, is_idle: true, state: Mutex::default() }
    }

    /// Whether it records nothing: logs in a file end, because later snapshots in it have no changes there.
    pub fn is_idle(&self) -> bool {
        self.is_idle
    }

    /// The site has these content types from now on.
    pub fn set_types(&self, site: &str, uids: Vec<String>) {
        if self.is_idle {
            return;
        }
        let state = &mut *self.state.lock();
        let is_first = state.types.insert(site.to_owned(), uids).is_none();
        if is_first {
            state.first_types.extend(state.keys(site));
        }
        if is_first && !self.log.has(site) {
            state.expect_all(site);
        }
    }

    /// Records a snapshot in memory alone; `None`: the content type has no pages any more.
    pub fn record(&self, site: &str, uid: &str, after: Option<Baseline>, now: i64) {
        if self.is_idle {
            return;
        }
        let state = &mut *self.state.lock();
        let key = (site.to_owned(), uid.to_owned());
        let before = state.baselines.get(&key).cloned();
        if before.is_none() && state.may_have_had_pages(&key) {
            self.begin_again(state, site);
        }
        let Some((head, batch)) = self.compare(state, &key, before, after.as_ref(), now) else {
            return;
        };
        self.log.append(site, head.source, batch, false);
        state.set_baseline(key, after);
    }

    /// The changes that a snapshot makes, to be written with it; for `after`, `None` says that the content
    /// type has no pages any more. `load` reads the previous snapshot from the file; if it is unreadable or
    /// missing, a new log begins. It may be missing for a content type that the site has got later.
    ///
    /// # Errors
    /// The error of `load`.
    pub fn prepare<E>(
        &self,
        site: &str,
        uid: &str,
        after: Option<Baseline>,
        now: i64,
        load: impl FnOnce() -> Result<Loaded, E>,
    ) -> Result<Option<Prepared>, E> {
        if self.is_idle {
            return Ok(None);
        }
        let state = &mut *self.state.lock();
        let key = (site.to_owned(), uid.to_owned());
        if !state.baselines.contains_key(&key) {
            match load()? {
                // It is kept, because the write may fail: `record` cannot load it then.
                Loaded::Baseline(found) => state.set_baseline(key.clone(), Some(*found)),
                Loaded::Nothing if !state.may_have_had_pages(&key) => {}
                Loaded::Nothing | Loaded::Unreadable => self.begin_again(state, site),
            }
        }
        let before = state.baselines.get(&key).cloned();
        let compared = self.compare(state, &key, before, after.as_ref(), now);
        Ok(compared.map(|(head, batch)| Prepared { key, after, head, batch }))
    }

    /// Adds changes to the log in memory after they have been written to the file.
    pub fn commit(&self, prepared: Prepared) {
        let Prepared { key, after, head, batch } = prepared;
        let mut state = self.state.lock();
        self.log.append(&key.0, head.source, batch, true);
        state.set_baseline(key, after);
    }

    /// The pages of a content type are those of a snapshot in the file from now on: the next snapshot is
    /// compared with it, unless one has been recorded.
    pub fn adopt(&self, site: &str, uid: &str, baseline: Baseline) {
        if self.is_idle {
            return;
        }
        let state = &mut *self.state.lock();
        let key = (site.to_owned(), uid.to_owned());
        if !state.baselines.contains_key(&key) {
            state.set_baseline(key, Some(baseline));
        }
    }

    /// Goes on with the logs in memory after a failure of the file, which has logs with these heads: one
    /// that has other changes gives its sequence numbers to no more of them.
    pub fn resume(&self, heads: impl IntoIterator<Item = (String, LogHead)>) {
        self.log.resume(&heads.into_iter().collect());
    }

    /// Continues the logs of a file, each with its entries; the next snapshots are compared with those in
    /// the file.
    pub fn replace_all(&self, logs: impl IntoIterator<Item = (String, LogHead, VecDeque<Entry>)>) {
        let state = &mut *self.state.lock();
        state.baselines.clear();
        state.expected.clear();
        self.log.replace_all(logs);
        let sites: Vec<String> = state.types.keys().cloned().collect();
        for site in &sites {
            state.first_types.extend(state.keys(site));
        }
        let without = sites.iter().filter(|site| !self.log.has(site));
        without.for_each(|site| state.expect_all(site));
    }

    /// The next snapshots of a site are compared with these, by content type; those of its other content
    /// types are no change.
    pub fn rebase(&self, site: &str, baselines: impl IntoIterator<Item = (String, Baseline)>) {
        let state = &mut *self.state.lock();
        state.expect_all(site);
        for (uid, baseline) in baselines {
            state.set_baseline((site.to_owned(), uid), Some(baseline));
        }
    }

    /// Begins a new log for a site, because it is not known what the next snapshot of a content type has
    /// changed.
    fn begin_again(&self, state: &mut State, site: &str) {
        self.log.restart(site);
        let unknown = |key: &TypeKey| !state.baselines.contains_key(key);
        let expected: Vec<_> = state.keys(site).into_iter().filter(unknown).collect();
        state.expected.extend(expected);
    }

    /// How many changes of each site are kept.
    pub fn keep(&self) -> usize {
        self.log.keep()
    }

    /// The changes between two snapshots, and the head of the log before them. The first snapshot of a
    /// content type is no change, unless the content type was added to the site after its log began. `None`:
    /// there is nothing to compare.
    fn compare(
        &self,
        state: &mut State,
        key: &TypeKey,
        before: Option<Baseline>,
        after: Option<&Baseline>,
        now: i64,
    ) -> Option<(LogHead, Batch)> {
        let emptied = before.as_ref().map(Baseline::emptied);
        let after = after.or(emptied.as_ref())?;
        let head = self.log.head(&key.0, after.source).unwrap_or_else(|| {
            // The log of another source has ended.
            self.log.restart(&key.0);
            state.expect_all(&key.0);
            self.log.head(&key.0, after.source).expect("a new log is of any source")
        });
        let before = before.filter(|before| before.source == after.source);
        let before = match before {
            Some(before) => before,
            None if state.expected.contains(key) => return Some((head, Batch::default())),
            None => after.emptied(),
        };
        let batch = before.changes_to(&key.1, after, now, self.log.keep());
        Some((head, batch))
    }
}

impl State {
    /// The next snapshot of each content type of a site is no change.
    fn expect_all(&mut self, site: &str) {
        self.baselines.retain(|(key, _), _| key != site);
        self.expected.extend(self.keys(site));
    }

    fn keys(&self, site: &str) -> Vec<TypeKey> {
        let uids = self.types.get(site).into_iter().flatten();
        uids.map(|uid| (site.to_owned(), uid.clone())).collect()
    }

    /// Whether readers may have seen pages of a content type of which the file has no snapshot: a process
    /// may have ended before it had stored one.
    fn may_have_had_pages(&self, key: &TypeKey) -> bool {
        self.first_types.contains(key) && !self.expected.contains(key)
    }

    /// Sets the snapshot with which the next one of a content type is compared.
    fn set_baseline(&mut self, key: TypeKey, snapshot: Option<Baseline>) {
        self.expected.remove(&key);
        self.first_types.remove(&key);
        match snapshot {
            Some(snapshot) => _ = self.baselines.insert(key, snapshot),
            None => _ = self.baselines.remove(&key),
        }
    }
}

impl Prepared {
    /// The key of the site.
    pub fn site(&self) -> &str {
        &self.key.0
    }

    /// The head of the log before these changes.
    pub fn head(&self) -> LogHead {
        self.head
    }

    /// The changes.
    pub fn batch(&self) -> &Batch {
        &self.batch
    }
}

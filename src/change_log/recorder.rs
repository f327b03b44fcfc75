//! Compares each snapshot with the one before it, and makes changes of the differences.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use parking_lot::Mutex;

use super::ChangeLog;
use super::entry::{Change, Entry, Kind};
use super::site_log::{Batch, LogHead};
use crate::path_changes::{self, Difference, LocaleNames, Side};
use crate::snapshot::{PublicUrl, Snapshot};

/// A snapshot of a content type with which the next one is compared.
#[derive(Clone, Debug)]
pub struct Baseline {
    /// The pages.
    pub snapshot: Arc<Snapshot>,
    /// The locales of the site by whose settings it was built.
    pub locales: LocaleNames,
    /// The fingerprint of these settings.
    pub fingerprint: u128,
    /// What distinguishes the CMS of the documents from others.
    pub source: u128,
    /// Whether it is from the store, where titles are left out.
    pub is_stored: bool,
}

/// What a file has as the snapshot of a content type.
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
    baselines: Mutex<HashMap<TypeKey, Baseline>>,
}

impl Recorder {
    /// A recorder for this log.
    #[must_use]
    pub fn new(log: Arc<ChangeLog>) -> Self {
        Self { log, baselines: Mutex::default() }
    }

    /// Records a snapshot in memory alone; `None`: the content type has no pages any more.
    pub fn record(&self, site: &str, uid: &str, after: Option<Baseline>, now: i64) {
        let mut baselines = self.baselines.lock();
        let key = (site.to_owned(), uid.to_owned());
        let before = baselines.remove(&key);
        let Some(compared) = after.clone().or_else(|| before.as_ref().map(Baseline::emptied))
        else {
            return;
        };
        // Before the comparison: another source ends the log, and with it what its readers know.
        self.log.head(site, compared.source);
        let batch = self.compare(site, uid, before.as_ref(), &compared, now);
        self.log.append(site, compared.source, batch, false);
        if let Some(after) = after {
            baselines.insert(key, after);
        }
    }

    /// The changes that a snapshot makes, to be written with it; `None` as its content type has no pages any
    /// more. `load` gets the snapshot from before out of the file; if it cannot be read, the log begins
    /// again.
    pub fn prepare<E>(
        &self,
        site: &str,
        uid: &str,
        after: Option<Baseline>,
        now: i64,
        load: impl FnOnce() -> Result<Loaded, E>,
    ) -> Result<Option<Prepared>, E> {
        let key = (site.to_owned(), uid.to_owned());
        let known = self.baselines.lock().get(&key).cloned();
        let before = match known {
            Some(known) => Some(known),
            None => match load()? {
                Loaded::Baseline(found) => Some(*found),
                Loaded::Nothing => None,
                Loaded::Unreadable => {
                    self.log.cut(site);
                    None
                }
            },
        };
        let Some(compared) = after.clone().or_else(|| before.as_ref().map(Baseline::emptied))
        else {
            return Ok(None);
        };
        let head = self.log.head(site, compared.source);
        let batch = self.compare(site, uid, before.as_ref(), &compared, now);
        Ok(Some(Prepared { key, after, head, batch }))
    }

    /// The file has these changes.
    pub fn commit(&self, prepared: Prepared) {
        let Prepared { key, after, head, batch } = prepared;
        let mut baselines = self.baselines.lock();
        self.log.append(&key.0, head.source, batch, true);
        match after {
            Some(after) => _ = baselines.insert(key, after),
            None => _ = baselines.remove(&key),
        }
    }

    /// Goes on with the logs of a file, each with its entries, and with the snapshots in it.
    pub fn adopt(&self, logs: impl IntoIterator<Item = (String, LogHead, VecDeque<Entry>)>) {
        let mut baselines = self.baselines.lock();
        baselines.clear();
        self.log.adopt(logs);
    }

    /// How many changes of each site are kept.
    #[must_use]
    pub fn keep(&self) -> usize {
        self.log.keep()
    }

    /// The changes between two snapshots. The first snapshot of a content type is no change, unless a
    /// reader may know the pages of the site from before.
    fn compare(
        &self,
        site: &str,
        uid: &str,
        before: Option<&Baseline>,
        after: &Baseline,
        now: i64,
    ) -> Batch {
        let (keep, empty) = (self.log.keep(), Snapshot::default());
        let mut batch = Batch::default();
        let difference = match before {
            Some(before) if Arc::ptr_eq(&before.snapshot, &after.snapshot) => return batch,
            Some(before) if before.source == after.source => before.difference(after),
            _ if self.log.is_read(site) => Difference::of_rules(
                Side { snapshot: &empty, locales: &after.locales },
                after.side(),
            ),
            _ => return batch,
        };
        let entries = Entries::new(uid, &difference);
        for change in difference.all() {
            batch.push(entries.entry(change, now), keep);
        }
        batch
    }
}

impl Prepared {
    /// The key of the site.
    #[must_use]
    pub fn site(&self) -> &str {
        &self.key.0
    }

    /// The head of the log before these changes.
    #[must_use]
    pub fn head(&self) -> LogHead {
        self.head
    }

    /// The changes.
    #[must_use]
    pub fn batch(&self) -> &Batch {
        &self.batch
    }
}

impl Baseline {
    /// The same without pages.
    fn emptied(&self) -> Self {
        Self { snapshot: Arc::default(), ..self.clone() }
    }

    fn side(&self) -> Side<'_> {
        Side { snapshot: &self.snapshot, locales: &self.locales }
    }

    fn difference<'s>(&'s self, after: &'s Self) -> Difference<'s> {
        let difference = if self.fingerprint == after.fingerprint {
            Difference::of_edits(&self.snapshot, after.side())
        } else {
            Difference::of_rules(self.side(), after.side())
        };
        // Other rules may have another title field.
        let is_comparable = !self.is_stored && self.fingerprint == after.fingerprint;
        if is_comparable { difference } else { difference.without_titles() }
    }
}

/// Makes entries of the changes of one difference, which share their names.
struct Entries<'d, 's> {
    uid: Arc<str>,
    /// For the locales of each side, in their order.
    locales_before: Vec<Arc<str>>,
    locales_after: Vec<Arc<str>>,
    difference: &'d Difference<'s>,
}

impl<'d, 's> Entries<'d, 's> {
    fn new(uid: &str, difference: &'d Difference<'s>) -> Self {
        let names = |side: Side<'_>| -> Vec<Arc<str>> {
            (0..side.locales.count()).map(|at| side.locales.code(at).into()).collect()
        };
        Self {
            uid: uid.into(),
            locales_before: names(difference.before()),
            locales_after: names(difference.after()),
            difference,
        }
    }

    fn entry(&self, change: path_changes::Change<'s>, now: i64) -> Entry {
        let (kind, before, url) = match change {
            path_changes::Change::Added(after) => (Kind::Added, None, after),
            path_changes::Change::Gone(before) => (Kind::Gone, Some(before), before),
            path_changes::Change::Moved { before, after } => (Kind::Moved, Some(before), after),
            path_changes::Change::Updated(after) => {
                (Kind::Updated, self.difference.before_of(after), after)
            }
        };
        let names = if kind == Kind::Gone { &self.locales_before } else { &self.locales_after };
        let locale = &names[url.locale()];
        let change = Change {
            kind,
            uid: &self.uid,
            document_id: url.document_id(),
            locale,
            path: url.path(),
            from: before.filter(|_| kind == Kind::Moved).map(PublicUrl::path),
            at: now,
            was_listed: before.is_some_and(PublicUrl::is_listed),
            is_listed: kind != Kind::Gone && url.is_listed(),
        };
        Entry::new(change, &self.uid, locale)
    }
}

//! Decides from the log in Redis what a publication does to it.

use std::sync::Arc;
use std::time::Duration;

use super::SharedChanges;
use super::fields::{self, BaseValue, LAST, LOG, LastValue, LogValue, base_field};
use crate::redis;
use frontend_map_catalog::changes::log::Cursor;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_store::SnapshotKey;

/// The time limit of a read of the head of a log.
const READ_WITHIN: Duration = Duration::from_secs(2);

/// A version of a snapshot that is to be published.
#[derive(Clone, Debug)]
pub struct SnapshotReplacement {
    /// What it is a snapshot of.
    pub key: SnapshotKey,
    /// What decides the content of the site whose snapshot it is.
    pub content: u128,
    /// The id of the shared snapshot.
    pub snapshot_id: String,
    /// The key of the leader's lease, with Redis's prefix.
    pub lease_key: String,
    /// The position and the snapshot of the version that is published now; `None`: there is none,
    /// or it cannot be used.
    pub before: Option<(String, Arc<Snapshot>)>,
    /// The position of the version, which no other version of the snapshot has.
    pub position: String,
    /// The snapshot of the version.
    pub after: Arc<Snapshot>,
}

/// The sealed fields of the head of a log before a publication.
pub(super) struct Known {
    /// What this instance had read of the log before it asked for them: it may read more meanwhile.
    read: Cursor,
    pub(super) log: Option<Vec<u8>>,
    pub(super) last: Option<Vec<u8>>,
    pub(super) base: Option<Vec<u8>>,
}

/// What a publication does to the log.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Plan {
    /// No change: the log belongs to instances with other settings. It begins again when none of them has
    /// been there for some time ([`SharedChanges::check_abandoned`]).
    Nothing,
    /// The changes since this snapshot are appended after the change `last`.
    Append { log: u64, last: u64, since: Since },
    /// The log cannot be continued, for this reason: it begins again, and readers get a reset.
    Restart(&'static str),
}

/// The snapshot with which the new one is compared.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Since {
    /// The version that is published now.
    Published,
    /// No pages: the content type is new.
    NoPages,
    /// The new snapshot itself, which makes no changes: its pages were there before.
    Itself,
}

/// What the log in Redis says, opened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum LogState {
    /// There is none, for this reason.
    Missing(&'static str),
    /// A part of it is damaged, or forged: which one.
    Damaged(&'static str),
    /// It can be used.
    Usable {
        log: LogValue,
        /// The sequence number of its last change.
        last: u64,
        /// What it has of the content type; `None`: nothing.
        base: Option<BaseValue>,
    },
}

/// The inputs of [`decide`] beside the log.
#[derive(Clone, Copy, Debug)]
pub(crate) struct PublicationContext<'v> {
    /// The content type of the snapshot.
    pub(crate) uid: &'v str,
    /// The key of the publisher's lease.
    pub(crate) lease: &'v str,
    /// The position of the version that is published now; `None`: there is none, or it cannot be used.
    pub(crate) before: Option<&'v str>,
    /// The sequence number of the last change of this log that this instance has read.
    pub(crate) read: Option<u64>,
}

/// Decides what a publication does to the log.
pub(crate) fn decide(context: &PublicationContext<'_>, state: LogState) -> Plan {
    let PublicationContext { uid, lease, before, read } = *context;
    let (log, last, base) = match state {
        LogState::Missing(reason) | LogState::Damaged(reason) => return Plan::Restart(reason),
        LogState::Usable { log, last, base } => (log, last, base),
    };
    if read.is_some_and(|read| read > last) {
        return Plan::Restart("Redis has lost changes");
    }
    if log.lease != lease {
        return Plan::Nothing;
    }
    let append = |since| Plan::Append { log: log.log, last, since };
    match (base, before) {
        (None, Some(_)) => append(Since::Published),
        (None, None) if log.types.iter().any(|known| known == uid) => append(Since::Itself),
        (None, None) => append(Since::NoPages),
        (Some(base), Some(before)) if base.position == before => append(Since::Published),
        (Some(_), _) => Plan::Restart("it ends with another version"),
    }
}

impl SharedChanges {
    pub(super) async fn known(&self, version: &SnapshotReplacement) -> Result<Known, redis::Error> {
        let read = self.log.present(&version.key.site);
        let [log_key, _] = self.keys(&version.key.site);
        let base = base_field(&version.key.content_type);
        let names = [LOG, LAST, &base];
        let [log, last, base] =
            self.redis.fields(&log_key, names, fields::MAX_BYTES, READ_WITHIN).await?;
        Ok(Known { read, log, last, base })
    }

    /// What a publication does to the log; `None`: the snapshot is from before a reload of the settings,
    /// and is not published, because the log would lack its version.
    pub(super) fn plan(&self, version: &SnapshotReplacement, known: &Known) -> Option<Plan> {
        let (site, state) = (&version.key.site, self.open(version, known));
        if self.content_of(site) != version.content {
            return None;
        }
        let read = match &state {
            LogState::Usable { log, .. } => {
                (known.read.log == log.log).then_some(known.read.sequence)
            }
            LogState::Missing(_) | LogState::Damaged(_) => None,
        };
        let context = PublicationContext {
            uid: &version.key.content_type,
            lease: &version.lease_key,
            before: version.before.as_ref().map(|(at, _)| at.as_str()),
            read,
        };
        Some(decide(&context, state))
    }

    /// Opens the sealed fields of the head of a log.
    fn open(&self, version: &SnapshotReplacement, known: &Known) -> LogState {
        let (site, uid) = (&version.key.site, &version.key.content_type);
        let Some(sealed) = &known.log else { return LogState::Missing(self.why_missing(site)) };
        let Some(log) = fields::open::<LogValue>(&self.redis, site, LOG, sealed) else {
            return LogState::Damaged("its head is damaged");
        };
        let last = known.last.as_ref();
        let last = last.and_then(|sealed| fields::open(&self.redis, site, LAST, sealed));
        let Some(LastValue { last, .. }) = last.filter(|last: &LastValue| last.log == log.log)
        else {
            return LogState::Damaged("its end is damaged");
        };
        let Some(sealed) = &known.base else { return LogState::Usable { log, last, base: None } };
        let base = fields::open(&self.redis, site, &base_field(uid), sealed);
        match base.filter(|base: &BaseValue| base.log == log.log) {
            Some(base) => LogState::Usable { log, last, base: Some(base) },
            None => LogState::Damaged("its base is damaged"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const UID: &str = "api::a.a";

    fn usable(types: &[&str], base: Option<&str>) -> LogState {
        let types = types.iter().map(|uid| (*uid).to_owned()).collect();
        let base = base.map(|position| BaseValue { log: 5, position: position.to_owned() });
        LogState::Usable { log: LogValue { log: 5, types, lease: "own".to_owned() }, last: 9, base }
    }

    const CONTEXT: PublicationContext<'static> =
        PublicationContext { uid: UID, lease: "own", before: Some("1-2"), read: None };

    #[test]
    fn changes_since_the_version_of_the_log_are_appended_and_any_other_log_begins_again() {
        let append = |since| Plan::Append { log: 5, last: 9, since };
        let other_version = Plan::Restart("it ends with another version");
        let first = PublicationContext { before: None, ..CONTEXT };
        let read = |read| PublicationContext { read: Some(read), ..CONTEXT };
        for (context, state, expected) in [
            (read(9), usable(&[UID], Some("1-2")), append(Since::Published)),
            (CONTEXT, usable(&[UID], Some("1-2")), append(Since::Published)),
            (CONTEXT, usable(&[], None), append(Since::Published)),
            (first, usable(&[UID], None), append(Since::Itself)),
            (first, usable(&["api::b.b"], None), append(Since::NoPages)),
            (CONTEXT, usable(&[UID], Some("1-1")), other_version),
            (first, usable(&[UID], Some("1-2")), Plan::Restart("it ends with another version")),
            (read(10), usable(&[UID], Some("1-2")), Plan::Restart("Redis has lost changes")),
            (CONTEXT, LogState::Missing("none"), Plan::Restart("none")),
            (CONTEXT, LogState::Damaged("damaged"), Plan::Restart("damaged")),
        ] {
            assert_eq!(decide(&context, state.clone()), expected, "{context:?} {state:?}");
        }
    }

    #[test]
    fn publication_does_not_change_the_log_of_other_settings() {
        let context = PublicationContext { lease: "other", ..CONTEXT };
        assert_eq!(decide(&context, usable(&[UID], Some("1-2"))), Plan::Nothing);
    }
}

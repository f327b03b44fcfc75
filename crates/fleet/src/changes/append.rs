//! The changes that belong to a publication of a snapshot. They are prepared before it and appended
//! by its script, so that Redis gets both the version and its changes, or neither.

use std::sync::Arc;
use std::time::Duration;

use tokio::task::spawn_blocking;

use super::SharedChanges;
use super::begin::log_begin;
use super::fields::{self, BaseValue, LAST, LOG, LastValue, base_field};
use super::plan::{Known, Plan, Since, SnapshotReplacement};
use crate::redis::{self, Argument};
use frontend_map_catalog::changes::log::{Baseline, Batch, EncodedPart, Origin, encode};
use frontend_map_platform::clock::unix_ms;
use frontend_map_store::SnapshotKey;

/// How long a log stays after the last publication of a snapshot of its site.
pub(super) const LOG_TTL: Duration = Duration::from_hours(30 * 24);

/// The keys and arguments by which the publication's script writes the change log of the site.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangeAppend {
    /// The keys of the log's head and of its stream.
    pub keys: [String; 2],
    /// The last arguments of the script; how many there are depends on the changes.
    pub arguments: Vec<Argument>,
}

impl SharedChanges {
    /// Prepares the changes that belong to the publication of a version; `None`: the version is from
    /// before a reload of the settings, and must not be published.
    ///
    /// # Errors
    /// [`redis::Error`] if the log cannot be read: the version must not be published then.
    ///
    /// # Panics
    /// If the comparison of the snapshots panics.
    pub async fn prepare(
        &self,
        version: SnapshotReplacement,
    ) -> Result<Option<ChangeAppend>, redis::Error> {
        let known = self.known(&version).await?;
        let Some(plan) = self.plan(&version, &known) else { return Ok(None) };
        let changes = self.clone();
        // The comparison takes time in proportion to the snapshots.
        let prepared = spawn_blocking(move || changes.carry_out(plan, &version, known)).await;
        Ok(Some(prepared.expect("it is not cancelled, and a panic of it is one of this task")))
    }

    /// Compares the snapshots, and builds the arguments of the script.
    fn carry_out(&self, plan: Plan, version: &SnapshotReplacement, known: Known) -> ChangeAppend {
        let keys = self.keys(&version.key.site);
        let (log, last, since) = match plan {
            Plan::Nothing => {
                return ChangeAppend { keys, arguments: vec!["none".into()] };
            }
            Plan::Restart(reason) => return self.restart(version, known, reason),
            Plan::Append { log, last, since } => (log, last, since),
        };
        let batch = self.batch(version, &since);
        let SnapshotKey { content_type: uid, .. } = &version.key;
        let origin = Origin {
            uid: uid.clone(),
            snapshot_id: version.snapshot_id.clone(),
            position: version.position.clone(),
        };
        match encode(&batch, log, last, &origin) {
            Some(parts) => self.append(version, known, log, last, &batch, parts),
            None => self.restart(version, known, "there are too many changes at once"),
        }
    }

    fn batch(&self, version: &SnapshotReplacement, since: &Since) -> Batch {
        let after = version.key.baseline(Arc::clone(&version.after), false);
        let before = match (since, &version.before) {
            (Since::Published, Some((_, before))) => {
                version.key.baseline(Arc::clone(before), false)
            }
            (Since::NoPages, _) => after.emptied(),
            // The log has begun again since this instance has published or adopted a version.
            (Since::Published | Since::Itself, _) => {
                self.settled_baseline(version).unwrap_or_else(|| after.clone())
            }
        };
        // A snapshot from a store has no titles.
        let have_titles = before.snapshot.has_titles() == after.snapshot.has_titles();
        let before = Baseline { is_stored: !have_titles, ..before };
        let uid = &version.key.content_type;
        before.changes_to(uid, &after, unix_ms(), self.log.keep())
    }

    fn settled_baseline(&self, version: &SnapshotReplacement) -> Option<Baseline> {
        let state = self.inner.state.lock();
        let settled = state.sites.get(&version.key.site)?.settled.get(&version.key.content_type)?;
        (settled.snapshot_id == version.snapshot_id).then(|| settled.baseline.clone())
    }

    fn append(
        &self,
        version: &SnapshotReplacement,
        known: Known,
        log: u64,
        last: u64,
        batch: &Batch,
        parts: Vec<EncodedPart>,
    ) -> ChangeAppend {
        let site = &version.key.site;
        let end = last + batch.len();
        let new_last = if batch.is_empty() {
            Vec::new()
        } else {
            fields::seal(&self.redis, site, LAST, &LastValue { log, last: end })
        };
        let oldest = (end + 1).saturating_sub(self.log.keep() as u64);
        let trim = if oldest > 1 { oldest.to_string() } else { String::new() };
        let mut arguments = self.arguments("append", version, known, log);
        arguments[5] = new_last.into();
        arguments[9] = trim.into();
        arguments[10] = parts.len().into();
        for EncodedPart { last, bytes } in parts {
            let id = format!("{last}-0");
            let sealed = self.redis.seal(&part_context(site, &id), &bytes);
            arguments.extend([id.into(), sealed.into()]);
        }
        ChangeAppend { keys: self.keys(site), arguments }
    }

    fn restart(
        &self,
        version: &SnapshotReplacement,
        known: Known,
        reason: &'static str,
    ) -> ChangeAppend {
        let SnapshotKey { site, content_type: uid, .. } = &version.key;
        log_begin(site, Some(uid), reason);
        let log = fastrand::u64(..);
        let mut arguments = self.arguments("restart", version, known, log);
        let value = self.log_value(site, log, &version.lease_key);
        arguments[5] = fields::seal(&self.redis, site, LAST, &LastValue { log, last: 0 }).into();
        arguments[6] = fields::seal(&self.redis, site, LOG, &value).into();
        ChangeAppend { keys: self.keys(site), arguments }
    }

    /// The arguments that all modes share; those that differ are empty.
    fn arguments(
        &self,
        mode: &str,
        version: &SnapshotReplacement,
        known: Known,
        log: u64,
    ) -> Vec<Argument> {
        let SnapshotKey { site, content_type: uid, .. } = &version.key;
        let field = base_field(uid);
        let base = BaseValue { log, position: version.position.clone() };
        let base = fields::seal(&self.redis, site, &field, &base);
        let [log, last, expected] =
            [known.log, known.last, known.base].map(Option::unwrap_or_default);
        vec![
            mode.into(),
            field.into(),
            log.into(),
            last.into(),
            expected.into(),
            "".into(),
            "".into(),
            base.into(),
            LOG_TTL.as_millis().into(),
            "".into(),
            0.into(),
        ]
    }
}

/// The context of the seal of a part of a batch.
pub(super) fn part_context(site: &str, id: &str) -> String {
    format!("changes {id} of {site}")
}

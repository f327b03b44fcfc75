//! Reads the logs in Redis, and applies them to the replicas of this instance.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::future::join_all;
use tokio::time::{MissedTickBehavior, interval};

use super::SharedChanges;
use super::append::part_context;
use super::begin::log_begin;
use super::fields::{self, BaseValue, LAST, LOG, LastValue, LogValue, uid_of};
use super::read_script::{MAX_HEAD_BYTES, MAX_PART_BYTES, READ};
use super::tail::Tail;
use crate::redis::{self, Argument};
use frontend_map_catalog::changes::log::{Applied, Part};

/// An entry of the stream: its id, and its fields.
type PartEntry = (String, Vec<(Vec<u8>, Vec<u8>)>);

/// Why a log begins again whose changes differ from those that were read before.
const OTHER_CHANGES: &str = "Redis has other changes with the same sequence numbers";
/// The time limit of one read of parts.
const READ_WITHIN: Duration = Duration::from_secs(3);
/// How often logs are read without an event about them.
const PERIOD: Duration = Duration::from_secs(5);
/// How many parts are read at once at first, and at most; the number doubles while the answers stay
/// small.
const FIRST_COUNT: usize = 16;
const MAX_COUNT: usize = 1_024;
const SMALL_ANSWER: usize = 1 << 20;
/// How often one read begins a log again at most.
const MAX_BEGINS: usize = 3;

/// Fields by name, sealed parts by id, and whether the last part differs.
type Answer = (Vec<(Vec<u8>, Vec<u8>)>, Vec<PartEntry>, u8);

/// The state of a log after a read.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Progress {
    /// All of it is known.
    End,
    /// There is more.
    More,
    /// It cannot be used for this reason.
    Unusable(&'static str),
}

/// What is left to read of a log whose last change is `last`, if the replica ends with the change
/// `known`; `is_empty`: the read brought no changes.
pub(crate) fn judge(known: u64, last: u64, is_empty: bool) -> Progress {
    match known.cmp(&last) {
        Ordering::Greater => Progress::Unusable("Redis has lost changes"),
        Ordering::Equal => Progress::End,
        Ordering::Less if is_empty => Progress::Unusable("changes are missing"),
        Ordering::Less => Progress::More,
    }
}

impl SharedChanges {
    /// Keeps the replicas up to date as long as the process runs.
    pub async fn run(self) {
        tokio::join!(self.follow(), self.check_regularly());
    }

    async fn check_regularly(&self) {
        let mut tick = interval(PERIOD);
        // Two checks in close succession could both fall between two holders of a lease.
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tick.tick().await;
            self.check_abandoned().await;
        }
    }

    async fn follow(&self) {
        let mut redis = self.redis.watch();
        loop {
            match redis.borrow_and_update().clone() {
                redis::Availability::Available { .. } => self.read_all_soon(),
                redis::Availability::Unavailable { .. } => self.be_alone(),
                redis::Availability::Connecting => {}
            }
            loop {
                tokio::select! {
                    changed = redis.changed() => {
                        if changed.is_err() {
                            return;
                        }
                        break;
                    }
                    () = self.read_due() => {}
                }
            }
        }
    }

    /// Waits until logs are to be read, and reads them.
    async fn read_due(&self) {
        self.inner.is_due.notified().await;
        let due = std::mem::take(&mut *self.inner.due.lock());
        if self.redis.is_available() {
            // Logs that cannot be read are due again at the next regular check.
            join_all(due.iter().map(|site| self.catch_up(site))).await;
        }
    }

    /// Reads the log of a site up to its present end.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer; what was read before stays.
    pub async fn catch_up(&self, site: &str) -> Result<(), redis::Error> {
        let result = self.read_to_end(site).await;
        if let Some(known) = self.inner.state.lock().sites.get_mut(site) {
            known.is_unread = result.is_err();
        }
        result
    }

    async fn read_to_end(&self, site: &str) -> Result<(), redis::Error> {
        let reading = {
            let mut state = self.inner.state.lock();
            Arc::clone(&state.sites.entry(site.to_owned()).or_default().reading)
        };
        let _reading = reading.lock().await;
        let redis::Availability::Available { session } = self.redis.availability() else {
            return Err(redis::Error::Unavailable);
        };
        let settled = self.unread_versions(site);
        let (mut count, mut begins) = (FIRST_COUNT, 0);
        loop {
            let (fields, parts, differs) = self.read(site, count).await?;
            let named = |(name, value)| Some((String::from_utf8(name).ok()?, value));
            let fields: HashMap<String, Vec<u8>> = fields.into_iter().filter_map(named).collect();
            let bytes: usize =
                parts.iter().flat_map(|(_, part)| part).map(|part| part.1.len()).sum();
            count = if bytes < SMALL_ANSWER { (count * 2).min(MAX_COUNT) } else { FIRST_COUNT };
            let sealed = fields.get(LOG).cloned().unwrap_or_default();
            let progress = match differs {
                0 => self.take(site, &fields, parts, session),
                _ => Progress::Unusable(OTHER_CHANGES),
            };
            match progress {
                Progress::More => {}
                Progress::End => {
                    self.mark_read(site, &settled);
                    return Ok(());
                }
                Progress::Unusable(reason) => {
                    begins += 1;
                    if begins > MAX_BEGINS {
                        return Err(redis::Error::Unavailable);
                    }
                    log_begin(site, None, reason);
                    self.begin(site, sealed).await?;
                }
            }
        }
    }

    async fn read(&self, site: &str, count: usize) -> Result<Answer, redis::Error> {
        let (known, tail) = {
            let state = self.inner.state.lock();
            let known = state.sites.get(site);
            let read = known.and_then(|known| known.read.as_ref());
            let tail = known.and_then(|known| known.tail.clone());
            (read.map(|(sealed, _)| sealed.clone()), tail)
        };
        let present = self.log.present(site);
        let after = if known.is_some() { present.sequence } else { 0 };
        let is_present = |tail: &Tail| (tail.log, tail.last) == (present.log, present.sequence);
        let tail = tail.filter(is_present).map(|tail| tail.seal);
        let arguments = vec![
            Argument::from(known.unwrap_or_default()),
            Argument::from(after.to_string()),
            Argument::from(count.to_string()),
            Argument::from(tail.unwrap_or_default()),
            Argument::from(MAX_HEAD_BYTES),
            Argument::from(MAX_PART_BYTES),
        ];
        self.redis.script(READ, &self.keys(site), arguments, READ_WITHIN).await
    }

    /// Applies what was read.
    fn take(
        &self,
        site: &str,
        found: &HashMap<String, Vec<u8>>,
        parts: Vec<PartEntry>,
        session: u64,
    ) -> Progress {
        let Some(sealed) = found.get(LOG) else {
            return Progress::Unusable(self.why_missing(site));
        };
        let Some(head) = fields::open::<LogValue>(&self.redis, site, LOG, sealed) else {
            return Progress::Unusable("its head is damaged");
        };
        let last = found.get(LAST);
        let last = last.and_then(|last| fields::open::<LastValue>(&self.redis, site, LAST, last));
        let Some(last) = last.filter(|last| last.log == head.log) else {
            return Progress::Unusable("its end is damaged");
        };
        let state = &mut *self.inner.state.lock();
        let known = state.sites.entry(site.to_owned()).or_default();
        if known.read.as_ref().is_none_or(|(before, _)| before != sealed) {
            known.since = Some(Instant::now());
        }
        known.read = Some((sealed.clone(), session));
        known.lease.clone_from(&head.lease);
        state.is_alone = false;
        let before = self.log.follow(site, head.log, known.source);
        let is_empty = parts.is_empty();
        if before > last.last {
            return judge(before, last.last, is_empty);
        }
        for (id, part) in parts {
            let Some(tail) = self.apply(site, &id, &part) else {
                return Progress::Unusable("its changes are damaged");
            };
            if known.tail.as_ref().is_some_and(|known| known.contradicts(&tail)) {
                return Progress::Unusable(OTHER_CHANGES);
            }
            known.tail = Some(match known.tail.take() {
                Some(known) => known.or_later(tail),
                None => tail,
            });
        }
        let bases = bases(&self.redis, site, head.log, found);
        if bases != known.bases {
            (known.bases, known.since) = (bases, Some(Instant::now()));
        }
        judge(self.log.present(site).sequence, last.last, is_empty)
    }

    /// Applies a part; `None`: it cannot be used.
    fn apply(&self, site: &str, id: &str, part: &[(Vec<u8>, Vec<u8>)]) -> Option<Tail> {
        let [(_, sealed)] = part else { return None };
        let bytes = self.redis.open(&part_context(site, id), sealed).ok()?;
        let part = Part::decode(bytes).ok()?;
        let (log, last) = (part.log, part.last());
        let is_in_place = format!("{last}-0") == id;
        let is_used = is_in_place && self.log.apply(site, part) != Applied::Refused;
        is_used.then(|| Tail::of(log, last, sealed))
    }

    /// The versions of the site that this instance has published or adopted: a read that begins now
    /// has their changes.
    fn unread_versions(&self, site: &str) -> Vec<(String, String, String)> {
        let state = self.inner.state.lock();
        let settled = state.sites.get(site).into_iter().flat_map(|known| &known.settled);
        settled
            .map(|(uid, one)| (uid.clone(), one.snapshot_id.clone(), one.position.clone()))
            .collect()
    }

    fn mark_read(&self, site: &str, versions: &[(String, String, String)]) {
        let state = &mut *self.inner.state.lock();
        let Some(known) = state.sites.get_mut(site) else { return };
        for (uid, snapshot_id, position) in versions {
            if let Some(settled) = known.settled.get_mut(uid) {
                settled.is_read |=
                    settled.snapshot_id == *snapshot_id && settled.position == *position;
            }
        }
        if known.lease == state.lease && known.types.iter().any(|uid| known.lacks_base(uid)) {
            self.inner.lacks_base.notify_one();
        }
    }
}

/// The version up to which a log has the changes, by content type.
fn bases(
    redis: &redis::Client,
    site: &str,
    log: u64,
    found: &HashMap<String, Vec<u8>>,
) -> HashMap<String, BaseValue> {
    let base = |(field, sealed): (&String, &Vec<u8>)| {
        let uid = uid_of(field)?;
        let base: BaseValue = fields::open(redis, site, field, sealed)?;
        (base.log == log).then(|| (uid.to_owned(), base))
    };
    found.iter().filter_map(base).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_is_read_up_to_its_end_and_refused_without_its_changes() {
        assert_eq!(judge(3, 3, true), Progress::End);
        assert_eq!(judge(2, 3, false), Progress::More);
        assert_eq!(judge(2, 3, true), Progress::Unusable("changes are missing"));
        assert_eq!(judge(4, 3, false), Progress::Unusable("Redis has lost changes"));
    }
}

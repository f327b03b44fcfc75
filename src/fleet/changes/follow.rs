//! How an instance follows the logs of the engine.

use std::collections::HashMap;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use tokio::time::sleep;

use super::SharedChanges;
use super::append::{LOG_TTL, part_context};
use super::fields::{self, BaseValue, LAST, LOG, LastValue, LogValue, uid_of};
use crate::change_log::{Applied, Part};
use crate::shared_engine::{Argument, Engine, EngineError, EngineState, Script};

/// Reads the head of a log and the changes after one of it: all of the stream if the log is another one.
static READ: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
local log = redis.call('HGET', KEYS[1], 'log') or ''
local after = ARGV[2]
if log ~= ARGV[1] then after = '0' end
local parts = redis.call('XRANGE', KEYS[2], '(' .. after .. '-0', '+', 'COUNT', ARGV[3])
return {redis.call('HGETALL', KEYS[1]), parts}
",
    )
});
/// Begins a log again, if it is still the one that was found unusable.
static BEGIN: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
if (redis.call('HGET', KEYS[1], 'log') or '') ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'log', ARGV[2], 'last', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
",
    )
});
/// An entry of the stream: its id, and its fields.
type PartEntry = (String, Vec<(String, Vec<u8>)>);

/// For one read of parts.
const READ_WITHIN: Duration = Duration::from_secs(3);
/// The pause after a read that has failed.
const PAUSE: Duration = Duration::from_millis(500);
/// How many parts are read at once at first, and at most; the number doubles while the answers stay
/// small.
const FIRST_COUNT: usize = 16;
const MAX_COUNT: usize = 1_024;
const SMALL_ANSWER: usize = 1 << 20;
/// How often a log begins again in one read: more often, and something else is wrong.
const MAX_BEGINS: usize = 3;

/// Fields by name, and sealed parts by id.
type Answer = (HashMap<String, Vec<u8>>, Vec<(String, Vec<(String, Vec<u8>)>)>);

/// The state of a log after a read.
enum Progress {
    /// All of it is known.
    End,
    /// There is more.
    More,
    /// It cannot be used for this reason.
    Unusable(&'static str),
}

impl SharedChanges {
    /// Follows the logs as long as the process runs.
    pub async fn run(self) {
        let mut engine = self.engine.watch();
        loop {
            match engine.borrow_and_update().clone() {
                EngineState::Here { .. } => self.read_all_soon(),
                EngineState::Away { .. } => self.be_alone(),
                EngineState::Connecting => {}
            }
            loop {
                tokio::select! {
                    changed = engine.changed() => {
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
        let next = self.inner.due.lock().first().cloned();
        let Some(site) = next else { return self.inner.is_due.notified().await };
        if !self.engine.is_here() {
            // A new session reads all of them.
            self.inner.due.lock().clear();
            return;
        }
        self.inner.due.lock().remove(&site);
        if self.catch_up(&site).await.is_err() {
            self.inner.due.lock().insert(site);
            sleep(PAUSE).await;
        }
    }

    /// Reads the log of a site up to its present end.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer; what was read before stays.
    pub async fn catch_up(&self, site: &str) -> Result<(), EngineError> {
        let _reading = self.inner.reading.lock().await;
        let EngineState::Here { session } = self.engine.state() else {
            return Err(EngineError::Away);
        };
        let settled = self.unread_versions(site);
        let (mut count, mut begins) = (FIRST_COUNT, 0);
        loop {
            let (fields, parts) = self.read(site, count).await?;
            let bytes: usize =
                parts.iter().flat_map(|(_, part)| part).map(|part| part.1.len()).sum();
            count = if bytes < SMALL_ANSWER { (count * 2).min(MAX_COUNT) } else { FIRST_COUNT };
            let sealed = fields.get(LOG).cloned().unwrap_or_default();
            match self.take(site, &fields, parts, session) {
                Progress::More => {}
                Progress::End => {
                    self.mark_read(site, &settled);
                    return Ok(());
                }
                Progress::Unusable(reason) => {
                    begins += 1;
                    if begins > MAX_BEGINS {
                        return Err(EngineError::Away);
                    }
                    tracing::warn!(site, reason, "the shared change log begins again");
                    self.begin(site, sealed).await?;
                }
            }
        }
    }

    async fn read(&self, site: &str, count: usize) -> Result<Answer, EngineError> {
        let known = {
            let state = self.inner.state.lock();
            let read = state.sites.get(site).and_then(|known| known.read.as_ref());
            read.map(|(sealed, _)| sealed.clone())
        };
        let after = if known.is_some() { self.log.present(site).sequence } else { 0 };
        let arguments = vec![
            Argument::from(known.unwrap_or_default()),
            Argument::from(after.to_string()),
            Argument::from(count.to_string()),
        ];
        self.engine.script(&READ, &self.keys(site), arguments, READ_WITHIN).await
    }

    /// Takes what was read.
    fn take(
        &self,
        site: &str,
        found: &HashMap<String, Vec<u8>>,
        parts: Vec<PartEntry>,
        session: u64,
    ) -> Progress {
        let Some(sealed) = found.get(LOG) else { return Progress::Unusable("there is none") };
        let head = fields::open::<LogValue>(&self.engine, site, LOG, sealed);
        let Some((source, head)) = head.and_then(|head| Some((head.source()?, head))) else {
            return Progress::Unusable("its head is damaged");
        };
        let last = found.get(LAST);
        let last = last.and_then(|last| fields::open::<LastValue>(&self.engine, site, LAST, last));
        let Some(last) = last.filter(|last| last.log == head.log) else {
            return Progress::Unusable("its end is damaged");
        };
        let state = &mut *self.inner.state.lock();
        let known = state.sites.entry(site.to_owned()).or_default();
        if known.read.as_ref().is_none_or(|(before, _)| before != sealed) {
            known.since = Some(Instant::now());
        }
        known.read = Some((sealed.clone(), session));
        state.is_alone = false;
        if source != known.source {
            // Instances with other settings have it; those with these settings begin another one when
            // the others are gone.
            return Progress::End;
        }
        if self.log.follow(site, head.log, source) > last.last {
            return Progress::Unusable("the engine has lost changes");
        }
        let is_empty = parts.is_empty();
        for (id, part) in parts {
            if !self.apply(site, &id, &part) {
                return Progress::Unusable("its changes are damaged");
            }
        }
        known.bases = bases(&self.engine, site, head.log, found);
        match self.log.present(site).sequence {
            present if present >= last.last => Progress::End,
            _ if is_empty => Progress::Unusable("changes are missing"),
            _ => Progress::More,
        }
    }

    fn apply(&self, site: &str, id: &str, part: &[(String, Vec<u8>)]) -> bool {
        let [(_, sealed)] = part else { return false };
        let Ok(bytes) = self.engine.open(&part_context(site, id), sealed) else { return false };
        let Ok(part) = Part::decode(bytes) else { return false };
        let is_in_place = format!("{}-0", part.last()) == id;
        is_in_place && self.log.apply(site, part) != Applied::Refused
    }

    async fn begin(&self, site: &str, expected: Vec<u8>) -> Result<(), EngineError> {
        let log = fastrand::u64(..);
        let source = {
            let state = self.inner.state.lock();
            state.sites.get(site).map(|known| known.source).unwrap_or_default()
        };
        let value = self.log_value(site, log, source, "");
        let arguments = vec![
            Argument::from(expected),
            Argument::from(fields::seal(&self.engine, site, LOG, &value)),
            Argument::from(fields::seal(&self.engine, site, LAST, &LastValue { log, last: 0 })),
            Argument::from(LOG_TTL.as_millis().to_string()),
        ];
        let _: i64 = self.engine.script(&BEGIN, &self.keys(site), arguments, READ_WITHIN).await?;
        Ok(())
    }

    /// The versions whose changes the next read of the log has.
    fn unread_versions(&self, site: &str) -> Vec<(String, String, String)> {
        let state = self.inner.state.lock();
        let settled = state.sites.get(site).into_iter().flat_map(|known| &known.settled);
        settled.map(|(uid, one)| (uid.clone(), one.list.clone(), one.position.clone())).collect()
    }

    fn mark_read(&self, site: &str, versions: &[(String, String, String)]) {
        let state = &mut *self.inner.state.lock();
        let Some(known) = state.sites.get_mut(site) else { return };
        for (uid, list, position) in versions {
            if let Some(settled) = known.settled.get_mut(uid) {
                settled.is_read |= settled.list == *list && settled.position == *position;
            }
        }
    }
}

/// Up to which version of which list a log goes, by content type.
fn bases(
    engine: &Engine,
    site: &str,
    log: u64,
    found: &HashMap<String, Vec<u8>>,
) -> HashMap<String, (String, String)> {
    let base = |(field, sealed): (&String, &Vec<u8>)| {
        let uid = uid_of(field)?;
        let base: BaseValue = fields::open(engine, site, field, sealed)?;
        (base.log == log).then(|| (uid.to_owned(), (base.list, base.position)))
    };
    found.iter().filter_map(base).collect()
}

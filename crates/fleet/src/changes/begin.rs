//! How a change log begins, or begins again without a publication: why, and what is logged.

use std::time::Duration;

use super::append::LOG_TTL;
use super::fields::{LAST, LOG, LastValue};
use super::{EVENT, SharedChanges, fields};
use crate::redis::{self, Argument};

/// Begins a log again, if it is still the one that was found unusable.
const BEGIN: &str = r"
remove_foreign(KEYS[1], 'hash')
if (redis.call('HGET', KEYS[1], 'log') or '') ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'log', ARGV[2], 'last', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
";
/// The time limit of the script, and of the event after it.
const WITHIN: Duration = Duration::from_secs(2);

impl SharedChanges {
    /// Begins the log of a site again, unless another instance has begun it again since this sealed
    /// identity was read.
    pub(super) async fn begin(&self, site: &str, expected: Vec<u8>) -> Result<(), redis::Error> {
        let log = fastrand::u64(..);
        let lease = self.inner.state.lock().lease.clone();
        if lease.is_empty() {
            // The settings are not known yet; the log is read again when they are.
            return Err(redis::Error::Unavailable);
        }
        let value = self.log_value(site, log, &lease);
        let arguments = vec![
            Argument::from(expected),
            Argument::from(fields::seal(&self.redis, site, LOG, &value)),
            Argument::from(fields::seal(&self.redis, site, LAST, &LastValue { log, last: 0 })),
            Argument::from(LOG_TTL.as_millis()),
        ];
        let begun: i64 = self.redis.script(BEGIN, &self.keys(site), arguments, WITHIN).await?;
        if begun == 1 {
            // If this fails, the other instances find the new log at their next read.
            let _ = self.redis.append(EVENT, site.as_bytes(), WITHIN).await;
        }
        Ok(())
    }
}

/// Why a log begins that no instance has had.
const NONE: &str = "there is none";

impl SharedChanges {
    /// Why Redis has no log of a site.
    pub(super) fn why_missing(&self, site: &str) -> &'static str {
        let state = self.inner.state.lock();
        let was_there = state.sites.get(site).is_some_and(|known| known.read.is_some());
        if was_there { "Redis has lost it" } else { NONE }
    }
}

/// Logs that the log of a site begins because there is none, or again because it cannot be used; `uid`: by a
/// publication of this content type.
pub(super) fn log_begin(site: &str, uid: Option<&str>, reason: &str) {
    if reason == NONE {
        tracing::info!(site, uid, "the shared change log begins");
    } else {
        tracing::warn!(site, uid, reason, "the shared change log begins again");
    }
}

impl SharedChanges {
    /// Begins each log again that instances with other settings have written, if their lease had no
    /// holder at two checks in a row in one session of Redis: between two holders it is free for a
    /// moment, and after an outage until an instance has renewed it. Then schedules a read of all logs.
    pub(super) async fn check_abandoned(&self) {
        let redis::Availability::Available { session } = self.redis.availability() else {
            return;
        };
        let sites: Vec<String> = self.inner.state.lock().sites.keys().cloned().collect();
        for site in sites {
            // A check that fails is repeated at the next one.
            let _ = self.check_site(&site, session).await;
            self.read_soon(&site);
        }
    }

    /// Whether an instance has this lease: instances with other settings are in use then.
    async fn is_held(&self, lease_key: &str) -> Result<bool, redis::Error> {
        let mut command = ::redis::cmd("EXISTS");
        command.arg(lease_key);
        self.redis.command(&command, WITHIN).await
    }

    async fn check_site(&self, site: &str, session: u64) -> Result<(), redis::Error> {
        let (read, lease, was_abandoned) = {
            let state = &mut *self.inner.state.lock();
            let Some(known) = state.sites.get_mut(site) else { return Ok(()) };
            let Some((read, _)) = known.read.clone() else { return Ok(()) };
            let was_abandoned = known.abandoned_in.take() == Some(session);
            if known.lease == state.lease {
                return Ok(());
            }
            (read, known.lease.clone(), was_abandoned)
        };
        if self.is_held(&lease).await? {
            return Ok(());
        }
        if was_abandoned {
            let reason = "no instance has the previous settings any more";
            tracing::info!(site, reason, "the shared change log begins again");
            return self.begin(site, read).await;
        }
        if let Some(known) = self.inner.state.lock().sites.get_mut(site) {
            known.abandoned_in = Some(session);
        }
        Ok(())
    }
}

//! The paths that visitors could not find, of all instances: one sealed summary for each site, to which
//! each instance adds what it has counted. So a restart loses and counts nothing twice, and a row that is
//! cleared stays cleared.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use crate::redis::{self, Argument};
use frontend_map_catalog::misses::Summary;

/// The time limit of a read or a write, for which a reader of the list waits.
const WITHIN: Duration = Duration::from_secs(2);
/// How often a change is tried while other instances write.
const ATTEMPTS: usize = 5;
/// More bytes than a sealed summary has.
const MAX_BYTES: usize = Summary::MAX_BYTES + 64;

/// Writes the summary, unless another instance has written another version since. Arguments: the version
/// that was read, or nothing; the new version; the sealed summary; the time to live. A version is part of
/// the seal.
const WRITE: &str = r"
remove_foreign(KEYS[1], 'hash')
if (redis.call('HGET', KEYS[1], 'version') or '') ~= ARGV[1] then return 0 end
redis.call('HSET', KEYS[1], 'version', ARGV[2], 'summary', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
";

/// The summary of one site in Redis.
#[derive(Clone)]
pub struct SharedMisses {
    redis: redis::Client,
    name: String,
}

/// What Redis has.
struct Stored {
    version: Vec<u8>,
    /// Empty in place of a damaged or foreign one.
    summary: Summary,
}

impl SharedMisses {
    pub(crate) fn new(redis: redis::Client, source: u128, site: &str) -> Self {
        let site = xxh3_128(site.as_bytes());
        Self { redis, name: format!("misses:{site:032x}:{source:032x}") }
    }

    /// The summary of all instances. A time after `now`, in milliseconds since 1970, counts as `now`.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn load(&self, now: i64) -> Result<Summary, redis::Error> {
        Ok(self.read(now).await?.summary)
    }

    /// Changes the summary of all instances, and returns it. It ends after `keep` without a change.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer: the change may have been made.
    pub async fn update(
        &self,
        now: i64,
        keep: Duration,
        change: impl Fn(&mut Summary),
    ) -> Result<Summary, redis::Error> {
        let keep = u64::try_from(keep.as_millis()).unwrap_or(u64::MAX).clamp(1, 1 << 52);
        for _ in 0..ATTEMPTS {
            let Stored { version, mut summary } = self.read(now).await?;
            change(&mut summary);
            let next = format!("{:016x}", fastrand::u64(..));
            let sealed = self.redis.seal(&self.context(next.as_bytes()), &summary.to_bytes());
            let arguments =
                vec![version.into(), Argument::from(&next), sealed.into(), Argument::from(keep)];
            let keys = [self.redis.key(&self.name)];
            let written: i64 = self.redis.script(WRITE, &keys, arguments, WITHIN).await?;
            if written == 1 {
                return Ok(summary);
            }
        }
        Err(redis::Error::Timeout)
    }

    async fn read(&self, now: i64) -> Result<Stored, redis::Error> {
        let key = self.redis.key(&self.name);
        let found = self.redis.fields(&key, ["version", "summary"], MAX_BYTES, WITHIN).await?;
        let [version, sealed] = found.map(Option::unwrap_or_default);
        let summary = self.open(&version, &sealed, now).unwrap_or_default();
        Ok(Stored { version, summary })
    }

    fn open(&self, version: &[u8], sealed: &[u8], now: i64) -> Option<Summary> {
        if sealed.is_empty() {
            return None;
        }
        let summary = self.redis.open(&self.context(version), sealed).ok();
        let summary = summary.and_then(|bytes| Summary::from_bytes(bytes, now));
        if summary.is_none() {
            tracing::warn!(
                "the shared list of paths that were not found is damaged; it begins again"
            );
        }
        summary
    }

    fn context(&self, version: &[u8]) -> String {
        format!("{}:{}", self.name, String::from_utf8_lossy(version))
    }
}

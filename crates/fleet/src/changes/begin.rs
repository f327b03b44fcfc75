//! Begins a log again without a publication.

use std::sync::LazyLock;
use std::time::Duration;

use super::append::LOG_TTL;
use super::fields::{self, LAST, LOG, LastValue};
use super::{EVENT, SharedChanges};
use crate::redis::{self, Argument, Script};

/// Begins a log again, if it is still the one that was found unusable.
static BEGIN: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
own(KEYS[1], 'hash')
if (redis.call('HGET', KEYS[1], 'log') or '') ~= ARGV[1] then return 0 end
redis.call('UNLINK', KEYS[1], KEYS[2])
redis.call('HSET', KEYS[1], 'log', ARGV[2], 'last', ARGV[3])
redis.call('PEXPIRE', KEYS[1], ARGV[4])
return 1
",
    )
});
/// The time limit of the script, and of the event after it.
const WITHIN: Duration = Duration::from_secs(2);

impl SharedChanges {
    /// Begins the log of a site again, unless another instance has begun it again since this sealed
    /// identity was read.
    pub(super) async fn begin(&self, site: &str, expected: Vec<u8>) -> Result<(), redis::Error> {
        let log = fastrand::u64(..);
        let value = self.log_value(site, log);
        let arguments = vec![
            Argument::from(expected),
            Argument::from(fields::seal(&self.redis, site, LOG, &value)),
            Argument::from(fields::seal(&self.redis, site, LAST, &LastValue { log, last: 0 })),
            Argument::from(LOG_TTL.as_millis().to_string()),
        ];
        let begun: i64 = self.redis.script(&BEGIN, &self.keys(site), arguments, WITHIN).await?;
        if begun == 1 {
            // If this fails, the other instances find the new log at their next read.
            let _ = self.redis.append(EVENT, site.as_bytes(), WITHIN).await;
        }
        Ok(())
    }
}

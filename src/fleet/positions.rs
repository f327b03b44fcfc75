//! The positions up to which webhooks have been sent, which all instances share: the holder of one
//! lease sends, and the next holder continues from the positions (D45, D56).

use std::sync::LazyLock;
use std::time::Duration;

use super::changes::SharedChanges;
use crate::shared_engine::{Argument, Engine, EngineError, Lease, Script};

/// The name of the lease of the instance that sends.
const LEASE: &str = "notify";
/// The key of the hash with the positions, by target and site.
const POSITIONS: &str = "positions";
/// How long positions stay after the last write. The positions of removed targets take a few bytes.
const TTL: Duration = Duration::from_hours(90 * 24);
/// The time limit for a read or a write, for which no client waits.
const WITHIN: Duration = Duration::from_secs(2);

/// Writes a position, if the writer has the lease. It replaces a foreign value of another type.
static SAVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
local kind = redis.call('TYPE', KEYS[2])['ok']
if kind ~= 'hash' and kind ~= 'none' then redis.call('UNLINK', KEYS[2]) end
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
",
    )
});

/// The positions in the engine. Clones share the lease.
#[derive(Clone)]
pub struct SharedPositions {
    engine: Engine,
    lease: Lease,
    changes: SharedChanges,
}

impl SharedPositions {
    /// The positions in this engine. Requests the lease of the sender from now on.
    #[must_use]
    pub fn new(engine: Engine, changes: SharedChanges) -> Self {
        let lease = engine.lease(LEASE);
        Self { engine, lease, changes }
    }

    /// Waits until this instance has the lease of the sender; returns its epoch.
    pub async fn until_sender(&self) -> u64 {
        let mut epoch = self.lease.watch();
        loop {
            if let Some(epoch) = self.lease.epoch().filter(|_| self.engine.is_here()) {
                return epoch;
            }
            // The wait is limited, because a return of the engine does not change the epoch.
            let _ = tokio::time::timeout(Duration::from_millis(250), epoch.changed()).await;
        }
    }

    /// Whether this instance still has the lease of the sender, in this epoch.
    #[must_use]
    pub fn is_sender_in(&self, epoch: u64) -> bool {
        self.engine.is_here() && self.lease.epoch() == Some(epoch)
    }

    /// Whether this instance has the lease of the sender.
    #[must_use]
    pub fn is_sender(&self) -> bool {
        self.engine.is_here() && self.lease.epoch().is_some()
    }

    /// Waits until this instance no longer has the lease in this epoch, or the engine is away.
    pub async fn sender_changed(&self, epoch: u64) {
        let mut watched = self.lease.watch();
        while self.is_sender_in(epoch) {
            let _ = tokio::time::timeout(Duration::from_secs(1), watched.changed()).await;
        }
    }

    /// Whether the change log of a site in memory is a replica of the engine's, not a branch.
    #[must_use]
    pub fn is_current(&self, site: &str) -> bool {
        self.changes.is_current(site)
    }

    /// Reads the change log of a site up to its end, so that no position is beyond it.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer.
    pub async fn catch_up(&self, site: &str) -> Result<(), EngineError> {
        self.changes.catch_up(site).await
    }

    /// The position that was written last. `None`: there is none, or the value is damaged or
    /// foreign.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer.
    pub async fn load(&self, key: &str) -> Result<Option<String>, EngineError> {
        let mut command = redis::cmd("HGET");
        command.arg(self.engine.key(POSITIONS)).arg(key);
        let found = self.engine.command::<Option<Vec<u8>>>(&command, WITHIN).await;
        let sealed = match found {
            Err(EngineError::Refused(code)) if code == "WRONGTYPE" => None,
            found => found?,
        };
        let text =
            sealed.as_deref().and_then(|sealed| self.engine.open(&context(key), sealed).ok());
        Ok(text.and_then(|text| String::from_utf8(text.to_vec()).ok()))
    }

    /// Writes a position, if this instance still has the lease in this epoch. Returns whether it
    /// was written.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer: the position may have been written.
    pub async fn save(&self, epoch: u64, key: &str, position: &str) -> Result<bool, EngineError> {
        if !self.is_sender_in(epoch) {
            return Ok(false);
        }
        let keys = [self.lease.key().to_owned(), self.engine.key(POSITIONS)];
        let arguments = vec![
            Argument::from(self.lease.token()),
            Argument::from(key),
            Argument::from(self.engine.seal(&context(key), position.as_bytes())),
            Argument::from(TTL.as_millis().to_string()),
        ];
        let saved: i64 = self.engine.script(&SAVE, &keys, arguments, WITHIN).await?;
        Ok(saved == 1)
    }
}

fn context(key: &str) -> String {
    format!("position of {key}")
}

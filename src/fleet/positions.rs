//! The positions up to which webhooks have been sent, which all instances share: for each target and
//! site there is a lease, whose holder sends, and the next holder continues from the position (D45,
//! D56).

use std::sync::LazyLock;
use std::time::Duration;

use parking_lot::Mutex;

use super::changes::SharedChanges;
use crate::shared_engine::{Argument, Engine, EngineError, Lease, Script};

/// The key of the hash with the positions, by target and site.
const POSITIONS: &str = "positions";
/// How long positions stay after the last write. The positions of removed targets take a few bytes.
const TTL: Duration = Duration::from_hours(90 * 24);
/// The most bytes of a sealed position.
const MAX_BYTES: usize = 1 << 10;
/// The time limit for a read or a write, for which no client waits.
const WITHIN: Duration = Duration::from_secs(2);

/// Writes a position, if the writer has the lease.
static SAVE: LazyLock<Script> = LazyLock::new(|| {
    Script::new(
        r"
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
own(KEYS[2], 'hash')
redis.call('HSET', KEYS[2], ARGV[2], ARGV[3])
redis.call('PEXPIRE', KEYS[2], ARGV[4])
return 1
",
    )
});

/// The positions in the engine.
#[derive(Clone)]
pub struct SharedPositions {
    engine: Engine,
    changes: SharedChanges,
}

/// The position of one target in the log of one site. Dropping it releases the lease.
pub struct SharedPosition {
    engine: Engine,
    changes: SharedChanges,
    target: String,
    site: String,
    /// Another one after a reload that changes the content of the site.
    lease: Mutex<Lease>,
}

impl SharedPositions {
    /// The positions in this engine.
    #[must_use]
    pub fn new(engine: Engine, changes: SharedChanges) -> Self {
        Self { engine, changes }
    }

    /// The position of a target in the log of a site. Requests the lease of its sender from now on.
    #[must_use]
    pub fn of(&self, target: &str, site: &str) -> SharedPosition {
        let lease = self.engine.lease(&lease_name(&self.changes, target, site));
        SharedPosition {
            engine: self.engine.clone(),
            changes: self.changes.clone(),
            target: target.to_owned(),
            site: site.to_owned(),
            lease: Mutex::new(lease),
        }
    }
}

/// The name of the lease of a target and a site, whatever other sites the target has. Instances whose
/// site has another content are another fleet, which sends its own changes.
fn lease_name(changes: &SharedChanges, target: &str, site: &str) -> String {
    format!("notify:{target}:{:032x}", changes.content_of(site))
}

impl SharedPosition {
    fn lease(&self) -> Lease {
        let name = lease_name(&self.changes, &self.target, &self.site);
        let mut lease = self.lease.lock();
        if lease.name() != name {
            *lease = self.engine.lease(&name);
        }
        lease.clone()
    }

    /// The field of the position.
    fn field(&self) -> String {
        format!("{} {:032x}", self.target, self.changes.content_of(&self.site))
    }

    /// Waits until this instance has the lease of the sender; returns its epoch.
    pub async fn until_sender(&self) -> u64 {
        loop {
            let lease = self.lease();
            let mut epoch = lease.watch();
            if let Some(epoch) = lease.epoch().filter(|_| self.engine.is_here()) {
                return epoch;
            }
            // The wait is limited, because a return of the engine does not change the epoch.
            let _ = tokio::time::timeout(Duration::from_millis(250), epoch.changed()).await;
        }
    }

    /// Whether this instance still has the lease of the sender, in this epoch.
    #[must_use]
    pub fn is_sender_in(&self, epoch: u64) -> bool {
        self.engine.is_here() && self.lease().epoch() == Some(epoch)
    }

    /// Whether this instance has the lease of the sender now.
    #[must_use]
    pub fn is_sender(&self) -> bool {
        self.engine.is_here() && self.lease().epoch().is_some()
    }

    /// Waits until this instance no longer has the lease in this epoch, or the engine is away.
    pub async fn sender_changed(&self, epoch: u64) {
        let mut watched = self.lease().watch();
        while self.is_sender_in(epoch) {
            let _ = tokio::time::timeout(Duration::from_secs(1), watched.changed()).await;
        }
    }

    /// Whether the change log of the site in memory is a replica of the engine's, not a branch.
    #[must_use]
    pub fn is_current(&self) -> bool {
        self.changes.is_current(&self.site)
    }

    /// Reads the change log of the site up to its end, so that no position is beyond it.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer.
    pub async fn catch_up(&self) -> Result<(), EngineError> {
        self.changes.catch_up(&self.site).await
    }

    /// The position that was written last. `None`: there is none, or the value is damaged or
    /// foreign.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer.
    pub async fn load(&self) -> Result<Option<String>, EngineError> {
        let key = &*self.field();
        let positions = self.engine.key(POSITIONS);
        let [sealed] = self.engine.fields(&positions, [key], MAX_BYTES, WITHIN).await?;
        let text =
            sealed.as_deref().and_then(|sealed| self.engine.open(&context(key), sealed).ok());
        Ok(text.and_then(|text| String::from_utf8(text.to_vec()).ok()))
    }

    /// Writes a position, if this instance still has the lease in this epoch. Returns whether it
    /// was written.
    ///
    /// # Errors
    /// [`EngineError`] if the engine does not answer: the position may have been written.
    pub async fn save(&self, epoch: u64, position: &str) -> Result<bool, EngineError> {
        if !self.is_sender_in(epoch) {
            return Ok(false);
        }
        let (key, lease) = (&*self.field(), self.lease());
        let keys = [lease.key().to_owned(), self.engine.key(POSITIONS)];
        let arguments = vec![
            Argument::from(lease.token()),
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

//! The positions up to which webhooks have been sent, which all instances share: for each target and
//! site there is a lease, whose holder sends, and the next holder continues from the position (D45,
//! D56).

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use tokio::time::sleep;

use crate::changes::SharedChanges;
use crate::redis::{self, Argument, Lease};

/// The key of the hash with the positions, by target and site.
const POSITIONS: &str = "positions";
/// How long positions stay after the last write. The positions of removed targets take a few bytes.
const TTL: Duration = Duration::from_hours(90 * 24);
/// The most bytes of a sealed position.
const MAX_BYTES: usize = 1 << 10;
/// The time limit for a read or a write, for which no client waits.
const WITHIN: Duration = Duration::from_secs(2);
/// How often an instance looks whether it is the sender.
const LEASE_PERIOD: Duration = Duration::from_millis(250);

/// Writes fields, if the writer has the lease. Arguments: the token of the lease, the time to live,
/// then the names and values of the fields.
const SAVE: &str = r"
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
remove_foreign(KEYS[2], 'hash')
for i = 3, #ARGV, 2 do redis.call('HSET', KEYS[2], ARGV[i], ARGV[i + 1]) end
redis.call('PEXPIRE', KEYS[2], ARGV[2])
return 1
";

/// The positions in Redis.
#[derive(Clone)]
pub struct SharedPositions {
    redis: redis::Client,
    changes: SharedChanges,
}

/// The position of one target in the log of one site. Dropping it releases the lease.
pub struct SharedPosition {
    redis: redis::Client,
    changes: SharedChanges,
    target: String,
    site: String,
    /// Another one after a reload that changes the content of the site; and since when this instance
    /// has this content.
    lease: Mutex<(Lease, Instant)>,
}

/// What Redis has of a target and a site.
pub struct Stored {
    /// The position that was written last. `None`: there is none, or the value is damaged or
    /// foreign.
    pub position: Option<String>,
    /// Which deployment has begun last to send to the target.
    pub last: LastContent,
}

/// Which deployment has begun last to send the changes of a site to a target. A deployment with
/// another content has sent other URLs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LastContent {
    /// One with the content of this instance.
    Own,
    /// One with another content, while this instance had its own already: it replaces this one.
    Newer,
    /// One with another content, before this instance had its own.
    Older,
    /// It is not known.
    Unknown,
}

impl LastContent {
    /// `found` is the content with the time in ms at which its deployment began to send, `own` that
    /// of this instance, which it has since the time `since`.
    fn of(found: Option<(u128, i64)>, own: u128, since: i64) -> Self {
        match found {
            Some((content, _)) if content == own => Self::Own,
            Some((_, began)) if began > since => Self::Newer,
            Some(_) => Self::Older,
            None => Self::Unknown,
        }
    }
}

impl SharedPositions {
    /// The positions in this Redis.
    pub fn new(redis: redis::Client, changes: SharedChanges) -> Self {
        Self { redis, changes }
    }

    /// The position of a target in the log of a site. Requests the lease of its sender from now on.
    pub fn of(&self, target: &str, site: &str) -> SharedPosition {
        let lease = self.redis.lease(&lease_name(&self.changes, target, site));
        SharedPosition {
            redis: self.redis.clone(),
            changes: self.changes.clone(),
            target: target.to_owned(),
            site: site.to_owned(),
            lease: Mutex::new((lease, Instant::now())),
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
        if lease.0.name() != name {
            *lease = (self.redis.lease(&name), Instant::now());
        }
        lease.0.clone()
    }

    /// The content of the site, and since when this instance has it, in ms by Redis's clock.
    fn own_content(&self) -> (u128, i64) {
        let age = self.lease.lock().1.elapsed().as_millis();
        let since = self.redis.now_ms().saturating_sub(i64::try_from(age).unwrap_or(i64::MAX));
        (self.changes.content_of(&self.site), since)
    }

    /// The field with the content that was sent last.
    fn content_field(&self) -> String {
        format!("{} content of {}", self.target, self.site)
    }

    /// The field of the position.
    fn field(&self) -> String {
        format!("{} {:032x}", self.target, self.changes.content_of(&self.site))
    }

    /// Waits until this instance has the lease of the sender; returns its epoch.
    pub async fn until_sender(&self) -> u64 {
        loop {
            if let Some(epoch) = self.lease().epoch().filter(|_| self.redis.is_available()) {
                return epoch;
            }
            sleep(LEASE_PERIOD).await;
        }
    }

    /// Whether this instance still has the lease of the sender, in this epoch.
    pub fn is_sender_in(&self, epoch: u64) -> bool {
        self.redis.is_available() && self.lease().epoch() == Some(epoch)
    }

    /// Whether this instance has the lease of the sender now.
    pub fn is_sender(&self) -> bool {
        self.redis.is_available() && self.lease().epoch().is_some()
    }

    /// Waits until this instance no longer has the lease in this epoch, or Redis is unavailable.
    pub async fn sender_changed(&self, epoch: u64) {
        while self.is_sender_in(epoch) {
            sleep(LEASE_PERIOD).await;
        }
    }

    /// Whether the change log of the site in memory is a replica of Redis's, not a branch.
    pub fn is_current(&self) -> bool {
        self.changes.is_current(&self.site)
    }

    /// Reads the change log of the site up to its end, so that no position is beyond it.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn catch_up(&self) -> Result<(), redis::Error> {
        self.changes.catch_up(&self.site).await
    }

    /// The position that was written last, and which deployment has begun last to send.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn load(&self) -> Result<Stored, redis::Error> {
        let keys = [&*self.field(), &*self.content_field()];
        let positions = self.redis.key(POSITIONS);
        let sealed = self.redis.fields(&positions, keys, MAX_BYTES, WITHIN).await?;
        let open = |key: &str, sealed: Option<&Vec<u8>>| {
            let text = self.redis.open(&context(key), sealed?).ok()?;
            String::from_utf8(text.to_vec()).ok()
        };
        let position = open(keys[0], sealed[0].as_ref());
        let last = open(keys[1], sealed[1].as_ref()).and_then(|text| {
            let (content, began) = text.split_once(' ')?;
            Some((u128::from_str_radix(content, 16).ok()?, began.parse().ok()?))
        });
        let (own, since) = self.own_content();
        Ok(Stored { position, last: LastContent::of(last, own, since) })
    }

    /// Writes the position, if this instance still has the lease in this epoch. Returns whether it
    /// was written.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer: the position may have been written.
    pub async fn save(&self, epoch: u64, position: &str) -> Result<bool, redis::Error> {
        self.write(epoch, position, false).await
    }

    /// Saves the position, and records that this deployment begins to send now.
    ///
    /// # Errors
    /// As for [`SharedPosition::save`].
    pub async fn begin(&self, epoch: u64, position: &str) -> Result<bool, redis::Error> {
        self.write(epoch, position, true).await
    }

    async fn write(&self, epoch: u64, position: &str, begins: bool) -> Result<bool, redis::Error> {
        if !self.is_sender_in(epoch) {
            return Ok(false);
        }
        let (key, lease) = (self.field(), self.lease());
        let keys = [lease.key().to_owned(), self.redis.key(POSITIONS)];
        let mut fields = vec![(key, position.to_owned())];
        if begins {
            let content = self.own_content().0;
            fields.push((self.content_field(), format!("{content:032x} {}", self.redis.now_ms())));
        }
        let mut arguments = vec![Argument::from(lease.token()), Argument::from(TTL.as_millis())];
        for (key, text) in fields {
            let sealed = self.redis.seal(&context(&key), text.as_bytes());
            arguments.extend([Argument::from(key), Argument::from(sealed)]);
        }
        let saved: i64 = self.redis.script(SAVE, &keys, arguments, WITHIN).await?;
        Ok(saved == 1)
    }
}

fn context(key: &str) -> String {
    format!("position of {key}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_content_tells_the_deployment_before_from_the_one_that_replaces_this_one() {
        let own = (7, 1_000);
        assert_eq!(LastContent::of(None, own.0, own.1), LastContent::Unknown);
        for began in [500, 1_500] {
            assert_eq!(LastContent::of(Some((7, began)), own.0, own.1), LastContent::Own);
        }
        assert_eq!(LastContent::of(Some((8, 500)), own.0, own.1), LastContent::Older);
        assert_eq!(LastContent::of(Some((8, 1_500)), own.0, own.1), LastContent::Newer);
    }
}

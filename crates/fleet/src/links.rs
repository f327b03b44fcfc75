//! The links in the content of a site, as the leader has read them: one large value in chunks, and a
//! pointer to it, which followers compare with what they have.

use std::time::Duration;

use xxhash_rust::xxh3::xxh3_128;

use crate::Lead;
use crate::redis::{self, Argument, Chunks, DownloadError};
use frontend_map_catalog::site::Site;

/// The time limit of a request, beside those for chunks.
const WITHIN: Duration = Duration::from_secs(2);
/// How long a published table is kept: link scans are a day apart, and one may fail.
const LIFETIME: Duration = Duration::from_hours(72);
/// More bytes than a sealed pointer has.
const MAX_POINTER: usize = 4 << 10;
/// The kind of the event by which an instance asks the leader to read all documents.
pub const READ_LINKS: &str = "read-links";

/// Writes the pointer, if the instance still has the lease. Arguments: the token of the lease, the sealed
/// pointer, the time to live.
const POINT: &str = r"
if redis.pcall('GET', KEYS[1]) ~= ARGV[1] then return 0 end
remove_foreign(KEYS[2], 'hash')
redis.call('HSET', KEYS[2], 'pointer', ARGV[2])
redis.call('PEXPIRE', KEYS[2], ARGV[3])
return 1
";

/// The links of one site in Redis.
#[derive(Clone)]
pub struct SharedLinks {
    redis: redis::Client,
    name: String,
}

/// A published table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PublishedLinks(Chunks);

impl SharedLinks {
    pub(crate) fn new(redis: redis::Client, site: &Site) -> Self {
        let key = xxh3_128(site.key.as_bytes());
        let settings = site.links_fingerprint;
        Self { redis, name: format!("links:{key:032x}:{settings:032x}") }
    }

    /// Publishes the bytes of a table in place of the one that is published. Returns `None` if another
    /// instance leads by now.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn publish(
        &self,
        lead: &Lead,
        bytes: &[u8],
        before: Option<&PublishedLinks>,
    ) -> Result<Option<PublishedLinks>, redis::Error> {
        let name = format!("{}:{:016x}", self.name, fastrand::u64(..));
        let chunks = self.redis.upload(&name, bytes, LIFETIME).await?;
        let sealed = self.redis.seal_json(&self.name, &chunks);
        let token = Argument::from(&lead.lease().token());
        let keys = [lead.lease().key().to_owned(), self.redis.key(&self.name)];
        let arguments = vec![token, sealed.into(), Argument::from(LIFETIME.as_millis())];
        let written: i64 = self.redis.script(POINT, &keys, arguments, WITHIN).await?;
        if written == 0 {
            self.redis.discard(&chunks).await?;
            return Ok(None);
        }
        if let Some(PublishedLinks(before)) = before {
            // A follower that still reads it reads the new one.
            self.redis.discard(before).await?;
        }
        Ok(Some(PublishedLinks(chunks)))
    }

    /// The table that is published, if there is one.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn published(&self) -> Result<Option<PublishedLinks>, redis::Error> {
        let key = self.redis.key(&self.name);
        let [sealed] = self.redis.fields(&key, ["pointer"], MAX_POINTER, WITHIN).await?;
        let chunks = sealed.and_then(|sealed| self.redis.open_json(&self.name, &sealed));
        Ok(chunks.map(PublishedLinks))
    }

    /// The bytes of a published table, at most so many.
    ///
    /// # Errors
    /// [`DownloadError`]
    pub async fn download(
        &self,
        PublishedLinks(chunks): &PublishedLinks,
        max_bytes: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        self.redis.download(chunks, max_bytes).await
    }

    /// Asks the leader to read all documents.
    ///
    /// # Errors
    /// [`redis::Error`] if Redis does not answer.
    pub async fn ask(&self, site: &str) -> Result<(), redis::Error> {
        self.redis.append(READ_LINKS, site.as_bytes(), WITHIN).await.map(drop)
    }
}

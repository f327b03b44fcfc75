//! Large values in several keys.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{Client, Error};

/// The most bytes of the value in one chunk. With the seal and what Redis adds, a chunk takes
/// at most 512 KiB; a larger one would take 640 KiB, the next size of Redis's allocator.
pub const CHUNK_BYTES: usize = 511 * 1024;

/// The longest time for one chunk.
const ONE_CHUNK: Duration = Duration::from_secs(5);

/// Argument: the time to live.
const EXPIRE: &str = r"
local found = {}
for i, key in ipairs(KEYS) do found[i] = redis.call('PEXPIRE', key, ARGV[1]) end
return found
";

/// The keys of a large value, and what its chunks must have.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunks {
    /// The name under which it was uploaded.
    pub name: String,
    /// The number of chunks, each of which is one key.
    pub count: usize,
    /// The number of bytes of the value.
    pub bytes: usize,
    /// The XXH3 of the value in 32 hexadecimal digits.
    pub checksum: String,
}

/// Why a large value could not be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DownloadError {
    /// Redis has no answer.
    #[error(transparent)]
    Redis(#[from] Error),
    /// It claims to have more bytes than the caller permits, or another number of chunks than its
    /// size needs.
    #[error("the value claims a size that is not permitted")]
    Size,
    /// The chunk with this index is missing: it has expired, or was removed.
    #[error("chunk {0} is missing")]
    Missing(usize),
    /// The value at the key of the chunk with this index is damaged, or is another chunk.
    #[error("chunk {0} is damaged")]
    Damaged(usize),
    /// All chunks are good, but not those of this value.
    #[error("the checksum does not fit the chunks")]
    Checksum,
}

impl Client {
    /// Stores a large value in chunks of at most [`CHUNK_BYTES`], which expire after `ttl`. The
    /// name must be new: other instances may still be reading a value with a used name.
    ///
    /// # Errors
    /// [`Error`]; the chunks that were stored until then expire.
    pub async fn upload(&self, name: &str, body: &[u8], ttl: Duration) -> Result<Chunks, Error> {
        let checksum = format!("{:032x}", xxh3_128(body));
        let count = body.len().div_ceil(CHUNK_BYTES);
        let chunks = Chunks { name: name.to_owned(), count, bytes: body.len(), checksum };
        for (at, part) in body.chunks(CHUNK_BYTES).enumerate() {
            let sealed = self.seal(&chunks.context(at), part);
            let mut set = redis::cmd("SET");
            set.arg(self.chunk_key(&chunks, at)).arg(sealed).arg("PX").arg(ttl.as_millis());
            self.command::<()>(&set, ONE_CHUNK).await?;
        }
        Ok(chunks)
    }

    /// Reads a large value of at most `max_bytes`.
    ///
    /// # Errors
    /// [`DownloadError`]; a chunk that is damaged or missing makes the whole value unusable.
    pub async fn download(
        &self,
        chunks: &Chunks,
        max_bytes: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        if chunks.bytes > max_bytes || chunks.count != chunks.bytes.div_ceil(CHUNK_BYTES) {
            return Err(DownloadError::Size);
        }
        let mut body = Vec::new();
        for at in 0..chunks.count {
            let bytes = CHUNK_BYTES.min(chunks.bytes - body.len());
            let sealed = self.chunk(chunks, at, bytes).await?;
            let part = self.open(&chunks.context(at), &sealed);
            let part = part.ok().filter(|part| part.len() == bytes);
            body.extend_from_slice(part.ok_or(DownloadError::Damaged(at))?);
        }
        if format!("{:032x}", xxh3_128(&body)) != chunks.checksum {
            return Err(DownloadError::Checksum);
        }
        Ok(body)
    }

    /// The sealed chunk, or its beginning if the key has more bytes than expected.
    async fn chunk(
        &self,
        chunks: &Chunks,
        at: usize,
        bytes: usize,
    ) -> Result<Vec<u8>, DownloadError> {
        let mut get = redis::cmd("GETRANGE");
        get.arg(self.chunk_key(chunks, at)).arg(0).arg(bytes + self.0.sealer.len());
        let sealed: Vec<u8> = match self.command(&get, ONE_CHUNK).await {
            Err(Error::Refused(code)) if code == "WRONGTYPE" => {
                return Err(DownloadError::Damaged(at));
            }
            answer => answer?,
        };
        if sealed.is_empty() {
            return Err(DownloadError::Missing(at));
        }
        Ok(sealed)
    }

    /// Sets the expiry of the chunks to `ttl` from now. Returns `false` if one of them is missing.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn extend(&self, chunks: &Chunks, ttl: Duration) -> Result<bool, Error> {
        let keys: Vec<String> = self.chunk_keys(chunks).collect();
        if keys.is_empty() {
            return Ok(true);
        }
        Ok(self.expire(&keys, ttl, ONE_CHUNK).await?.into_iter().all(|is_there| is_there))
    }

    /// Sets the expiry of keys to `ttl` from now. Returns which of them have a value.
    pub(crate) async fn expire(
        &self,
        keys: &[String],
        ttl: Duration,
        within: Duration,
    ) -> Result<Vec<bool>, Error> {
        self.script(EXPIRE, keys, vec![ttl.as_millis().into()], within).await
    }

    /// Removes the chunks.
    ///
    /// # Errors
    /// [`Error`]; chunks that were not removed expire.
    pub async fn discard(&self, chunks: &Chunks) -> Result<(), Error> {
        if chunks.count == 0 {
            return Ok(());
        }
        let mut unlink = redis::cmd("UNLINK");
        for at in 0..chunks.count {
            unlink.arg(self.chunk_key(chunks, at));
        }
        self.command(&unlink, ONE_CHUNK).await
    }

    /// The keys of the chunks in Redis, for a script.
    pub fn chunk_keys(&self, chunks: &Chunks) -> impl Iterator<Item = String> {
        (0..chunks.count).map(|at| self.chunk_key(chunks, at))
    }

    fn chunk_key(&self, chunks: &Chunks, at: usize) -> String {
        self.key(&format!("{}:{at}", chunks.name))
    }
}

impl Chunks {
    /// The context of the seal of a chunk: its value and its index.
    fn context(&self, at: usize) -> String {
        let Self { name, count, bytes, checksum } = self;
        format!("chunk:{name}:{at}/{count}:{bytes}:{checksum}")
    }
}

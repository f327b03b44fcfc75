//! The serialized form of a snapshot: what survives the process, or travels to another one.
//!
//! It is complete or refused. A checksum covers all of it, so that no byte can be changed or lost
//! unnoticed, and the snapshot that is built from it must have the hash of the original's URLs.
//! Titles are content: they are left out of what is kept on a disk, and are there between instances.

mod body;
pub(crate) mod bytes;
mod columns;
mod delta;
mod rows;

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use xxhash_rust::xxh3::xxh3_128;

use super::{Builder, Listing, Snapshot};
use bytes::{Reader, write_number};

/// The first bytes of every serialized snapshot.
const MAGIC: [u8; 8] = *b"FMAPSNAP";
/// The format without titles. A format changes with the form of the bytes or their meaning.
const FORMAT: u8 = 4;
/// The format with titles: one more column.
const FORMAT_WITH_TITLES: u8 = 5;
/// The formats before entries had the flag of owners. The first by locale, then by `documentId`, owned
/// a path then, as it does without any flag.
const FORMAT_WITHOUT_OWNERS: u8 = 2;
const FORMAT_WITH_TITLES_WITHOUT_OWNERS: u8 = 3;
/// The length of what comes before the part that the checksum covers.
const CHECKED_FROM: usize = MAGIC.len() + size_of::<u128>();
/// Snapshots are written often and read once: the default level saves a twentieth in twice the time.
const COMPRESSION: Compression = Compression::fast();

/// Why bytes are not a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// They do not begin like one.
    #[error("not a serialized snapshot")]
    NotASnapshot,
    /// Another version of the service has written them.
    #[error("a snapshot of the unknown format {0}")]
    OtherFormat(u8),
    /// A byte has changed, or some are missing.
    #[error("the checksum of the snapshot does not match")]
    Checksum,
    /// The checksum matches, but the content contradicts itself.
    #[error("the snapshot is malformed: {0}")]
    Malformed(&'static str),
}

/// Whether the titles of documents are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Titles {
    /// They are, so that the snapshot that is read equals the one that was written.
    Kept,
    /// They are not: each version is read without a title.
    LeftOut,
}

/// A serialized snapshot whose checksum matches.
#[derive(Clone, Copy, Debug)]
pub struct Serialized<'b> {
    /// The text that [`Snapshot::serialize`] was given.
    pub head: &'b str,
    titles: Titles,
    /// Compressed.
    body: &'b [u8],
}

impl Snapshot {
    /// The bytes from which [`Serialized::read`] gets `head` and the snapshot: a checksum, the head,
    /// and the compressed body.
    pub fn serialize(&self, head: &str, titles: Titles) -> Vec<u8> {
        let mut checked = vec![titles.format()];
        write_number(&mut checked, head.len() as u64);
        checked.extend(head.as_bytes());
        checked.extend(deflate(&body::write(self, titles)));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(xxh3_128(&checked).to_le_bytes());
        bytes.extend(checked);
        bytes
    }

    /// Whether the snapshot can be one of this listing: its rules, locales and hosts exist. Snapshots
    /// of equal settings always can.
    pub fn fits(&self, listing: Listing<'_>) -> bool {
        let rules: Vec<usize> = listing.rules.positions_of_type(listing.uid).collect();
        self.hosts == listing.hosts.by_locale()
            && self.has_locales(listing.rules.locales().as_slice().len())
            && self.urls().all(|url| rules.contains(&url.rule()))
            && self.no_url().all(|row| rules.contains(&row.rule))
    }

    /// Whether it can be one of a site with so many locales.
    pub fn has_locales(&self, count: usize) -> bool {
        self.urls().all(|url| url.locale() < count)
            && self.no_url().all(|row| row.locale.is_none_or(|locale| locale < count))
    }
}

impl Titles {
    fn format(self) -> u8 {
        match self {
            Self::Kept => FORMAT_WITH_TITLES,
            Self::LeftOut => FORMAT,
        }
    }
}

pub(crate) fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), COMPRESSION);
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("a vector takes all bytes")
}

/// The bytes from which these were compressed, if they are at most `max_bytes`: a few kilobytes may
/// stand for gigabytes.
pub(crate) fn inflate(bytes: &[u8], max_bytes: usize) -> Result<Vec<u8>, Unreadable> {
    let mut inflated = Vec::new();
    let malformed = |_: io::Error| Unreadable::Malformed("it cannot be decompressed");
    let limit = (max_bytes as u64).saturating_add(1);
    DeflateDecoder::new(bytes).take(limit).read_to_end(&mut inflated).map_err(malformed)?;
    if inflated.len() > max_bytes {
        return Err(Unreadable::Malformed("it is too large"));
    }
    Ok(inflated)
}

impl<'b> Serialized<'b> {
    /// Checks the bytes of a serialized snapshot.
    ///
    /// # Errors
    /// [`Unreadable`] if they are not exactly what was written.
    pub fn read(bytes: &'b [u8]) -> Result<Self, Unreadable> {
        let checked = bytes.get(CHECKED_FROM..).ok_or(Unreadable::NotASnapshot)?;
        let (magic, checksum) = bytes[..CHECKED_FROM].split_at(MAGIC.len());
        if magic != MAGIC {
            return Err(Unreadable::NotASnapshot);
        }
        if checksum != xxh3_128(checked).to_le_bytes() {
            return Err(Unreadable::Checksum);
        }
        let mut reader = Reader::new(checked);
        let titles = match reader.byte()? {
            FORMAT | FORMAT_WITHOUT_OWNERS => Titles::LeftOut,
            FORMAT_WITH_TITLES | FORMAT_WITH_TITLES_WITHOUT_OWNERS => Titles::Kept,
            other => return Err(Unreadable::OtherFormat(other)),
        };
        let length = reader.count()?;
        Ok(Self { head: reader.text(length)?, titles, body: reader.rest() })
    }

    /// The snapshot.
    ///
    /// # Errors
    /// [`Unreadable::Malformed`].
    pub fn snapshot(&self, builder: Builder) -> Result<Snapshot, Unreadable> {
        self.snapshot_within(usize::MAX, builder)
    }

    /// The snapshot, if it takes at most `max_bytes` once it is decompressed: bytes of another machine
    /// may stand for more memory than there is.
    ///
    /// # Errors
    /// [`Unreadable::Malformed`].
    pub fn snapshot_within(
        &self,
        max_bytes: usize,
        builder: Builder,
    ) -> Result<Snapshot, Unreadable> {
        body::read(&inflate(self.body, max_bytes)?, self.titles, builder, false)
    }
}

/// For tests: the body, without a checksum.
#[cfg(test)]
pub(super) fn body_of(snapshot: &Snapshot) -> Vec<u8> {
    body::write(snapshot, Titles::Kept)
}

/// For tests: the snapshot of a body.
#[cfg(test)]
pub(super) fn of_body(bytes: &[u8], builder: Builder) -> Result<Snapshot, Unreadable> {
    body::read(bytes, Titles::Kept, builder, false)
}

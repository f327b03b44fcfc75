//! The serialized form of a snapshot: what survives the process, or travels to another one.
//!
//! It is complete or refused. A checksum covers all of it, so that no byte can be changed or lost
//! unnoticed, and the snapshot that is built from it must have the hash of the original's URLs.
//! Titles are left out, because they are content, and so are the former paths of withdrawn documents.

mod body;
mod bytes;
mod columns;
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
/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 2;
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

/// A serialized snapshot whose checksum matches.
#[derive(Clone, Copy, Debug)]
pub struct Serialized<'b> {
    /// The text that [`Snapshot::serialize`] was given.
    pub head: &'b str,
    /// Compressed.
    body: &'b [u8],
}

impl Snapshot {
    /// The bytes from which [`Serialized::read`] gets `head` and the snapshot: a checksum, the head,
    /// and the compressed body.
    #[must_use]
    pub fn serialize(&self, head: &str) -> Vec<u8> {
        let mut checked = vec![FORMAT];
        write_number(&mut checked, head.len() as u64);
        checked.extend(head.as_bytes());
        checked.extend(deflate(&body::write(self)));
        let mut bytes = MAGIC.to_vec();
        bytes.extend(xxh3_128(&checked).to_le_bytes());
        bytes.extend(checked);
        bytes
    }

    /// Whether the snapshot can be one of this listing: its rules, locales and hosts exist. Snapshots
    /// of equal settings always can.
    #[must_use]
    pub fn fits(&self, listing: Listing<'_>) -> bool {
        let rules: Vec<usize> = listing.rules.positions_of_type(listing.uid).collect();
        self.hosts == listing.hosts.by_locale()
            && self.has_locales(listing.rules.locales().as_slice().len())
            && self.urls().all(|url| rules.contains(&url.rule()))
            && self.no_url().all(|row| rules.contains(&row.rule))
    }

    /// Whether it can be one of a site with so many locales.
    #[must_use]
    pub fn has_locales(&self, count: usize) -> bool {
        self.urls().all(|url| url.locale() < count)
            && self.no_url().all(|row| row.locale.is_none_or(|locale| locale < count))
    }
}

fn deflate(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), COMPRESSION);
    let written = encoder.write_all(bytes).and_then(|()| encoder.finish());
    written.expect("a vector takes all bytes")
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
        match reader.byte()? {
            FORMAT => {}
            other => return Err(Unreadable::OtherFormat(other)),
        }
        let length = reader.count()?;
        Ok(Self { head: reader.text(length)?, body: reader.rest() })
    }

    /// The snapshot.
    ///
    /// # Errors
    /// [`Unreadable::Malformed`].
    pub fn snapshot(&self, builder: Builder) -> Result<Snapshot, Unreadable> {
        let mut body = Vec::new();
        let malformed = |_: io::Error| Unreadable::Malformed("it cannot be decompressed");
        DeflateDecoder::new(self.body).read_to_end(&mut body).map_err(malformed)?;
        body::read(&body, builder)
    }
}

/// For tests: the body, without a checksum.
#[cfg(test)]
pub(super) fn body_of(snapshot: &Snapshot) -> Vec<u8> {
    body::write(snapshot)
}

/// For tests: the snapshot of a body.
#[cfg(test)]
pub(super) fn of_body(bytes: &[u8], builder: Builder) -> Result<Snapshot, Unreadable> {
    body::read(bytes, builder)
}

//! The serialized form of a snapshot: what survives the process, or travels to another one.
//!
//! It is complete or refused. A checksum covers all of it, so that no byte can be changed or lost
//! unnoticed, and the snapshot that is built from it must have the hash of the original's URLs.
//! Titles are content: they are left out of what is kept on a disk, and are there between instances.

mod body;
mod delta;

use std::io::{self, Read, Write};

use flate2::Compression;
use flate2::read::DeflateDecoder;
use flate2::write::DeflateEncoder;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_128;

use super::{Builder, Listing, Snapshot};
use body::Body;

/// The first bytes of every serialized snapshot.
const MAGIC: [u8; 8] = *b"FMAPSNAP";
/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 7;
/// Snapshots are written often and read once: the default level saves a twentieth in twice the time.
const COMPRESSION: Compression = Compression::fast();

/// Why bytes are not a snapshot, a delta, a table of links or a part of a batch of changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unreadable {
    /// They do not begin like one.
    #[error("it is of another kind")]
    OtherKind,
    /// Another version of the service has written them.
    #[error("its format {0} is unknown")]
    OtherFormat(u8),
    /// A byte has changed, or some are missing.
    #[error("its checksum does not match")]
    Checksum,
    /// The settings had other fields, locales, hosts or another content source.
    #[error("it was made by other settings")]
    OtherSettings,
    /// The checksum matches, but the content contradicts itself.
    #[error("it is malformed: {0}")]
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
    /// Compressed.
    body: &'b [u8],
}

impl Snapshot {
    /// The bytes from which [`Serialized::read`] gets `head` and the snapshot: a checksum, the head,
    /// and the compressed body.
    pub fn serialize(&self, head: &str, titles: Titles) -> Vec<u8> {
        seal(MAGIC, FORMAT, head, &Body::of(self, titles))
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

/// Bytes from which [`open`] gets the head and the compressed body: a checksum covers both.
pub(crate) fn seal(magic: [u8; 8], format: u8, head: &str, body: &impl Serialize) -> Vec<u8> {
    let checked = [encode(&(format, head)), deflate(body)].concat();
    [&magic[..], &xxh3_128(&checked).to_le_bytes(), &checked].concat()
}

/// The head and the compressed body of bytes that [`seal`] has made.
pub(crate) fn open(magic: [u8; 8], format: u8, bytes: &[u8]) -> Result<(&str, &[u8]), Unreadable> {
    let rest = bytes.strip_prefix(&magic).ok_or(Unreadable::OtherKind)?;
    let (checksum, checked) = rest.split_first_chunk().ok_or(Unreadable::OtherKind)?;
    if *checksum != xxh3_128(checked).to_le_bytes() {
        return Err(Unreadable::Checksum);
    }
    match checked.split_first() {
        Some((own, rest)) if *own == format => {
            postcard::take_from_bytes(rest).map_err(|_| Unreadable::Malformed("it has no head"))
        }
        other => Err(Unreadable::OtherFormat(other.map_or(0, |(own, _)| *own))),
    }
}

pub(crate) fn encode(value: &impl Serialize) -> Vec<u8> {
    postcard::to_extend(value, Vec::new()).expect("a vector takes all bytes")
}

/// Reads all of what was encoded.
pub(crate) fn decode<'b, T: Deserialize<'b>>(bytes: &'b [u8]) -> Result<T, Unreadable> {
    match postcard::take_from_bytes(bytes) {
        Ok((value, [])) => Ok(value),
        Ok(_) => Err(Unreadable::Malformed("bytes are left over")),
        Err(_) => Err(Unreadable::Malformed("a value is not of this form")),
    }
}

pub(crate) fn deflate(value: &impl Serialize) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), COMPRESSION);
    let written = encoder.write_all(&encode(value)).and_then(|()| encoder.finish());
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
        let (head, body) = open(MAGIC, FORMAT, bytes)?;
        Ok(Self { head, body })
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
        decode::<Body<'_>>(&inflate(self.body, max_bytes)?)?.snapshot(builder, false)
    }
}

/// For tests: the body, without a checksum.
#[cfg(test)]
pub(super) fn body_of(snapshot: &Snapshot) -> Vec<u8> {
    encode(&Body::of(snapshot, Titles::Kept))
}

/// For tests: the snapshot of a body.
#[cfg(test)]
pub(super) fn of_body(bytes: &[u8], builder: Builder) -> Result<Snapshot, Unreadable> {
    decode::<Body<'_>>(bytes)?.snapshot(builder, false)
}

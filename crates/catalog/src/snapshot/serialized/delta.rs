//! The serialized form of a delta.

use super::bytes::Reader;
use super::{Titles, Unreadable, body, deflate, inflate};
use crate::snapshot::build::Builder;
use crate::snapshot::{Change, Delta};

/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 2;

const NO_DELTA: Unreadable = Unreadable::Malformed("the documents of a delta are not in order");

impl Delta {
    /// The bytes from which [`Delta::read`] gets the delta, titles included. They have no checksum of
    /// their own: a changed byte is noticed when the delta is applied, if not before.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend(self.hash.to_le_bytes());
        if let Some(change) = &self.change {
            bytes.extend(deflate(&write(change)));
        }
        bytes
    }

    /// The delta of these bytes, if it takes at most `max_bytes` once it is decompressed.
    ///
    /// # Errors
    /// [`Unreadable`] if they cannot be those of a delta.
    pub fn read(bytes: &[u8], max_bytes: usize) -> Result<Self, Unreadable> {
        let mut reader = Reader::new(bytes);
        match reader.byte()? {
            FORMAT => {}
            other => return Err(Unreadable::OtherFormat(other)),
        }
        let (low, high) = (reader.word()?, reader.word()?);
        let hash = u128::from(high) << u64::BITS | u128::from(low);
        let rest = reader.rest();
        let change = if rest.is_empty() { None } else { Some(read(&inflate(rest, max_bytes)?)?) };
        Ok(Self { hash, change })
    }
}

fn write(change: &Change) -> Vec<u8> {
    let mut bytes = Vec::new();
    for hashes in [&change.documents, &change.beyond_removed] {
        super::write_number(&mut bytes, hashes.len() as u64);
        for hash in hashes {
            bytes.extend(hash.to_le_bytes());
        }
    }
    bytes.extend(body::write(&change.present, Titles::Kept));
    bytes
}

fn read(bytes: &[u8]) -> Result<Change, Unreadable> {
    let mut reader = Reader::new(bytes);
    let mut hashes = || -> Result<Vec<u64>, Unreadable> {
        let count = reader.count()?;
        let hashes: Result<Vec<u64>, Unreadable> = (0..count).map(|_| reader.word()).collect();
        hashes.and_then(|hashes| if hashes.is_sorted() { Ok(hashes) } else { Err(NO_DELTA) })
    };
    let (documents, beyond_removed) = (hashes()?, hashes()?);
    let builder = Builder { path_table: false };
    let present = body::read(reader.rest(), Titles::Kept, builder, true)?;
    Ok(Change { documents, beyond_removed, present })
}

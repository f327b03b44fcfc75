//! The serialized form of a delta.

use serde::{Deserialize, Serialize};

use super::body::Body;
use super::{Titles, Unreadable, decode, deflate, inflate};
use crate::snapshot::build::Builder;
use crate::snapshot::{Change, Delta};

/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 4;

const TRUNCATED: Unreadable = Unreadable::Malformed("it ends too early");

#[derive(Serialize, Deserialize)]
struct Wire<'w> {
    documents: Vec<[u8; 8]>,
    #[serde(borrow)]
    present: Body<'w>,
}

impl Delta {
    /// The bytes from which [`Delta::read`] gets the delta, titles included. They have no checksum of
    /// their own: a changed byte is noticed when the delta is applied, if not before.
    pub fn serialize(&self) -> Vec<u8> {
        let mut bytes = vec![FORMAT];
        bytes.extend(self.hash.to_le_bytes());
        if let Some(Change { documents, present }) = &self.change {
            let documents = documents.iter().map(|hash| hash.to_le_bytes()).collect();
            let present = Body::of(present, Titles::Kept);
            bytes.extend(deflate(&Wire { documents, present }));
        }
        bytes
    }

    /// The delta of these bytes, if it takes at most `max_bytes` once it is decompressed.
    ///
    /// # Errors
    /// [`Unreadable`] if they cannot be those of a delta.
    pub fn read(bytes: &[u8], max_bytes: usize) -> Result<Self, Unreadable> {
        let (format, rest) = bytes.split_first().ok_or(TRUNCATED)?;
        if *format != FORMAT {
            return Err(Unreadable::OtherFormat(*format));
        }
        let (hash, rest) = rest.split_first_chunk().ok_or(TRUNCATED)?;
        let change = if rest.is_empty() { None } else { Some(read(&inflate(rest, max_bytes)?)?) };
        Ok(Self { hash: u128::from_le_bytes(*hash), change })
    }
}

fn read(bytes: &[u8]) -> Result<Change, Unreadable> {
    let Wire { documents, present } = decode(bytes)?;
    let documents: Vec<u64> = documents.into_iter().map(u64::from_le_bytes).collect();
    if !documents.is_sorted() {
        return Err(Unreadable::Malformed("the documents of a delta are not in order"));
    }
    let present = present.snapshot(Builder { path_table: false }, true)?;
    Ok(Change { documents, present })
}

//! A batch of changes as it travels between instances, in parts of a bounded size.
//!
//! The bytes are sealed by Redis's client; what is read here may have been written by another
//! version of the service all the same, so that each value is checked.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::entry::Entry;
use super::site_log::Batch;
use crate::snapshot::Unreadable;
use crate::snapshot::serialized::{decode, deflate, inflate};

/// The format, which changes with the form of the bytes or their meaning.
const FORMAT: u8 = 2;
/// The changes of a part, in bytes before compression: no part of a batch is larger in Redis.
const PART_BYTES: usize = 512 * 1024;
/// The most bytes of a part after decompression: the last change may exceed [`PART_BYTES`].
const MAX_INFLATED: usize = 2 * 1024 * 1024;
/// The parts of one batch. More changes would block Redis: the log begins again instead.
const MAX_PARTS: usize = 64;

/// The snapshot whose publication made changes: one content type of a site, by one version of the settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The content type.
    pub uid: String,
    /// The id of the shared snapshot.
    pub snapshot_id: String,
    /// The position of the version that made the changes.
    pub position: String,
}

/// Consecutive changes of one log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// The identity of the log.
    pub log: u64,
    /// The sequence number of the first change.
    pub first: u64,
    /// What made them.
    pub origin: Origin,
    /// At least one.
    pub entries: Vec<Entry>,
}

/// The bytes of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EncodedPart {
    /// The sequence number of its last change.
    pub last: u64,
    /// At most 512 KiB, but for single changes with very long texts.
    pub bytes: Vec<u8>,
}

#[derive(Serialize, Deserialize)]
struct Wire<'w> {
    log: u64,
    first: u64,
    origin: Cow<'w, Origin>,
    #[serde(borrow)]
    entries: Vec<&'w [u8]>,
}

/// The parts of a batch that follows the change `last` of a log. `None`: it is too large.
pub fn encode(batch: &Batch, log: u64, last: u64, origin: &Origin) -> Option<Vec<EncodedPart>> {
    let mut parts = Vec::new();
    let mut numbered = batch.numbered(last).peekable();
    while let Some((first, _)) = numbered.peek() {
        if parts.len() == MAX_PARTS {
            return None;
        }
        let (first, mut bytes, mut last) = (*first, 0, *first);
        let mut entries = Vec::new();
        while bytes < PART_BYTES
            && let Some((sequence, entry)) = numbered.next()
        {
            entries.push(entry.bytes());
            bytes += entry.bytes().len();
            last = sequence;
        }
        let wire = Wire { log, first, origin: Cow::Borrowed(origin), entries };
        parts.push(EncodedPart { last, bytes: [vec![FORMAT], deflate(&wire)].concat() });
    }
    Some(parts)
}

impl Part {
    /// Reads what [`encode`] has written.
    ///
    /// # Errors
    /// [`Unreadable`] for anything else.
    pub fn decode(bytes: &[u8]) -> Result<Self, Unreadable> {
        let (format, compressed) =
            bytes.split_first().ok_or(Unreadable::Malformed("there are no bytes"))?;
        if *format != FORMAT {
            return Err(Unreadable::OtherFormat(*format));
        }
        let inflated = inflate(compressed, MAX_INFLATED)?;
        let Wire { log, first, origin, entries } = decode(&inflated)?;
        let entries: Option<Vec<Entry>> = entries.into_iter().map(Entry::read).collect();
        let is_of_type = |entry: &Entry| entry.change().uid == origin.uid;
        let entries = entries.filter(|entries| entries.iter().all(is_of_type));
        let entries = entries.ok_or(Unreadable::Malformed("a change"))?;
        let count = entries.len() as u64;
        if count == 0 || first == 0 || first.checked_add(count).is_none() {
            return Err(Unreadable::Malformed("the sequence numbers"));
        }
        Ok(Self { log, first, origin: origin.into_owned(), entries })
    }

    /// The sequence number of its last change.
    pub fn last(&self) -> u64 {
        self.first + self.entries.len() as u64 - 1
    }
}

#[cfg(test)]
mod tests {
    use super::super::entry::{Change, Kind};
    use super::*;
    use crate::snapshot::serialized::encode as bytes_of;

    fn origin() -> Origin {
        let uid = "api::article.article".to_owned();
        Origin { uid, snapshot_id: "0123456789abcdef".to_owned(), position: "3-7".to_owned() }
    }

    fn entry(n: usize, kind: Kind) -> Entry {
        let (path, from) = (format!("/en/articles/title-{n}"), format!("/en/articles/before-{n}"));
        Entry::new(&Change {
            kind,
            uid: &origin().uid,
            document_id: &format!("a0123456789 \"{n}"),
            locale: if n.is_multiple_of(2) { "en" } else { "de" },
            path: &path,
            from: (kind == Kind::Moved).then_some(&from),
            at: 1_700_000_000_000,
            was_listed: n.is_multiple_of(3),
            is_listed: n.is_multiple_of(5),
        })
    }

    fn batch(count: usize, keep: usize) -> Batch {
        let mut batch = Batch::default();
        (0..count).for_each(|n| batch.push(entry(n, Kind::ALL[n % 4]), keep));
        batch
    }

    #[test]
    fn parts_are_read_as_they_were_written_and_are_small() {
        for (count, keep) in [(0, 10), (1, 10), (25, 10), (20_000, 20_000)] {
            let batch = batch(count, keep);
            let encoded = encode(&batch, 3, 40, &origin()).unwrap();
            let mut read = Vec::new();
            for EncodedPart { last, bytes } in &encoded {
                assert!(bytes.len() <= PART_BYTES);
                let part = Part::decode(bytes).unwrap();
                assert_eq!((part.log, part.last(), &part.origin), (3, *last, &origin()));
                read.extend((part.first..).zip(part.entries));
            }
            let expected: Vec<_> =
                batch.numbered(40).map(|(at, entry)| (at, entry.clone())).collect();
            assert_eq!(read, expected);
            assert_eq!(encoded.len() > 1, count == 20_000);
        }
    }

    #[test]
    fn damaged_bytes_are_refused_or_read_as_bounded_changes() {
        let encoded = encode(&batch(50, 50), 3, 40, &origin()).unwrap().remove(0).bytes;
        for at in 0..encoded.len() {
            for flip in [1, 0x80, 0xff] {
                let mut bytes = encoded.clone();
                bytes[at] ^= flip;
                // Whatever it is: neither a panic nor more than fits in the bounds.
                if let Ok(part) = Part::decode(&bytes) {
                    assert!(part.entries.len() <= 50);
                }
            }
            assert!(Part::decode(&encoded[..at]).is_err());
        }
        assert_eq!(Part::decode(&[9, 1]), Err(Unreadable::OtherFormat(9)));
    }

    fn refused(first: u64, entries: Vec<&[u8]>) -> bool {
        let wire = Wire { log: 1, first, origin: Cow::Owned(origin()), entries };
        Part::decode(&[vec![FORMAT], deflate(&wire)].concat()).is_err()
    }

    #[test]
    fn changes_that_cannot_be_are_refused() {
        let added = Change {
            kind: Kind::Added,
            uid: "api::article.article",
            document_id: "d",
            locale: "en",
            path: "/a",
            from: None,
            at: 5,
            was_listed: false,
            is_listed: true,
        };
        let moved = Change { kind: Kind::Moved, from: Some("/b"), ..added };
        for good in [added, moved] {
            assert!(!refused(1, vec![&bytes_of(&good)]));
        }
        assert!(refused(1, Vec::new()));
        for first in [0, u64::MAX] {
            assert!(refused(first, vec![&bytes_of(&added)]), "{first}");
        }
        let long = format!("/{}", "a".repeat(65_535));
        for bad in [
            Change { uid: "api::other.other", ..added },
            Change { path: "a", ..added },
            Change { path: &long, ..added },
            Change { from: Some("/b"), ..added },
            Change { from: None, ..moved },
            Change { from: Some("b"), ..moved },
        ] {
            assert!(refused(1, vec![&bytes_of(&bad)]), "{bad:?}");
        }
        let bytes = bytes_of(&added);
        let (other_kind, mut other_listed) = ([&[5], &bytes[1..]].concat(), bytes.clone());
        *other_listed.last_mut().unwrap() = 2;
        let longer = [&*bytes, &[0]].concat();
        for bad in [&*other_kind, &other_listed, &longer, &bytes[..bytes.len() - 1]] {
            assert!(refused(1, vec![bad]), "{bad:?}");
        }
        // It is not decompressed beyond the bound.
        assert!(refused(
            1,
            vec![&bytes_of(&Change { document_id: &"d".repeat(MAX_INFLATED), ..added })]
        ));
    }

    #[test]
    fn batch_of_too_many_changes_has_no_parts() {
        // Each change fills a part.
        let path = format!("/{}", "a".repeat(60_000));
        let (moved, id) = (entry(0, Kind::Moved), "d".repeat(410_000));
        let change = Change { path: &path, from: Some(&path), document_id: &id, ..moved.change() };
        let mut batch = Batch::default();
        (0..=MAX_PARTS).for_each(|_| batch.push(Entry::new(&change), 1_000));
        assert_eq!(encode(&batch, 1, 0, &origin()), None);
    }
}

//! Which document stands in which file.
//!
//! A file holds the documents whose hash begins with certain bits. One file holds all of them; one
//! that grows too large becomes two, by the next bit. So a document that comes or goes changes one
//! file, at most splits it, and all others stay the same byte for byte, on every instance and after
//! every restart. Files are numbered like the nodes of a binary tree: 1, then 2 and 3, then 4 to 7.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3Default;

use super::Frame;
use super::write::{Group, groups};
use crate::snapshot::Snapshot;

/// The most URLs in a file (sitemaps.org).
const MOST_URLS: usize = 50_000;
/// The most bytes in a file before compression (sitemaps.org): 50 MiB, less a frame of any length.
const MOST_BYTES: usize = (50 << 20) - 4096;
/// Hashes have 64 bits, and the number of a file has to fit in as many.
const MOST_SPLITS: u32 = 60;

/// The files of one content type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// In the order of the documents' hashes; none of them is empty.
    pub files: Vec<File>,
}

/// One file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its number, at least 1.
    pub number: u64,
    /// Its part of the snapshot's URLs, as in [`Snapshot::documents`].
    pub range: Range<usize>,
    /// How many URLs it lists.
    pub urls: usize,
    /// When its newest entry was modified, in milliseconds since 1970.
    pub newest: Option<i64>,
    /// A hash of all that stands in it: for one frame, files with the same hash are equal.
    pub hash: u128,
}

/// How large the files may get.
#[derive(Clone, Copy)]
pub(super) struct Most {
    pub(super) urls: usize,
    pub(super) bytes: usize,
}

impl Layout {
    /// Shares out the listed URLs of a snapshot.
    #[must_use]
    pub fn new(snapshot: &Snapshot, frame: &Frame) -> Self {
        Self::within(snapshot, frame, Most { urls: MOST_URLS, bytes: MOST_BYTES })
    }

    pub(super) fn within(snapshot: &Snapshot, frame: &Frame, most: Most) -> Self {
        let mut layout = Self::default();
        layout.share(snapshot, frame, most, 0..snapshot.len(), (1, 0));
        layout
    }

    /// The file with this number.
    #[must_use]
    pub fn file(&self, number: u64) -> Option<&File> {
        self.files.iter().find(|file| file.number == number)
    }

    fn share(
        &mut self,
        snapshot: &Snapshot,
        frame: &Frame,
        most: Most,
        range: Range<usize>,
        (number, splits): (u64, u32),
    ) {
        if splits < MOST_SPLITS && is_too_large(snapshot, frame, most, &range) {
            let middle = snapshot.first_with_bit(range.clone(), splits);
            let (left, right) = (range.start..middle, middle..range.end);
            self.share(snapshot, frame, most, left, (2 * number, splits + 1));
            self.share(snapshot, frame, most, right, (2 * number + 1, splits + 1));
        } else {
            self.files.extend(file(snapshot, number, range));
        }
    }
}

/// Looks no further than it takes to know.
fn is_too_large(snapshot: &Snapshot, frame: &Frame, most: Most, range: &Range<usize>) -> bool {
    let mut groups = groups(snapshot, range.clone());
    let (mut urls, mut bytes, mut documents) = (0, 0, 0);
    groups.any(|group: Group<'_>| {
        urls += group.urls().count();
        bytes += frame.most_bytes(&group);
        documents += 1;
        // A document alone cannot be split.
        documents > 1 && (urls > most.urls || bytes > most.bytes)
    })
}

fn file(snapshot: &Snapshot, number: u64, range: Range<usize>) -> Option<File> {
    let mut hash = Xxh3Default::new();
    let (mut urls, mut newest) = (0, None);
    for group in groups(snapshot, range.clone()) {
        for url in group.urls() {
            urls += 1;
            newest = newest.max(url.modified());
            hash.update(url.path().as_bytes());
            hash.update(&[b'\n', u8::from(url.modified().is_some())]);
            hash.update(&url.modified().unwrap_or_default().to_le_bytes());
            hash.update(&url.locale().to_le_bytes());
        }
        // Where one group ends and the next begins.
        hash.update(b"\n");
    }
    (urls > 0).then(|| File { number, range, urls, newest, hash: hash.digest128() })
}

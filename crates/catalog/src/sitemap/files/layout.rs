//! The assignment of documents to sitemap files.
//!
//! A file lists the documents whose hash has a certain prefix of bits. The first file lists all of
//! them; a file that is too large is split in two by the next bit. So a new or removed document changes
//! one file, and at limits splits it; all others stay the same byte for byte, on every instance and after
//! every restart. Files are numbered like the nodes of a binary tree: 1, then 2 and 3, then 4 to 7.

use std::ops::Range;

use xxhash_rust::xxh3::Xxh3Default;

use super::Frame;
use super::write::{Group, groups};
use crate::sitemap::HiddenUrls;
use crate::snapshot::{PublicUrl, Snapshot};

/// URLs in a file (sitemaps.org).
const MAX_URLS: usize = 50_000;
/// Bytes in a file before compression (sitemaps.org): 50 MiB, less the file's head and tail.
const MAX_BYTES: usize = (50 << 20) - 4096;
/// A hash has 64 bits, and the number of a file must fit into 64 bits.
const MAX_SPLITS: u32 = 60;

/// The files of one content type.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// In the order of the documents' hashes, without empty ones.
    pub files: Vec<File>,
}

/// One sitemap file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its number, at least 1.
    pub number: u64,
    /// Its range of the snapshot's URLs, for [`Snapshot::documents`].
    pub range: Range<usize>,
    /// The number of URLs that it lists.
    pub urls: usize,
    /// The newest modification date of its entries, in milliseconds since 1970.
    pub newest: Option<i64>,
    /// A hash of its content: with the same frame, files with the same hash are equal.
    pub hash: u128,
}

/// The size limits of a file.
#[derive(Clone, Copy)]
pub(super) struct FileLimits {
    pub(super) urls: usize,
    pub(super) bytes: usize,
}

/// The URLs of a host, and the limits of its files.
struct Urls<'u> {
    snapshot: &'u Snapshot,
    hidden: Option<&'u HiddenUrls>,
    frame: &'u Frame,
    limits: FileLimits,
}

impl Layout {
    /// The files for the listed URLs of a snapshot on the host of the frame, without the hidden ones.
    pub fn new(snapshot: &Snapshot, hidden: Option<&HiddenUrls>, frame: &Frame) -> Self {
        Self::within(snapshot, hidden, frame, FileLimits { urls: MAX_URLS, bytes: MAX_BYTES })
    }

    pub(super) fn within(
        snapshot: &Snapshot,
        hidden: Option<&HiddenUrls>,
        frame: &Frame,
        limits: FileLimits,
    ) -> Self {
        let mut layout = Self::default();
        layout.split(&Urls { snapshot, hidden, frame, limits }, 0..snapshot.len(), 1, 0);
        layout
    }

    /// The file with this number.
    pub fn file(&self, number: u64) -> Option<&File> {
        self.files.iter().find(|file| file.number == number)
    }

    fn split(&mut self, urls: &Urls<'_>, range: Range<usize>, number: u64, splits: u32) {
        if splits < MAX_SPLITS && urls.are_too_large(&range) {
            let middle = urls.snapshot.first_with_bit(range.clone(), splits);
            let (left, right) = (range.start..middle, middle..range.end);
            self.split(urls, left, 2 * number, splits + 1);
            self.split(urls, right, 2 * number + 1, splits + 1);
        } else {
            self.files.extend(urls.file(number, range));
        }
    }
}

impl<'u> Urls<'u> {
    fn groups(&self, range: Range<usize>) -> impl Iterator<Item = Group<'u>> {
        groups(self.snapshot, self.hidden, self.frame, range)
    }

    /// Whether a part is too large for a file. Stops reading at the first document beyond the limits.
    fn are_too_large(&self, range: &Range<usize>) -> bool {
        let Self { frame, limits, .. } = self;
        let (mut urls, mut bytes, mut documents) = (0, 0, 0);
        self.groups(range.clone()).any(|group| {
            urls += group.urls_on(frame).count();
            bytes += frame.max_bytes(&group);
            documents += 1;
            // One document cannot be split.
            documents > 1 && (urls > limits.urls || bytes > limits.bytes)
        })
    }

    fn file(&self, number: u64, range: Range<usize>) -> Option<File> {
        let frame = self.frame;
        let mut hash = Xxh3Default::new();
        if frame.host > 0 {
            // On another host, the documents make another file.
            hash.update(&frame.host.to_le_bytes());
        }
        let (mut urls, mut newest) = (0, None::<i64>);
        for group in self.groups(range.clone()) {
            urls += group.urls_on(frame).count();
            newest = newest.max(group.urls_on(frame).filter_map(PublicUrl::modified).max());
            // With the URLs on other hosts, to which the file links.
            for url in group.urls() {
                hash.update(url.path().as_bytes());
                hash.update(&[b'\n', u8::from(url.modified().is_some())]);
                hash.update(&url.modified().unwrap_or_default().to_le_bytes());
                hash.update(&url.locale().to_le_bytes());
            }
            // The end of a group.
            hash.update(b"\n");
        }
        (urls > 0).then(|| File { number, range, urls, newest, hash: hash.digest128() })
    }
}

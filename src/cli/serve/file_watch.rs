//! Watches the settings file and the files that it refers to, by polling.

use std::fs;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::Xxh3;

use crate::cli::environment;
use crate::config;

/// The metadata of a file that was written more recently may not show another write: the time of
/// modification is as coarse as a tick of the system, or a second on some file systems.
const SETTLE_TIME: Duration = Duration::from_secs(2);

/// Watches the settings file and the files that it refers to.
pub(super) struct FileWatch {
    file: PathBuf,
    /// The files that the settings referred to when they could be read last.
    referenced: Vec<PathBuf>,
    /// The hash of the content that was loaded last.
    loaded: u128,
    last: Option<Snapshot>,
}

/// The files at one poll.
struct Snapshot {
    stamps: Vec<Option<Stamp>>,
    hash: u128,
    /// Whether a change of content would change the stamps.
    settled: bool,
}

/// Metadata that shows whether a file has changed, without reading it; links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device_and_inode: (u64, u64),
    length: u64,
    modified: (i64, i64),
}

impl FileWatch {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, referenced: Vec::new(), loaded: 0, last: None }
    }

    /// The present content has been loaded, or is about to be.
    pub(super) fn mark_loaded(&mut self) {
        if let Ok(referenced) = config::referenced_files(&self.file, &environment()) {
            self.referenced = referenced;
        }
        self.last = None;
        self.loaded = self.poll();
    }

    /// Whether the content differs from the loaded one and is the same as at the last poll: a file that
    /// is still being written is not loaded.
    pub(super) fn have_changed(&mut self) -> bool {
        let before = self.last.as_ref().map(|last| last.hash);
        let now = self.poll();
        now != self.loaded && before == Some(now)
    }

    fn poll(&mut self) -> u128 {
        let files = || iter::once(&self.file).chain(&self.referenced);
        let stamps: Vec<_> = files().map(|file| stamp(file)).collect();
        let known = self.last.as_ref().filter(|last| last.settled && last.stamps == stamps);
        let hash = known.map_or_else(|| hash(files()), |last| last.hash);
        let settled = stamps.iter().flatten().all(Stamp::is_settled);
        self.last = Some(Snapshot { stamps, hash, settled });
        hash
    }
}

impl Stamp {
    fn is_settled(&self) -> bool {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(self.modified.0).is_ok_and(|at| at + SETTLE_TIME.as_secs() < since.as_secs())
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    Some(Stamp {
        device_and_inode: (metadata.dev(), metadata.ino()),
        length: metadata.len(),
        modified: (metadata.mtime(), metadata.mtime_nsec()),
    })
}

fn hash<'f>(files: impl Iterator<Item = &'f PathBuf>) -> u128 {
    let mut hash = Xxh3::new();
    for file in files {
        let content = fs::read(file).ok();
        hash.update(&content.as_ref().map_or(u64::MAX, |text| text.len() as u64).to_le_bytes());
        hash.update(content.as_deref().unwrap_or_default());
    }
    hash.digest128()
}

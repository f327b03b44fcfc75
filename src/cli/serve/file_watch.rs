//! Whether files have changed since they were used.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use xxhash_rust::xxh3::Xxh3;

use crate::cli::environment;
use crate::config;

/// A file that was written a shorter time ago may be written again without showing it: its time of
/// change is as coarse as the system's ticks, or a second on some file systems.
const SETTLED: Duration = Duration::from_secs(2);

/// The settings file and those that it names.
pub(super) struct FileWatch {
    file: Option<PathBuf>,
    /// As the settings file named them when it could be read last.
    named: Vec<PathBuf>,
    /// The content that is in use.
    used: u128,
    seen: Option<Seen>,
}

/// The files at a moment.
struct Seen {
    stamps: Vec<Option<Stamp>>,
    hash: u128,
    /// Whether other content would show other stamps.
    settled: bool,
}

/// What tells one state of a file from the next without reading it, links followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    place: (u64, u64),
    length: u64,
    modified: (i64, i64),
}

impl FileWatch {
    pub(super) fn new(file: Option<PathBuf>) -> Self {
        Self { file, named: Vec::new(), used: 0, seen: None }
    }

    /// Their content of now is in use, or was found to be of no use.
    pub(super) fn use_now(&mut self) {
        if let Ok(named) = config::referenced_files(self.file.as_deref(), &environment()) {
            self.named = named;
        }
        self.seen = None;
        self.used = self.look();
    }

    /// Whether there is other content, and the same as at the last look: who writes a file piece by
    /// piece is given the time to.
    pub(super) fn have_changed(&mut self) -> bool {
        let before = self.seen.as_ref().map(|seen| seen.hash);
        let now = self.look();
        now != self.used && before == Some(now)
    }

    fn look(&mut self) -> u128 {
        let files = || self.file.iter().chain(&self.named);
        let stamps: Vec<_> = files().map(|file| stamp(file)).collect();
        let known = self.seen.as_ref().filter(|seen| seen.settled && seen.stamps == stamps);
        let hash = known.map_or_else(|| hash(files()), |seen| seen.hash);
        let settled = stamps.iter().flatten().all(Stamp::is_settled);
        self.seen = Some(Seen { stamps, hash, settled });
        hash
    }
}

impl Stamp {
    fn is_settled(&self) -> bool {
        let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        u64::try_from(self.modified.0).is_ok_and(|at| at + SETTLED.as_secs() < since.as_secs())
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let about = fs::metadata(file).ok()?;
    Some(Stamp {
        place: (about.dev(), about.ino()),
        length: about.len(),
        modified: (about.mtime(), about.mtime_nsec()),
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

//! Watches the settings file and the files that it refers to, by polling.

use std::fs;
use std::iter;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::config::{self, environment};

/// Watches the settings file and the files that it refers to.
pub(super) struct FileWatch {
    file: PathBuf,
    /// The files that the settings referred to when they could be read last.
    referenced: Vec<PathBuf>,
    /// The files as they were loaded last.
    loaded: Vec<Option<Stamp>>,
    /// The files at the last poll.
    last: Vec<Option<Stamp>>,
}

/// Metadata that shows whether a file has changed, without reading it; links are followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    device_and_inode: (u64, u64),
    length: u64,
    /// When content or metadata were last changed: no program can set this time, unlike that of the last
    /// modification.
    changed: (i64, i64),
}

impl FileWatch {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file, referenced: Vec::new(), loaded: Vec::new(), last: Vec::new() }
    }

    /// The present content has been loaded, or is about to be.
    pub(super) fn mark_loaded(&mut self) {
        if let Ok(referenced) = config::referenced_files(&self.file, &environment::of_process()) {
            self.referenced = referenced;
        }
        self.last = self.stamps();
        self.loaded.clone_from(&self.last);
    }

    /// Whether the files differ from the loaded ones and are the same as at the last poll: a file that is
    /// still being written is not loaded.
    pub(super) fn have_changed(&mut self) -> bool {
        let now = self.stamps();
        let before = std::mem::replace(&mut self.last, now);
        self.last != self.loaded && self.last == before
    }

    fn stamps(&self) -> Vec<Option<Stamp>> {
        iter::once(&self.file).chain(&self.referenced).map(|file| stamp(file)).collect()
    }
}

fn stamp(file: &Path) -> Option<Stamp> {
    let metadata = fs::metadata(file).ok()?;
    Some(Stamp {
        device_and_inode: (metadata.dev(), metadata.ino()),
        length: metadata.len(),
        changed: (metadata.ctime(), metadata.ctime_nsec()),
    })
}

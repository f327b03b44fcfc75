//! The sitemap files of a cached snapshot, and when each of them last changed.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use frontend_map_catalog::sitemap::files::{File, Frame, Layout};
use frontend_map_catalog::snapshot::Snapshot;

/// The sitemap files of one content type on one host.
#[derive(Debug)]
pub struct SitemapFiles {
    /// Which documents are in which file.
    pub layout: Layout,
    /// When a file was last added, changed or removed, as far as this process knows; a whole second, like
    /// [`CachedSnapshot::changed`](super::CachedSnapshot::changed).
    pub changed: SystemTime,
    /// When each file last changed, by its number.
    file_dates: HashMap<u64, SystemTime>,
    /// The parts of a file's text that do not depend on its documents.
    pub(crate) frame: Arc<Frame>,
}

impl SitemapFiles {
    /// The files of a snapshot; a file with the same content as in `before` keeps its date.
    pub(crate) fn new(snapshot: &Snapshot, frame: Arc<Frame>, before: Option<&Self>) -> Self {
        Self::of_layout(Layout::new(snapshot, None, &frame), frame, before)
    }

    /// The files of this layout; a file with the same content as in `before` keeps its date.
    pub(crate) fn of_layout(layout: Layout, frame: Arc<Frame>, before: Option<&Self>) -> Self {
        let now = next_whole_second();
        let since = |file: &File| {
            let before = before?;
            let same = before.layout.file(file.number)?.hash == file.hash;
            same.then(|| before.file_dates.get(&file.number).copied()).flatten()
        };
        let dated = |file: &File| (file.number, since(file).unwrap_or(now));
        let file_dates = layout.files.iter().map(dated).collect();
        let hashes = |layout: &Layout| -> Vec<(u64, u128)> {
            layout.files.iter().map(|file| (file.number, file.hash)).collect()
        };
        let same = before.filter(|before| hashes(&before.layout) == hashes(&layout));
        let changed = same.map_or(now, |before| before.changed);
        Self { layout, changed, file_dates, frame }
    }

    /// When a file of the layout last changed, as far as this process knows.
    pub fn changed(&self, file: &File) -> SystemTime {
        self.file_dates.get(&file.number).copied().unwrap_or(self.changed)
    }
}

/// The date for content that changes now: the next whole second. A client may have received other
/// content earlier in this second, and HTTP dates have no fractions of seconds.
pub(crate) fn next_whole_second() -> SystemTime {
    let now = SystemTime::now();
    let past = now.duration_since(UNIX_EPOCH).map_or(0, |since| since.subsec_nanos());
    now + Duration::from_secs(1) - Duration::from_nanos(past.into())
}

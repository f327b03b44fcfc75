//! The key of a run of URL checks: the site, the content type, and what the run finds out.

use frontend_map_catalog::site::Site;
use frontend_map_store::CONTENT_RUN;

/// What a run finds out. One that judges pages serves those who want the statuses alone, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunKind {
    /// The status of each URL.
    Status,
    /// The status of each URL, and the faults of each page that answers 200.
    Content,
}

impl RunKind {
    /// All kinds.
    pub const ALL: [Self; 2] = [Self::Status, Self::Content];
}

/// Requests with the same key share a run.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RunKey {
    /// The fingerprint of the site's settings: a reload that changes them starts a new run.
    pub site: u128,
    /// The content-type UID.
    pub content_type: String,
    /// What it finds out.
    pub kind: RunKind,
}

impl RunKey {
    /// The key of the runs of a kind over a content type of a site.
    pub fn of(site: &Site, content_type: &str, kind: RunKind) -> Self {
        Self { site: site.fingerprint, content_type: content_type.to_owned(), kind }
    }

    /// The name of the runs in the store and in Redis: no content type has a `#`.
    pub(super) fn name(&self) -> String {
        match self.kind {
            RunKind::Status => self.content_type.clone(),
            RunKind::Content => format!("{}{CONTENT_RUN}", self.content_type),
        }
    }
}

//! The status of each cache entry, for `/readyz` and `/metrics` of the admin listener.

use std::sync::Arc;

use crate::cached_snapshot::CachedSnapshot;
use crate::entry::Entry;
use crate::settings::Freshness;
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_fleet::status::SnapshotStatus;
use frontend_map_platform::metrics::WalkCounters;
use frontend_map_rules::ContentTypeUid;

/// The status of one content type of a site.
#[derive(Clone, Debug)]
pub struct TypeStatus<'a> {
    /// The site.
    pub site: &'a Site,
    /// The content type.
    pub uid: &'a ContentTypeUid,
    /// Its snapshot, if a refresh has succeeded.
    pub cached: Option<CachedSnapshot>,
    /// Whether the last refresh failed.
    pub failing: bool,
    /// Whether the snapshot is beyond its soft limit.
    pub stale: bool,
    /// Whether it is needed to decide about paths and not known yet.
    pub awaited: bool,
    /// Its counters.
    pub counters: Arc<WalkCounters>,
    /// What it shares with other instances; `None` without `[shared]`.
    pub shared: Option<SnapshotStatus>,
}

impl<'a> TypeStatus<'a> {
    pub(super) fn of(
        site: &'a Site,
        entry: &'a Entry,
        freshness: Freshness,
        shared: Option<SnapshotStatus>,
    ) -> Self {
        let cached = entry.cached();
        let stale = cached.as_ref().is_some_and(|cached| cached.begun.elapsed() >= freshness.soft);
        let (uid, counters) = (&entry.query.uid, Arc::clone(&entry.counters));
        let awaited = site.resolve == ResolveBy::Documents && cached.is_none();
        let failing = entry.failed().is_some();
        Self { site, uid, cached, failing, stale, awaited, counters, shared }
    }
}

//! The paths of a site that several documents have, also documents of different content types.

use std::collections::BTreeMap;
use std::sync::{Arc, Weak};

use rustc_hash::FxHashSet;
use xxhash_rust::xxh3::xxh3_64;

use super::MAX_ROWS;
use crate::site::{ResolveBy, Site};
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::Pathname;

/// The most versions that are listed for one path.
const MAX_VERSIONS: usize = 1_000;

/// The shared paths of some snapshots of a site. It does not keep the snapshots alive.
#[derive(Debug, Default)]
pub struct SharedPaths {
    snapshots: Vec<Weak<Snapshot>>,
    /// By the content type of the owner, then by path; at most [`MAX_ROWS`] of a content type.
    paths: Vec<SharedPath>,
    /// How many shared paths there are.
    pub(super) count: usize,
    /// Whether a path or a version is left out.
    pub(super) is_truncated: bool,
}

/// A path with its versions in the order of ownership: the owner, and at least one more.
#[derive(Debug)]
pub(super) struct SharedPath {
    pub(super) versions: Box<[VersionAt]>,
}

/// The position of a snapshot, and that of a version in it.
#[derive(Clone, Copy, Debug)]
pub(super) struct VersionAt {
    pub(super) snapshot: usize,
    pub(super) version: usize,
}

impl SharedPaths {
    /// Finds them in snapshots of the site, which are in the order of the rules. This takes some
    /// tenths of a second for a million URLs.
    pub fn find(site: &Site, snapshots: &[Arc<Snapshot>]) -> Self {
        let candidates = candidates(snapshots);
        let mut by_path: BTreeMap<(&str, usize), Vec<VersionAt>> = BTreeMap::new();
        if !candidates.is_empty() {
            for (at, snapshot) in snapshots.iter().enumerate() {
                for url in
                    snapshot.urls().filter(|url| candidates.contains(&hash(url.normalized_path())))
                {
                    let version = VersionAt { snapshot: at, version: url.position() };
                    by_path.entry((url.normalized_path(), url.host())).or_default().push(version);
                }
            }
        }
        by_path.retain(|_, versions| are_documents(versions, snapshots));
        let mut found = Self {
            snapshots: snapshots.iter().map(Arc::downgrade).collect(),
            count: by_path.len(),
            ..Self::default()
        };
        let ordered = by_path
            .into_iter()
            .map(|((path, _), versions)| in_order(site, path, versions, snapshots));
        let mut rows = vec![0; snapshots.len()];
        for mut versions in ordered {
            let of_type = &mut rows[versions[0].snapshot];
            *of_type += 1;
            found.is_truncated |= *of_type > MAX_ROWS || versions.len() > MAX_VERSIONS;
            versions.truncate(MAX_VERSIONS);
            if *of_type <= MAX_ROWS {
                found.paths.push(SharedPath { versions: versions.into() });
            }
        }
        // Stable: within a content type by path.
        found.paths.sort_by_key(|path| path.versions[0].snapshot);
        found
    }

    /// Whether a path or a version is left out.
    pub fn is_truncated(&self) -> bool {
        self.is_truncated
    }

    /// Whether these are the shared paths of these snapshots.
    pub fn are_of(&self, snapshots: &[Arc<Snapshot>]) -> bool {
        let same = |(own, other): (&Weak<Snapshot>, &Arc<Snapshot>)| {
            // The allocation of a weak reference is not used again.
            std::ptr::eq(own.as_ptr(), Arc::as_ptr(other))
        };
        self.snapshots.len() == snapshots.len() && self.snapshots.iter().zip(snapshots).all(same)
    }

    /// The paths whose owner is in the snapshot at this position.
    pub(super) fn of_snapshot(&self, at: usize) -> &[SharedPath] {
        let start = self.paths.partition_point(|path| path.versions[0].snapshot < at);
        let end = self.paths.partition_point(|path| path.versions[0].snapshot <= at);
        &self.paths[start..end]
    }
}

/// Hashes of all paths that several versions have.
fn candidates(snapshots: &[Arc<Snapshot>]) -> FxHashSet<u64> {
    let duplicates = snapshots.iter().flat_map(|snapshot| snapshot.duplicates());
    let mut candidates: FxHashSet<u64> =
        duplicates.map(|url| hash(url.normalized_path())).collect();
    let some = snapshots.iter().filter(|snapshot| !snapshot.is_empty());
    if { some }.count() > 1 {
        let urls = snapshots.iter().flat_map(|snapshot| snapshot.owners());
        let mut hashes: Vec<u64> = urls.map(|url| hash(url.normalized_path())).collect();
        hashes.sort_unstable();
        // Each path has one owner in a snapshot.
        let repeated = hashes.windows(2).filter(|pair| pair[0] == pair[1]);
        candidates.extend(repeated.map(|pair| pair[0]));
    }
    candidates
}

fn hash(path: &str) -> u64 {
    xxh3_64(path.as_bytes())
}

/// Whether the versions are of several documents.
fn are_documents(versions: &[VersionAt], snapshots: &[Arc<Snapshot>]) -> bool {
    let document =
        |at: &VersionAt| (at.snapshot, snapshots[at.snapshot].nth(at.version).document_id());
    let first = versions.first().map(document);
    versions.iter().any(|version| Some(document(version)) != first)
}

/// The versions of a path in the order of ownership: first those of the content type that the path
/// resolves to, then the others in the order of their rules; in a content type as in its sitemap
/// (D22). `versions` are in the order of the snapshots.
fn in_order(
    site: &Site,
    path: &str,
    mut versions: Vec<VersionAt>,
    snapshots: &[Arc<Snapshot>],
) -> Vec<VersionAt> {
    let pathname = Pathname::parse(path);
    let url = |at: &VersionAt| snapshots[at.snapshot].nth(at.version);
    let by_type = versions.chunk_by_mut(|one, other| one.snapshot == other.snapshot);
    let mut by_type: Vec<(TypeRank, &mut [VersionAt])> = by_type
        .map(|own| {
            own.sort_by(|one, other| url(one).rank().cmp(&url(other).rank()));
            (type_rank(site, &pathname, url(&own[0])), own)
        })
        .collect();
    by_type.sort_by_key(|(rank, _)| *rank);
    by_type.into_iter().flat_map(|(_, own)| own.iter().copied()).collect()
}

/// How the path leads to the content type, and the position of its rule.
type TypeRank = (u8, usize);

/// The rank of a content type whose document owns a path on its host, as requests for the path are
/// resolved (D8, D41).
fn type_rank(site: &Site, pathname: &Pathname<'_>, owner: PublicUrl<'_>) -> TypeRank {
    let (rules, rule) = (&site.rules, owner.rule());
    let host = site.hosts.host_if_several(owner.locale());
    let is_tie = || rules.tie_of_version(pathname, rule, owner.locale(), host).is_some();
    let content_type = &rules.rules()[rule].content_type;
    let is_found = || {
        rules.find_on(pathname, host).is_some_and(|found| found.rule.content_type == *content_type)
    };
    let class = match site.resolve {
        _ if owner.has_own_path() => 0,
        ResolveBy::Documents if is_tie() => 1,
        _ if is_found() => 2,
        _ => 3,
    };
    (class, rule)
}

//! Paths that documents share under the later settings, and shared none under the earlier ones.

use std::collections::HashSet;
use std::sync::Arc;

use serde::Serialize;

use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::Snapshot;
use frontend_map_catalog::tables::{Problem, Problems, SharedPaths, VersionRow};

/// A path with its documents.
#[derive(Clone, Debug, Serialize)]
pub(super) struct Collision {
    pub(super) path: String,
    /// The owner first; at least two.
    pub(super) versions: Vec<Version>,
}

/// A version of a document.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Version {
    pub(super) content_type: String,
    pub(super) document_id: String,
    pub(super) locale: String,
}

impl Collision {
    /// The content type of the owner.
    pub(super) fn owner_type(&self) -> &str {
        &self.versions[0].content_type
    }

    /// The versions in one order, whatever the path and its owner are.
    fn documents(&self) -> Vec<Version> {
        let mut documents = self.versions.clone();
        documents.sort_unstable();
        documents
    }
}

/// The collisions under the later settings between documents that share no path under the earlier ones,
/// and whether there are more than are listed.
pub(super) fn collisions(
    [before, after]: [Option<&Arc<Site>>; 2],
    snapshot: impl Fn(&Site, &str) -> Arc<Snapshot>,
) -> (Vec<Collision>, bool) {
    let of = |site: Option<&Arc<Site>>| {
        let Some(site) = site else { return (Vec::new(), false) };
        let types = site.rules.content_types();
        let snapshots: Vec<_> = types.iter().map(|uid| snapshot(site, uid.as_str())).collect();
        shared_paths(site, snapshots)
    };
    let (known, _) = of(before);
    let known: HashSet<Vec<Version>> = known.iter().map(Collision::documents).collect();
    let (mut found, more) = of(after);
    found.retain(|collision| !known.contains(&collision.documents()));
    (found, more)
}

fn shared_paths(site: &Arc<Site>, snapshots: Vec<Arc<Snapshot>>) -> (Vec<Collision>, bool) {
    let shared = Arc::new(SharedPaths::find(site, &snapshots));
    let more = shared.is_truncated();
    let problems = Problems::new(Arc::clone(site), snapshots, shared, None);
    let collision = |problem| match problem {
        Problem::SharedPath { path, owner, others } => Some(Collision {
            path: String::from(path),
            versions: std::iter::once(&owner).chain(&others).map(version).collect(),
        }),
        Problem::NoUrl { .. } | Problem::Redirect(_) => None,
    };
    (problems.rows().filter_map(collision).collect(), more)
}

fn version(row: &VersionRow<'_>) -> Version {
    Version {
        content_type: row.content_type.to_owned(),
        document_id: row.document_id.to_owned(),
        locale: row.locale.unwrap_or_default().to_owned(),
    }
}

//! The owner of a path that several documents have: it is what the URL of the others opens (D22).

use super::resolved_by;
use crate::app::App;
use frontend_map_catalog::path_index::{PathOwners, SharedPath, VersionPath};
use frontend_map_catalog::site::Site;

/// The owner of the path of a version that was read from the CMS, if it is another document.
pub(super) fn of_document(app: &App, site: &Site, version: VersionPath<'_>) -> Option<SharedPath> {
    let snapshot = app.snapshots.known(site, version.uid)?.cached.snapshot;
    let state = resolved_by::path_index(app, site);
    let index = state.as_ref().map(|state| &*state.index);
    PathOwners::new(site, index).other_owner(version, &snapshot)
}

//! The paths that have to do with a version beside its own: former ones, and one that others have, too.

use super::resolved_by::path_index;
use crate::app::App;
use frontend_map_catalog::moved::redirects;
use frontend_map_catalog::path_index::{PathIndex, PathOwners, SharedPath, VersionId, VersionPath};
use frontend_map_catalog::site::Site;

/// The paths that lead to a version because it had them before, as far as this is known.
pub(super) fn former_paths(
    app: &App,
    site: &Site,
    index: Option<&PathIndex>,
    version: VersionId<'_>,
    is_localized: bool,
) -> Vec<String> {
    let (Some(index), Some(history)) = (index, app.snapshots.history(site)) else {
        return Vec::new();
    };
    redirects::former_paths(history, site, index, version, is_localized)
}

/// The owner of the path of a version that was read from the CMS, if it is another document: it is what
/// the URL of the version opens (D22).
pub(super) fn shared_path(app: &App, site: &Site, version: VersionPath<'_>) -> Option<SharedPath> {
    let snapshot = app.snapshots.known(site, version.uid)?.cached.snapshot;
    let state = path_index(app, site);
    let index = state.as_ref().map(|state| &*state.index);
    PathOwners::new(site, index).other_owner(version, &snapshot)
}

//! What redirects of the CMS and the path history say of a path that no document has (D43).

use super::App;
use frontend_map_catalog::moved::entries::{RedirectEntries, RedirectWorld};
use frontend_map_catalog::moved::redirects::{self, FormerOwner};
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::site::Site;
use frontend_map_rules::Pathname;

/// The redirects of the CMS, if the site has content types for them; `entries` is the index of those.
pub(crate) fn redirects<'i>(
    app: &'i App,
    site: &'i Site,
    index: &'i PathIndex,
    entries: Option<&'i PathIndex>,
) -> Option<RedirectWorld<'i>> {
    let (entries, history) = (RedirectEntries { index: entries? }, app.snapshots.history(site));
    Some(RedirectWorld { site, index, entries, history, status: app.http.redirect_status })
}

/// What is known of a path that no document has: redirects of the CMS come before former paths.
pub(crate) fn former_owner<'i>(
    app: &App,
    site: &Site,
    index: &'i PathIndex,
    redirects: Option<RedirectWorld<'i>>,
    pathname: &Pathname<'_>,
    host: Option<usize>,
) -> FormerOwner<'i> {
    let Some(history) = app.snapshots.history(site) else { return FormerOwner::None };
    let of_entries = redirects.map(|redirects| redirects.former_owner(pathname, host));
    if let Some(of_entries) = of_entries.filter(|found| !matches!(found, FormerOwner::None)) {
        return of_entries;
    }
    // First: a document that had the path until the settings were changed had it last.
    if let Some(uid) = app.snapshots.type_that_had(site, pathname, host) {
        return FormerOwner::NotKnown(uid);
    }
    let former = redirects::former_owner(history, site, index, pathname, host);
    if matches!(former, FormerOwner::None) && app.imports.may_redirect(site, pathname) {
        // A list of redirects that waits for content types may have the path.
        let first = site.rules.content_types().first().copied();
        return first.map_or(FormerOwner::None, |uid| FormerOwner::NotKnown(uid.clone()));
    }
    match (former, redirects) {
        (FormerOwner::Moved(moved), Some(redirects)) => {
            redirects.of_former_path(moved, pathname, host)
        }
        (former, _) => former,
    }
}

//! Which document visitors see at a path, now and after an update.

use std::sync::Arc;

use super::World;
use crate::moved::redirects::{is_live, paths_in_default_locale};
use crate::path_index::{PathIndex, TypePaths};
use crate::site::{ResolveBy, Site};
use crate::snapshot::{PathsOnHosts, PublicUrl, Snapshot, Version};
use frontend_map_rules::{ContentTypeUid, Pathname};

/// The paths of a site. Of those after an update, the ones in question alone.
pub(super) struct Paths<'w> {
    site: &'w Site,
    types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>,
    /// For a site that resolves by documents. On others, the rules decide between content types.
    index: Option<PathIndex>,
}

impl<'w> Paths<'w> {
    /// All paths that the snapshots have.
    pub(super) fn of(world: &World<'w>) -> Self {
        Self::new(world.site, world.types.clone())
    }

    pub(super) fn new(site: &'w Site, types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>) -> Self {
        let index = (site.resolve == ResolveBy::Documents).then(|| {
            let fresh = |(uid, snapshot): &(&'w ContentTypeUid, Arc<Snapshot>)| {
                (*uid, TypePaths::Fresh(Arc::clone(snapshot)))
            };
            PathIndex::new(&site.rules, types.iter().map(fresh))
        });
        Self { site, types, index }
    }

    /// The snapshot of a content type.
    pub(super) fn snapshot(&self, uid: &str) -> Option<&Snapshot> {
        self.types.iter().find(|(own, _)| own.as_str() == uid).map(|(_, snapshot)| &**snapshot)
    }

    /// The content type of a URL.
    pub(super) fn type_of(&self, url: PublicUrl<'_>) -> &'w str {
        self.site.rules.rules()[url.rule()].content_type.as_str()
    }

    /// The document that a path leads to on a host.
    pub(super) fn page_at(&self, path: &str, host: usize) -> Option<PublicUrl<'_>> {
        let pathname = Pathname::parse(path);
        let on = self.site.hosts.are_several().then_some(host);
        if let Some(index) = &self.index {
            return index.owner(&self.site.rules, &pathname, on);
        }
        let found = self.site.rules.find_on(&pathname, on)?;
        self.snapshot(found.rule.content_type.as_str())?.owner_at(path, host)
    }

    /// Whether the path of a version leads to its document.
    pub(super) fn is_there(&self, uid: &str, url: PublicUrl<'_>) -> bool {
        self.leads_to(url.path(), url.host(), uid, url.document_id())
    }

    /// Whether a path leads to a document.
    pub(super) fn leads_to(&self, path: &str, host: usize, uid: &str, id: &str) -> bool {
        let page = self.page_at(path, host);
        page.is_some_and(|page| page.document_id() == id && self.type_of(page) == uid)
    }

    /// Whether a version owns its path in its content type, and not another version of its document.
    pub(super) fn is_owner(&self, url: PublicUrl<'_>) -> bool {
        let snapshot = self.snapshot(self.type_of(url));
        let versions = snapshot.into_iter().flat_map(|own| own.versions_of(url.document_id()));
        { versions }.any(|own| own.locale() == url.locale())
    }

    /// Whether documents of several content types have a path. If all of them leave it, it redirects to
    /// the one whose change is seen last.
    pub(super) fn is_shared(&self, path: &str, host: usize) -> bool {
        let has_path =
            |own: &&(&ContentTypeUid, Arc<Snapshot>)| own.1.owner_at(path, host).is_some();
        self.types.iter().filter(has_path).count() > 1
    }

    /// Whether a version still has its path, whichever document the path leads to.
    pub(super) fn has(&self, uid: &str, url: PublicUrl<'_>) -> bool {
        let version = self.snapshot(uid).map(|own| own.version(url.document_id(), url.locale()));
        let Some(Version::Url(own)) = version else { return false };
        own.locale() == url.locale() && own.normalized_path() == url.normalized_path()
    }

    /// Whether a path leads to any document or page.
    pub(super) fn is_live(&self, path: &str, host: usize) -> bool {
        let on = self.site.hosts.are_several().then_some(host);
        match &self.index {
            Some(index) => is_live(self.site, index, path, on),
            None => self.page_at(path, host).is_some() || self.site.pages.find(path, on).is_some(),
        }
    }
}

/// Adds a path, and those in the site's first locale to which it leads if no document has it (D19).
pub(super) fn add(paths: &mut PathsOnHosts, site: &Site, path: &str, host: usize) {
    paths.add(path, host);
    if site.resolve == ResolveBy::Documents {
        let (pathname, on) = (Pathname::parse(path), site.hosts.host_if_several(0));
        let here = site.hosts.are_several().then_some(host);
        for other in paths_in_default_locale(site, &pathname, here) {
            paths.add(&other, on.unwrap_or_default());
        }
    }
}

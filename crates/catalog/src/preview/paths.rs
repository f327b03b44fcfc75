//! Which document visitors see at a path, now and after an update.

use std::sync::Arc;

use super::world::World;
use crate::moved::entries::{
    Destination, EntryLookup, EntryOutcome, EntryRedirect, RedirectEntries, RedirectWorld,
};
use crate::moved::redirects::{
    FormerOwner, Redirect as FormerPath, SiteHistory, is_live, paths_in_default_locale,
};
use crate::path_index::PathIndex;
use crate::site::{ResolveBy, Site};
use crate::snapshot::{PathsOnHosts, PublicUrl, Snapshot, Version};
use frontend_map_rules::{ContentTypeUid, Pathname, without_trailing_slash};

/// The paths of a site. Of those after an update, the ones in question alone.
pub(super) struct Paths<'w> {
    site: &'w Site,
    types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>,
    /// For a site that resolves by documents. On others, the rules decide between content types.
    index: Option<PathIndex>,
    /// Of the redirects of the CMS.
    entries: Option<Arc<PathIndex>>,
    history: Option<SiteHistory<'w>>,
    /// The paths of pages that are gone, which the history does not know yet.
    pub(super) left: PathsOnHosts,
    /// The pages that move, as they were: the history does not know these paths yet either.
    pub(super) moved: Vec<PublicUrl<'w>>,
}

impl<'w> Paths<'w> {
    /// All paths that the snapshots have.
    pub(super) fn of(world: &World<'w>) -> Self {
        let entries = world.site.redirects.as_ref();
        let redirects = world.redirects.iter().cloned();
        let entries = entries.map(|site| Arc::new(PathIndex::of_fresh(&site.rules, redirects)));
        Self::new(world.site, world.types.clone(), entries, world.history)
    }

    /// The paths that these snapshots have, with the redirects and the former paths of now.
    pub(super) fn with(&self, types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>) -> Self {
        Self::new(self.site, types, self.entries.clone(), self.history)
    }

    fn new(
        site: &'w Site,
        types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>,
        entries: Option<Arc<PathIndex>>,
        history: Option<SiteHistory<'w>>,
    ) -> Self {
        let index = (site.resolve == ResolveBy::Documents)
            .then(|| PathIndex::of_fresh(&site.rules, types.iter().cloned()));
        let (left, moved) = (PathsOnHosts::default(), Vec::new());
        Self { site, types, index, entries, history, left, moved }
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

    /// Whether visitors find a version at its path.
    pub(super) fn is_there(&self, uid: &str, url: PublicUrl<'_>) -> bool {
        let (path, host) = (url.path(), url.host());
        let is_hidden = || self.entry_at(path, host).is_some_and(|entry| is_forced(&entry));
        self.has_page(path, host, uid, url.document_id()) && !is_hidden()
    }

    /// Whether a path is that of a document, which a redirect with `force` may hide.
    pub(super) fn has_page(&self, path: &str, host: usize, uid: &str, id: &str) -> bool {
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

    /// Whether a document or a page has a path, so that it is nobody's former path.
    pub(super) fn is_live(&self, path: &str, host: usize) -> bool {
        let on = self.site.hosts.are_several().then_some(host);
        let index = self.index.as_ref();
        self.leads_to_page(path, host)
            || index.is_some_and(|index| is_live(self.site, index, path, on))
    }

    /// Whether a path leads to any document or page.
    fn leads_to_page(&self, path: &str, host: usize) -> bool {
        let on = self.site.hosts.are_several().then_some(host);
        self.page_at(path, host).is_some() || self.site.pages.find(path, on).is_some()
    }

    /// Whether visitors of a path find a page, or are redirected by the CMS.
    pub(super) fn is_found(&self, path: &str, host: usize) -> bool {
        match self.deciding_entry(path, host) {
            Some(entry) => entry.destination.is_some(),
            None => self.leads_to_page(path, host),
        }
    }

    /// The redirect of the CMS that decides what visitors of a path find.
    pub(super) fn deciding_entry(&self, path: &str, host: usize) -> Option<EntryRedirect<'_>> {
        let entry = self.entry_at(path, host)?;
        (is_forced(&entry) || !self.leads_to_page(path, host)).then_some(entry)
    }

    /// Whether the CMS has a redirect for a path, wherever it leads.
    pub(super) fn has_entry(&self, path: &str, host: usize) -> bool {
        let on = self.site.hosts.are_several().then_some(host);
        let entries = self.entries.as_deref().map(|index| RedirectEntries { index });
        let found = entries.map(|entries| entries.find(&Pathname::parse(path), on));
        matches!(found, Some(EntryLookup::Found(_)))
    }

    /// The redirect of the CMS for a path. One that leads nowhere says nothing.
    pub(super) fn entry_at(&self, path: &str, host: usize) -> Option<EntryRedirect<'_>> {
        let world = self.world()?;
        let pathname = Pathname::parse(path);
        let on = self.site.hosts.are_several().then_some(host);
        let EntryLookup::Found(found) = world.entries.find(&pathname, on) else { return None };
        match world.follow(found, &pathname, on) {
            EntryOutcome::Leads(redirect) => self.with_moves(redirect, &pathname.normalized()),
            EntryOutcome::NotKnown(_) | EntryOutcome::Loop | EntryOutcome::NoTarget => None,
        }
    }

    /// The redirect of the CMS that visitors of a former path get, because it hides the page of the version
    /// that had the path.
    pub(super) fn entry_before_page(
        &self,
        path: &str,
        host: usize,
        uid: &str,
        version: PublicUrl<'_>,
    ) -> Option<EntryRedirect<'_>> {
        let page = self.snapshot(uid)?.version(version.document_id(), version.locale());
        let Version::Url(to) = page else { return None };
        let moved = FormerPath { to, since: 0, is_stale: false };
        let on = self.site.hosts.are_several().then_some(host);
        match self.world()?.of_former_path(moved, &Pathname::parse(path), on) {
            FormerOwner::Entry(redirect) => self.with_moves(redirect, to.normalized_path()),
            _ => None,
        }
    }

    fn world(&self) -> Option<RedirectWorld<'_>> {
        let entries = RedirectEntries { index: self.entries.as_deref()? };
        // The status does not decide where a redirect leads.
        let (index, status) = (self.index.as_ref()?, 308);
        Some(RedirectWorld { site: self.site, index, entries, history: self.history, status })
    }

    /// A redirect at a path, with the page that moves in place of the path that it had. `None`: it leads to
    /// the path of a page that is gone, or back to its own path.
    fn with_moves<'e>(
        &'e self,
        redirect: EntryRedirect<'e>,
        at: &str,
    ) -> Option<EntryRedirect<'e>> {
        let Some(Destination::Path { path, locale }) = &redirect.destination else {
            return Some(redirect);
        };
        let host = self.site.hosts.host_if_several(*locale).unwrap_or_default();
        if self.left.has(path, host) {
            return None;
        }
        let had = |page: &&PublicUrl<'_>| {
            page.host() == host && page.normalized_path() == without_trailing_slash(path)
        };
        let moved = self.moved.iter().find(had).and_then(|page| {
            let own = self.snapshot(self.type_of(*page))?;
            match own.version(page.document_id(), page.locale()) {
                Version::Url(own) => Some(own),
                _ => None,
            }
        });
        match moved {
            None => Some(redirect),
            Some(page) if page.normalized_path() == at => None,
            Some(page) => {
                Some(EntryRedirect { destination: Some(Destination::Document(page)), ..redirect })
            }
        }
    }
}

/// Whether a redirect comes before a live page.
pub(super) fn is_forced(entry: &EntryRedirect<'_>) -> bool {
    entry.entry.redirect().is_some_and(|redirect| redirect.force)
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

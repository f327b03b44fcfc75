//! Where the links in content lead: decided as `/api/resolve` decides it.

use std::sync::Arc;

use super::{App, former_owner, redirects};
use frontend_map_cache::{PathIndexState, SiteLinks};
use frontend_map_catalog::links::{KnownHosts, PageLookup};
use frontend_map_catalog::moved::redirects::FormerOwner;
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::resolve::{Resolution, resolve};
use frontend_map_catalog::site::Site;
use frontend_map_rules::Pathname;

/// What is known of the pages of all sites now.
pub(crate) struct AppPages<'a> {
    app: &'a App,
    links: &'a SiteLinks,
    /// Of each site, with that of its redirects.
    indexes: Vec<SiteIndexes>,
}

struct SiteIndexes {
    documents: Option<PathIndexState>,
    redirects: Option<PathIndexState>,
}

impl<'a> AppPages<'a> {
    /// What is known now.
    pub(crate) fn new(app: &'a App, links: &'a SiteLinks) -> Self {
        let index = |site: &Site| app.snapshots.path_index(site);
        let indexes = links.hosts().sites().iter().map(|site| SiteIndexes {
            documents: index(site),
            redirects: site.redirects.as_deref().and_then(index),
        });
        Self { app, links, indexes: indexes.collect() }
    }

    /// The position of a site among those of the hosts.
    pub(crate) fn position(&self, site: &Site) -> Option<usize> {
        self.links.hosts().sites().iter().position(|own| own.key == site.key)
    }

    /// The index of the documents of the site at this position.
    pub(crate) fn documents(&self, at: usize) -> Option<&Arc<PathIndex>> {
        Some(&self.indexes[at].documents.as_ref()?.index)
    }
}

impl PageLookup for AppPages<'_> {
    fn hosts(&self) -> &KnownHosts {
        self.links.hosts()
    }

    fn resolve<'r>(
        &'r self,
        at: usize,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Resolution<'r, 'r>> {
        let (app, site) = (self.app, &*self.links.hosts().sites()[at]);
        let SiteIndexes { documents, redirects: entries } = &self.indexes[at];
        let index = &*documents.as_ref()?.index;
        let of_entries = entries.as_ref().map(|state| &*state.index);
        let redirects = redirects(app, site, index, of_entries);
        let forced = redirects.map_or(FormerOwner::None, |one| one.forced(pathname, host));
        let former = || former_owner(app, site, index, redirects, pathname, host);
        let resolution = resolve(site, index, pathname, host, forced, former);
        let is_stale = of_entries.is_some_and(|index| !index.is_fresh());
        Some(if is_stale { resolution.with_stale_redirects() } else { resolution })
    }

    fn index(&self, at: usize) -> Option<&PathIndex> {
        self.documents(at).map(Arc::as_ref)
    }
}

//! The pages of a site outside the CMS, which the settings name.

use std::sync::Arc;

use crate::snapshot::{PublicUrl, Snapshot, Version};

/// Stands for a content type where pages outside the CMS are listed or checked. No UID is like it.
pub const PAGES: &str = "pages";

/// The pages outside the CMS, as a snapshot in which their names are the ids.
#[derive(Clone, Debug, Default)]
pub struct SitePages(Arc<Snapshot>);

impl SitePages {
    /// The pages of a snapshot with a path table.
    pub fn new(snapshot: Snapshot) -> Self {
        Self(Arc::new(snapshot))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether sitemaps list one of them.
    pub fn are_listed(&self) -> bool {
        self.0.listed_count() > 0
    }

    /// All of them.
    pub fn snapshot(&self) -> &Arc<Snapshot> {
        &self.0
    }

    /// The page with this path, with or without a slash at its end, on a host; without one, on the
    /// first of the site's hosts that has such a page.
    pub fn find(&self, path: &str, host: Option<usize>) -> Option<PublicUrl<'_>> {
        self.0.owner_on(path, host)
    }

    /// The positions of the locales in which a page has this path on its host.
    pub fn locales_of<'p>(
        &'p self,
        page: PublicUrl<'p>,
        locales: usize,
    ) -> impl Iterator<Item = usize> + 'p {
        let has_path = move |at: &usize| match self.0.version(page.document_id(), *at) {
            Version::Url(url) => {
                (url.locale(), url.host(), url.path()) == (*at, page.host(), page.path())
            }
            _ => false,
        };
        (0..locales).filter(has_path)
    }
}

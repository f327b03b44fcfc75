//! Several documents of one content type, read from the CMS together.

use tokio::time::timeout;

use super::DocumentCache;
use frontend_map_catalog::site::Site;
use frontend_map_cms::{ContentError, ContentQuery, Document, Selection};
use frontend_map_rules::Locale;

impl DocumentCache {
    /// The published versions of these documents in these locales of the site. A document without
    /// one of them has none there.
    ///
    /// # Errors
    /// As [`DocumentCache::get`]; there are no last good responses.
    ///
    /// # Panics
    /// As [`DocumentCache::get`].
    pub async fn get_published(
        &self,
        site: &Site,
        uid: &str,
        ids: &[&str],
        locales: &[Locale],
    ) -> Result<Vec<Document<'static>>, ContentError> {
        let versions = self.read_published(site, self.query(site, uid), ids, locales);
        timeout(self.limits.deadline, versions).await.unwrap_or(Err(ContentError::TimedOut))
    }

    async fn read_published(
        &self,
        site: &Site,
        query: &ContentQuery,
        ids: &[&str],
        locales: &[Locale],
    ) -> Result<Vec<Document<'static>>, ContentError> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(Selection::MAX_IDS) {
            let ids = ids.iter().map(|id| (*id).to_owned()).collect();
            let selection = Some(Selection::Documents(ids));
            let query = ContentQuery { selection, ..query.clone() };
            // With a proof for each locale: a list in all of them may lack some.
            found.extend(self.content.select_by_locale(&query, locales).await?);
        }
        // A version that says that it is not published counts as absent (D18).
        found.retain(|document| !document.unpublished);
        for document in &found {
            self.check_keys(site, query, document).await?;
        }
        Ok(found)
    }
}

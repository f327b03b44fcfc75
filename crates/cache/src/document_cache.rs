//! Single documents: read from the CMS for each request, or while it fails, from its last good responses.

mod differences;
mod last_good;
mod withdrawals;

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;
use std::time::{Duration, Instant};

use tokio::time::timeout;

use frontend_map_catalog::site::{Site, Sites};
use frontend_map_cms::{
    Content, ContentError, ContentQuery, Document, Projection, Selection, Status, Versions,
};
use frontend_map_platform::metrics::Metrics;
use frontend_map_rules::frontend_url::absent_key;
use frontend_map_rules::{Condition, ContentTypeUid, FieldPath, Locale};
use last_good::{Good, Key};

pub use last_good::LastGoodDocuments;

/// One version of a document, and whether it comes from a last good response.
#[derive(Clone, Debug)]
pub struct FoundDocument {
    /// The version; `None`: there is none.
    pub document: Option<Arc<Document<'static>>>,
    /// If it comes from a last good response.
    pub stale: Option<Stale>,
}

/// Why a last good response is used, and how old it is.
#[derive(Clone, Debug)]
pub struct Stale {
    /// The time since its request began.
    pub age: Duration,
    /// How the CMS fails now.
    pub error: ContentError,
}

/// How long a request waits for a document, and how old a last good response may be.
#[derive(Clone, Copy, Debug)]
pub struct DocumentLimits {
    /// How long a request waits for a document.
    pub deadline: Duration,
    /// How old a last good response may be.
    pub last_good: Duration,
}

/// Reads single documents, and caches the last good responses.
pub struct DocumentCache {
    content: Arc<Content>,
    /// The query to the CMS for one document, by site and content type.
    queries: HashMap<String, HashMap<ContentTypeUid, ContentQuery>>,
    limits: DocumentLimits,
    last_good: Arc<LastGoodDocuments>,
    metrics: Arc<Metrics>,
}

impl DocumentCache {
    /// A cache for these sites that uses these last good responses.
    pub fn new(
        sites: &Sites,
        content: Arc<Content>,
        limits: DocumentLimits,
        last_good: Arc<LastGoodDocuments>,
        metrics: Arc<Metrics>,
    ) -> Self {
        let queries = sites.iter().map(|site| (site.key.clone(), queries(site))).collect();
        Self { content, queries, limits, last_good, metrics }
    }

    /// One version of one document. While the CMS fails, the last good response about a published
    /// version, within the age limit.
    ///
    /// # Errors
    /// [`ContentError`] of the CMS, or when the deadline runs out.
    ///
    /// # Panics
    /// If the site has no rule for the content type.
    pub async fn get(
        &self,
        site: &Site,
        uid: &str,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<FoundDocument, ContentError> {
        let query = self.query(site, uid);
        let requested = Instant::now();
        let document = self.read(site, query, document_id, locale, status);
        let answer = timeout(self.limits.deadline, document).await;
        let answer = answer.unwrap_or(Err(ContentError::TimedOut));
        if status == Status::Draft || !self.content.may_change() {
            return Ok(FoundDocument { document: answer?.map(Arc::new), stale: None });
        }
        let (uid, id) = (uid.to_owned(), document_id.to_owned());
        let key = Key { site: site.fingerprint, uid, id, locale: locale.clone() };
        match answer {
            Ok(document) => {
                let document = document.map(Arc::new);
                let related = has_related_values(query);
                self.last_good.keep(key, Good { document: document.clone(), requested, related });
                Ok(FoundDocument { document, stale: None })
            }
            Err(error) => {
                let found = self.last_good.get(&key, self.limits.last_good);
                let Some((document, age)) = found else { return Err(error) };
                Ok(FoundDocument { document: Some(document), stale: Some(Stale { age, error }) })
            }
        }
    }

    /// Records that a response was not read from the CMS, because it fails.
    pub fn record_last_good(&self) {
        self.metrics.last_good.inc();
    }

    /// Records that a version differs from its snapshot. Returns whether this is to be reported: the
    /// last report about the document was some seconds ago, or longer if the difference has stayed.
    #[must_use]
    pub fn record_difference(
        &self,
        site: &Site,
        uid: &str,
        document_id: &str,
        locale: &Locale,
    ) -> bool {
        let version = (site.fingerprint, locale.clone());
        self.last_good.differences.find(uid, document_id, version, Instant::now())
    }

    /// Records that a version agrees with its snapshot.
    pub fn record_agreement(&self, site: &Site, uid: &str, document_id: &str, locale: &Locale) {
        let version = (site.fingerprint, locale.clone());
        self.last_good.differences.end(uid, document_id, &version);
    }

    /// One version of one document with these fields, as the CMS has it now, of any content type. A key
    /// that it lacks is no error.
    ///
    /// # Errors
    /// As [`DocumentCache::get`]; a last good response is not used.
    pub async fn version(
        &self,
        uid: &ContentTypeUid,
        fields: BTreeSet<FieldPath>,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        let projection = Projection::new(fields.into_iter().collect());
        let query = ContentQuery::new(uid.clone(), projection);
        let document = self.content.document(&query, document_id, locale, status);
        timeout(self.limits.deadline, document).await.unwrap_or(Err(ContentError::TimedOut))
    }

    /// The versions of a document in the locales of a site, as the CMS has them now.
    ///
    /// # Errors
    /// As [`DocumentCache::get`]; a last good response is not used.
    pub async fn versions(
        &self,
        site: &Site,
        uid: &ContentTypeUid,
        document_id: &str,
        status: Status,
    ) -> Result<Versions, ContentError> {
        let selection = Selection::Documents(vec![document_id.to_owned()]);
        let query = listing_query(site, uid, Vec::new(), Some(selection));
        self.read_versions(&query, site.rules.locales().codes(), status).await
    }

    /// The drafts in these locales for which all conditions of one list hold, or which are selected.
    ///
    /// # Errors
    /// As [`DocumentCache::versions`].
    pub async fn candidates(
        &self,
        site: &Site,
        uid: &ContentTypeUid,
        alternatives: Vec<Vec<Condition>>,
        selection: Option<Selection>,
        locales: &[Locale],
    ) -> Result<Versions, ContentError> {
        let query = listing_query(site, uid, alternatives, selection);
        self.read_versions(&query, locales, Status::Draft).await
    }

    /// The drafts in these locales that read a document through a relation, without other fields.
    ///
    /// # Errors
    /// As [`DocumentCache::versions`].
    pub async fn draft_dependents(
        &self,
        uid: &ContentTypeUid,
        relation: &FieldPath,
        document_id: &str,
        locales: &[Locale],
    ) -> Result<Versions, ContentError> {
        let of = vec![document_id.to_owned()];
        let selection = Selection::Dependents { relation: relation.clone(), of };
        let projection = Projection::new(vec![relation.document_id()]);
        let selected = Some(selection.clone());
        let query =
            ContentQuery { selection: selected, ..ContentQuery::new(uid.clone(), projection) };
        let mut found = self.read_versions(&query, locales, Status::Draft).await?;
        // The document of a single type is read without a filter.
        found.documents.retain(|draft| selection.has(draft));
        Ok(found)
    }

    async fn read_versions(
        &self,
        query: &ContentQuery,
        locales: &[Locale],
        status: Status,
    ) -> Result<Versions, ContentError> {
        let versions = self.content.versions(query, locales, status);
        timeout(self.limits.deadline, versions).await.unwrap_or(Err(ContentError::TimedOut))
    }

    fn query(&self, site: &Site, uid: &str) -> &ContentQuery {
        let query = self.queries.get(&site.key).and_then(|queries| queries.get(uid));
        query.expect("callers check that the site has a rule for the type")
    }

    /// Reads a document. One that lacks a key which decides about its URL is an error (D32).
    async fn read(
        &self,
        site: &Site,
        query: &ContentQuery,
        document_id: &str,
        locale: &Locale,
        status: Status,
    ) -> Result<Option<Document<'static>>, ContentError> {
        let found = self.content.document(query, document_id, locale, status).await?;
        if let Some(document) = &found {
            self.check_keys(site, query, document).await?;
        }
        Ok(found)
    }

    async fn check_keys(
        &self,
        site: &Site,
        query: &ContentQuery,
        document: &Document<'_>,
    ) -> Result<(), ContentError> {
        match absent_key(&site.rules, query.uid.as_str(), document) {
            Some(key) => Err(self.content.absent_key(&query.uid, &key).await),
            None => Ok(()),
        }
    }
}

fn queries(site: &Site) -> HashMap<ContentTypeUid, ContentQuery> {
    let query = |uid: &ContentTypeUid| {
        let mut fields = site.rules.fields(uid.as_str());
        // Strapi sends them without being asked.
        let relations = fields.iter().flat_map(FieldPath::relations);
        let ids: BTreeSet<FieldPath> = relations.map(|relation| relation.document_id()).collect();
        let is_new = |id: &FieldPath| !fields.contains(id);
        let ids: Vec<FieldPath> = ids.into_iter().filter(is_new).collect();
        fields.extend(ids);
        let projection = Projection::new(fields);
        let alternatives = site.rules.alternatives(uid.as_str());
        (uid.clone(), ContentQuery { uid: uid.clone(), projection, alternatives, selection: None })
    };
    site.rules.content_types().into_iter().map(query).collect()
}

/// With the fields that a snapshot needs.
fn listing_query(
    site: &Site,
    uid: &ContentTypeUid,
    alternatives: Vec<Vec<Condition>>,
    selection: Option<Selection>,
) -> ContentQuery {
    let projection = Projection::new(site.rules.listing_fields(uid.as_str()));
    ContentQuery { uid: uid.clone(), projection, alternatives, selection }
}

fn has_related_values(query: &ContentQuery) -> bool {
    query.projection.paths().iter().any(|path| path.segments().len() > 1)
}

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

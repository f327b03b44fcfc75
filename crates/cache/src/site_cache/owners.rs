//! The owners of paths that several documents have, decided before a snapshot is used (D22).

use std::collections::{BTreeMap, BTreeSet};
use std::slice;
use std::time::Duration;

use tokio::task::block_in_place;
use tokio::time::{Instant, timeout_at};

use super::SiteCache;
use super::history::Predecessor;
use crate::entry::Entry;
use frontend_map_catalog::changes::difference::LocaleNames;
use frontend_map_catalog::snapshot::{
    Claims, CreationDates, PreviousOwners, Snapshot, Undecided, read_rfc3339,
};
use frontend_map_cms::{ContentQuery, Projection, Selection, Status};
use frontend_map_rules::{ContentTypeUid, FieldPath, FieldValue};

/// The field that says when a document was created; it is equal in all of its versions.
const CREATED_AT: &str = "createdAt";
/// The longest that all requests for dates together may delay a snapshot. Without a date, locale
/// and `documentId` decide.
const PATIENCE: Duration = Duration::from_secs(2);

impl SiteCache {
    /// The snapshot with the owners of its shared paths. Those of the snapshots before keep their paths;
    /// where there is none, documents that were created earlier come first. `entry` is locked for
    /// updates, so that its snapshot stays the same.
    pub(crate) async fn with_owners(&self, entry: &Entry, snapshot: Snapshot) -> Snapshot {
        let uid = &entry.query.uid;
        let other = self.owners_before.lock().remove(uid);
        if snapshot.duplicates().len() == 0 {
            return snapshot;
        }
        let cached = entry.cached();
        let other = other.as_ref().map(|other| {
            let own = LocaleNames::of(self.site.rules.locales(), &self.site.hosts);
            let locales = Some(own.same_in(&other.locales));
            PreviousOwners { snapshot: &other.snapshot, locales }
        });
        let own = cached.as_ref().map(|cached| &*cached.snapshot);
        let own = own.map(|snapshot| PreviousOwners { snapshot, locales: None });
        let before = other.into_iter().chain(own).collect();
        let mut claims = Claims { before, created: CreationDates::default() };
        let builder = self.builder();
        let snapshot = block_in_place(|| snapshot.with_claims(&claims, builder));
        if snapshot.undecided().is_empty() {
            return snapshot;
        }
        claims.created = self.creation_dates(uid, snapshot.undecided()).await;
        block_in_place(|| snapshot.with_claims(&claims, builder))
    }

    /// Lets the owners in a snapshot of another process or of other settings keep their paths in the next
    /// snapshot of a content type.
    pub(crate) fn continue_owners(&self, uid: &ContentTypeUid, before: Predecessor) {
        self.owners_before.lock().insert(uid.clone(), before);
    }

    /// The snapshot is that of the leader or of the store, which has its own owners.
    pub(crate) fn forget_owners_before(&self, uid: &ContentTypeUid) {
        self.owners_before.lock().remove(uid);
    }

    /// When the documents of these versions were created; `None` for each for which the source does not
    /// say it in time. After a request that fails, no other one is sent.
    async fn creation_dates(&self, uid: &ContentTypeUid, undecided: &[Undecided]) -> CreationDates {
        let mut created: CreationDates =
            undecided.iter().map(|(id, _)| (id.clone(), None)).collect();
        let locale_of: BTreeMap<&str, usize> =
            undecided.iter().map(|(id, locale)| (&**id, *locale)).collect();
        let mut by_locale: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for (id, locale) in locale_of {
            by_locale.entry(locale).or_default().insert(id);
        }
        let field = FieldPath::parse(CREATED_AT).expect("a field name");
        let requests = by_locale.iter().flat_map(|(locale, ids)| {
            let ids: Vec<String> = ids.iter().map(|id| (*id).to_owned()).collect();
            let chunks = ids.chunks(Selection::MAX_IDS).map(<[String]>::to_vec);
            chunks.map(|ids| (*locale, ids)).collect::<Vec<_>>()
        });
        let deadline = Instant::now() + PATIENCE;
        for (locale, ids) in requests {
            let query = ContentQuery::new(uid.clone(), Projection::new(vec![field.clone()]));
            let selection = Some(Selection::Documents(ids));
            let query = ContentQuery { selection, ..query };
            let locales = slice::from_ref(&self.locales()[locale]);
            let found = self.content.versions(&query, locales, Status::Published);
            let failure = match timeout_at(deadline, found).await {
                Ok(Ok(found)) => {
                    for document in &found.documents {
                        if let (Some(date), FieldValue::Text(text)) =
                            (created.get_mut(&*document.id), document.field(&field))
                        {
                            *date = read_rfc3339(text);
                        }
                    }
                    continue;
                }
                Ok(Err(error)) => error.detail(),
                Err(_) => "the responses are too slow".to_owned(),
            };
            tracing::debug!(%uid, error = failure, "dates of creation were not read");
            break;
        }
        created
    }
}

//! Where the URLs of a content type come from: its snapshot, or the documents themselves.

use std::sync::Arc;
use std::time::Duration;

use futures::future::try_join_all;
use rustc_hash::FxHashMap;

use super::batch::{Batch, ItemResolution, TypeOfSite};
use crate::app::{App, log_unread_documents};
use crate::http::operations::resolved_by::path_index;
use crate::http::response::error::ApiError;
use frontend_map_cache::{KnownSnapshot, Served};
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::site::Site;
use frontend_map_cms::{ContentError, Document};
use frontend_map_rules::Locale;

/// What is known of a content type.
pub(super) enum Source {
    /// Its snapshot, which has the URLs of all its documents.
    Snapshot {
        known: KnownSnapshot,
        /// For a site that resolves by documents.
        index: Option<Arc<PathIndex>>,
    },
    /// The published versions of the documents of the batch, by `documentId`.
    Documents(FxHashMap<String, Vec<Document<'static>>>),
}

impl Source {
    /// The age of the snapshot, and whether the CMS fails.
    pub(super) fn age(&self) -> Option<(Duration, bool)> {
        match self {
            Self::Snapshot { known, .. } => Some((known.age, known.is_failing)),
            Self::Documents(_) => None,
        }
    }
}

/// The sources of the content types of a batch, in their order.
///
/// # Errors
/// If there is no snapshot of one of them, and the CMS fails.
pub(super) async fn load(app: &App, batch: &Batch<'_>) -> Result<Vec<Source>, ApiError> {
    let sources = batch.types.iter().enumerate().map(|(at, of)| source(app, batch, at, *of));
    Ok(try_join_all(sources).await?)
}

async fn source(
    app: &App,
    batch: &Batch<'_>,
    at: usize,
    of: TypeOfSite<'_>,
) -> Result<Source, ContentError> {
    let TypeOfSite { site, uid } = of;
    if let Some(known) = app.snapshots.known(site, uid) {
        return Ok(of_snapshot(app, site, known));
    }
    if !app.snapshots.content().may_change() {
        // A walk over a content file does not wait.
        let Served { cached, age, .. } = app.snapshots.get(site, uid).await?;
        return Ok(of_snapshot(app, site, KnownSnapshot { cached, age, is_failing: false }));
    }
    app.snapshots.start_walk(site, uid);
    let (ids, locales) = wanted(batch, at, of);
    let found = app.documents.get_published(site, uid, &ids, &locales).await;
    let found = found.inspect_err(|error| log_unread_documents(app, uid, error))?;
    let mut documents: FxHashMap<String, Vec<Document<'static>>> = FxHashMap::default();
    for document in found {
        documents.entry(document.id.clone().into_owned()).or_default().push(document);
    }
    Ok(Source::Documents(documents))
}

fn of_snapshot(app: &App, site: &Site, known: KnownSnapshot) -> Source {
    Source::Snapshot { known, index: path_index(app, site).map(|state| state.index) }
}

/// The ids of the documents of one content type, each once, and the locales in which they are
/// requested.
fn wanted<'b>(batch: &Batch<'b>, at: usize, of: TypeOfSite<'_>) -> (Vec<&'b str>, Vec<Locale>) {
    let own_locales = of.site.rules.locales().codes();
    let (mut ids, mut locales) = (Vec::new(), Vec::new());
    for (item, _, resolution) in batch.items() {
        if let ItemResolution::Type { at: own, locale } = resolution
            && own == at
        {
            ids.extend(item.document_id.as_deref());
            locales.push(locale);
        }
    }
    ids.sort_unstable();
    ids.dedup();
    locales.sort_unstable();
    locales.dedup();
    (ids, locales.into_iter().map(|locale| own_locales[locale].clone()).collect())
}

//! Incremental updates: single documents are read again and put into the cached copies.

use std::time::{Duration, Instant};

use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::time::timeout;

use super::copy::CachedCopy;
use super::entry::Entry;
use super::invalidation::Invalidation;
use super::site_cache::SiteCache;
use crate::content::{ContentError, Document, DocumentLocale, Status};
use crate::snapshot::Patch;

/// Documents that are read at a time. The client of the CMS has its own limit.
const CONCURRENT_READS: usize = 8;

/// Reads the invalidated documents of an entry again and puts them into its copy, if it has one.
/// Documents that cannot be read within the deadline are left to the next refresh.
pub(super) async fn update(
    site: &SiteCache,
    entry: &Entry,
    invalidations: &[Invalidation],
    deadline: Duration,
) {
    let (key, uid) = (&entry.site, entry.query.uid.as_str());
    let own = invalidations.iter().filter(|invalidation| invalidation.uid == uid);
    let ids: Vec<String> = own.map(|invalidation| invalidation.document_id.clone()).collect();
    if ids.is_empty() || entry.copy().is_none() {
        return;
    }
    let since = Instant::now();
    let read = timeout(deadline, read_documents(site, entry, ids)).await;
    match read.unwrap_or(Err(ContentError::TimedOut)) {
        Ok(patches) => {
            let documents = patches.len();
            tracing::debug!(site = key, uid, documents, "documents were updated");
            apply(site, entry, since, patches).await;
        }
        Err(error) => {
            let error = error.detail();
            tracing::debug!(site = key, uid, error, "documents could not be updated");
        }
    }
}

async fn read_documents(
    site: &SiteCache,
    entry: &Entry,
    ids: Vec<String>,
) -> Result<Vec<Patch>, ContentError> {
    let reads = ids.into_iter().map(|id| published_versions(site, entry, id));
    stream::iter(reads).buffered(CONCURRENT_READS).try_collect().await
}

async fn published_versions(
    site: &SiteCache,
    entry: &Entry,
    id: String,
) -> Result<Patch, ContentError> {
    let mut versions: Vec<Document<'static>> = Vec::new();
    for locale in site.site.rules.locales().as_slice() {
        let read = site.content.document(&entry.query, &id, locale, Status::Published);
        let version = read.await?;
        let listing = site.listing(entry);
        if let Some(key) = version.as_ref().and_then(|version| listing.absent_key(version)) {
            return Err(site.content.absent_key(&entry.query.uid, &key).await);
        }
        versions.extend(version);
        // A type that is not localized returns the same document for every locale.
        if versions.last().is_some_and(|version| version.locale == DocumentLocale::None) {
            break;
        }
    }
    Ok(Patch { id, versions })
}

/// Puts documents that were read after `since` into the copy, and into that of a refresh which
/// began before, once it completes.
async fn apply(site: &SiteCache, entry: &Entry, since: Instant, patches: Vec<Patch>) {
    let _update_lock = entry.update_lock.lock().await;
    // A refresh that began later has read these documents itself.
    let Some(copy) = entry.copy().filter(|copy| copy.begun < since) else { return };
    let updated = tokio::task::block_in_place(|| patched(site, entry, &copy, &patches));
    entry.keep_patches(since, patches);
    if let Some(updated) = updated {
        entry.replace_copy(updated);
        site.rebuild_index();
    }
}

fn patched(
    site: &SiteCache,
    entry: &Entry,
    copy: &CachedCopy,
    patches: &[Patch],
) -> Option<CachedCopy> {
    let snapshot = copy.snapshot.patched(patches, site.listing(entry), site.builder())?;
    let files = site.sitemap_files(&snapshot, Some(copy));
    Some(copy.updated(snapshot, files))
}

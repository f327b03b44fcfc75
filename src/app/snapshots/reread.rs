//! Single documents, read anew and put into the copies at once.

use std::sync::Arc;
use std::time::Instant;

use futures::future::join_all;
use futures::stream::{self, StreamExt, TryStreamExt};
use tokio::time::timeout;

use super::hints::Hint;
use super::slot::{Kept, Slot};
use crate::app::App;
use crate::content::{ContentError, Document, DocumentLocale, Status};
use crate::site::Site;
use crate::snapshot::Reread;

/// Documents that are asked for at a time. The CMS has a limit of its own.
const AT_ONCE: usize = 8;

impl App {
    /// Asks the CMS for these documents and puts them into the copies that there are. What cannot
    /// be read is left to the walks.
    pub(super) async fn reread(self: &Arc<Self>, hints: &[Hint]) {
        join_all(self.snapshots.all().map(|slot| self.reread_in(slot, hints))).await;
    }

    async fn reread_in(self: &Arc<Self>, slot: &Arc<Slot>, hints: &[Hint]) {
        let (site, uid) = (&slot.site, slot.ask.uid.as_str());
        let own = hints.iter().filter(|hint| hint.uid == uid);
        let ids: Vec<String> = own.map(|hint| hint.document_id.clone()).collect();
        let Some(of) = self.sites.get(site).filter(|_| !ids.is_empty() && slot.kept().is_some())
        else {
            return;
        };
        let since = Instant::now();
        let read = timeout(self.limits.document_deadline, self.read(of, slot, ids)).await;
        match read.unwrap_or(Err(ContentError::TimedOut)) {
            Ok(reread) => {
                tracing::debug!(site, uid, documents = reread.len(), "documents were read anew");
                self.amend(slot, since, reread).await;
            }
            Err(error) => tracing::debug!(site, uid, %error, "a document could not be read anew"),
        }
    }

    async fn read(
        &self,
        site: &Site,
        slot: &Slot,
        ids: Vec<String>,
    ) -> Result<Vec<Reread>, ContentError> {
        let all = ids.into_iter().map(|id| self.versions(site, slot, id));
        stream::iter(all).buffered(AT_ONCE).try_collect().await
    }

    /// All published versions of a document.
    async fn versions(&self, site: &Site, slot: &Slot, id: String) -> Result<Reread, ContentError> {
        let mut versions: Vec<Document<'static>> = Vec::new();
        for locale in site.rules.locales().as_slice() {
            versions
                .extend(self.content.document(&slot.ask, &id, locale, Status::Published).await?);
            // A type that is not localised gives the same document for every locale.
            if versions.last().is_some_and(|found| found.locale == DocumentLocale::None) {
                break;
            }
        }
        Ok(Reread { id, versions })
    }

    /// Puts documents that were read after `since` into the copy, and into that of a walk that
    /// began before, once it lands.
    async fn amend(self: &Arc<Self>, slot: &Slot, since: Instant, reread: Vec<Reread>) {
        let _turn = slot.turn.lock().await;
        // What a walk found that began later is as new at least.
        let Some(kept) = slot.kept().filter(|kept| kept.begun < since) else { return };
        let amended = tokio::task::block_in_place(|| self.with(slot, &kept, &reread));
        slot.remember(since, reread);
        if let Some(amended) = amended {
            slot.replace(amended);
            self.snapshots.reindex(&slot.site);
        }
    }

    fn with(&self, slot: &Slot, kept: &Kept, reread: &[Reread]) -> Option<Kept> {
        let (listing, builder) = self.listing(slot)?;
        let snapshot = kept.snapshot.with(reread, listing, builder)?;
        let files = self.frames.files(&slot.site, &snapshot, Some(kept));
        Some(kept.amended(snapshot, files))
    }
}

//! A walk over a content type, from its beginning to the copy that it makes.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use super::slot::{Kept, Landing, Outcome, Slot, Teller};
use super::tell::tell;
use crate::app::App;
use crate::content::{BadItem, ContentError, Document, DocumentSink};
use crate::site::ResolveBy;
use crate::snapshot::{Builder, Listing, Part, TooLarge};
use crate::traces;

/// A part in the making, which says how far it is.
struct Growing<'s> {
    part: Part<'s>,
    seen: &'s AtomicU64,
}

impl DocumentSink for Growing<'_> {
    fn push(&mut self, item: Result<&Document<'_>, &BadItem>) {
        self.seen.fetch_add(1, Ordering::Relaxed);
        match item {
            Ok(document) => self.part.add(document),
            Err(_) => self.part.add_bad_item(),
        }
    }
}

/// What a walk has found.
struct Walked<'s> {
    begun: Instant,
    listing: Listing<'s>,
    builder: Builder,
    parts: Vec<Part<'s>>,
}

impl App {
    /// Begins a walk, or joins the one under way. It does not end with who asked for it, unless
    /// another app is in use that has no such place.
    pub(super) fn launch(self: &Arc<Self>, slot: &Arc<Slot>) -> (Landing, bool) {
        let (landing, teller) = slot.join(self.client);
        let collapsed = teller.is_none();
        if let Some(teller) = teller {
            let (app, slot) = (Arc::clone(self), Arc::clone(slot));
            tokio::spawn(async move {
                tokio::select! {
                    biased;
                    () = slot.given_up(&teller) => {}
                    walked = app.walk_traced(&slot) => app.land(&slot, walked, &teller).await,
                }
            });
        }
        (landing, collapsed)
    }

    async fn land(
        self: &Arc<Self>,
        slot: &Arc<Slot>,
        walked: Result<Walked<'_>, ContentError>,
        teller: &Arc<Teller>,
    ) {
        // What is put into the copy from here on would be lost.
        let turn = slot.turn.lock().await;
        let built = walked.and_then(|walked| self.build_snapshot(slot, walked));
        let landed = slot.land(built, teller);
        drop(turn);
        self.snapshots.reindex(&slot.site);
        tell(slot, &landed);
        if !landed.alone {
            self.walk_counters(slot).count(landed.outcome.is_ok());
        }
        teller.tell(landed.outcome);
        self.lasting.landed.notify_one();
        if landed.again {
            self.launch(slot);
        }
    }

    /// By what the snapshots of a place are made.
    pub(super) fn listing<'a>(&'a self, slot: &'a Slot) -> Option<(Listing<'a>, Builder)> {
        let site = self.sites.get(&slot.site)?;
        let (rules, base, uid) = (&site.rules, site.base.as_ref(), slot.ask.uid.as_str());
        let builder = Builder { owners: site.resolve == ResolveBy::Documents };
        Some((Listing { rules, base, uid }, builder))
    }

    async fn walk_traced<'a>(&'a self, slot: &'a Slot) -> Result<Walked<'a>, ContentError> {
        let span = traces::background_span("walk");
        let walked = traces::in_span(span.as_ref(), self.walk_slot(slot)).await;
        if let Some(span) = span {
            span.set("site", slot.site.clone());
            span.set("content_type", slot.ask.uid.as_str().to_owned());
            if walked.is_err() {
                span.fail();
            }
        }
        walked
    }

    async fn walk_slot<'a>(&'a self, slot: &'a Slot) -> Result<Walked<'a>, ContentError> {
        let gone = ContentError::Unusable("no such site");
        let (listing, builder) = self.listing(slot).ok_or(gone)?;
        let begun = Instant::now();
        let locales = listing.rules.locales().as_slice();
        slot.seen.store(0, Ordering::Relaxed);
        let growing = || Growing { part: listing.part(), seen: &slot.seen };
        let parts = self.content.walk(&slot.ask, locales, growing).await?;
        let parts = parts.into_iter().map(|growing| growing.part).collect();
        Ok(Walked { begun, listing, builder, parts })
    }

    /// What a walk found, with the documents that were read by themselves after it began.
    fn build_snapshot(&self, slot: &Slot, walked: Walked<'_>) -> Outcome {
        let Walked { begun, listing, builder, parts } = walked;
        let kept = tokio::task::block_in_place(|| {
            let (mut snapshot, reread) = (builder.finish(parts)?, slot.reread_since(begun));
            if !reread.is_empty() {
                snapshot = snapshot.with(&reread, listing, builder).unwrap_or(snapshot);
            }
            let before = slot.kept();
            let files = self.frames.files(&slot.site, &snapshot, before.as_ref());
            Ok(Kept::new(snapshot, files, begun, before.as_ref()))
        });
        let too_large = ContentError::Unusable("more text in its URLs than a snapshot can hold");
        kept.map_err(|TooLarge| too_large)
    }
}

/// What a walk comes to.
pub(super) async fn landed(mut landing: Landing) -> Outcome {
    let landed = landing.wait_for(Option::is_some).await;
    // A walk that panicked says nothing more.
    let lost = ContentError::Unavailable { retry_after: None };
    landed.map_or(Err(lost.clone()), |outcome| outcome.clone().unwrap_or(Err(lost)))
}

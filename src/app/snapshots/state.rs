//! How the copies are, for who watches.

use std::sync::Arc;

use super::slot::{Kept, Slot};
use crate::app::App;
use crate::metrics::WalkCounters;
use crate::rules::ContentTypeUid;
use crate::site::Site;

/// One content type of a site.
#[derive(Clone, Debug)]
pub struct TypeState<'a> {
    /// The site.
    pub site: &'a Site,
    /// The content type.
    pub uid: &'a ContentTypeUid,
    /// Its copy, if there has been a walk.
    pub kept: Option<Kept>,
    /// Whether the last walk failed.
    pub failing: bool,
    /// Whether the copy is older than the limit from which it should have been refreshed.
    pub stale: bool,
    /// What is counted for it.
    pub counters: Arc<WalkCounters>,
}

impl App {
    /// All content types of all sites, in the order of the settings.
    #[must_use]
    pub fn type_states(&self) -> Vec<TypeState<'_>> {
        let types = self
            .sites
            .iter()
            .flat_map(|site| site.rules.content_types().into_iter().map(move |uid| (site, uid)));
        types.filter_map(|(site, uid)| self.type_state(site, uid)).collect()
    }

    fn type_state<'a>(&'a self, site: &'a Site, uid: &'a ContentTypeUid) -> Option<TypeState<'a>> {
        let slot = self.snapshots.slot(site, uid.as_str())?;
        let kept = slot.kept();
        let soft = self.snapshots.freshness.soft;
        let stale = kept.as_ref().is_some_and(|kept| kept.begun.elapsed() >= soft);
        let (failing, counters) = (slot.is_failing(), self.walk_counters(slot));
        Some(TypeState { site, uid, kept, failing, stale, counters })
    }

    pub(super) fn walk_counters(&self, slot: &Slot) -> Arc<WalkCounters> {
        self.lasting.metrics.walks.of(&slot.site, slot.ask.uid.as_str())
    }
}

//! Who keeps snapshots without being asked: at the start, and for path indexes.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::timeout;

use super::slot::{Found, Slot};
use crate::app::App;

/// How often those who keep snapshots without being asked look whether one is due.
const ROUND: Duration = Duration::from_secs(5);
/// How many content types are walked at once where nobody waits. The CMS has a limit of its own.
const AT_ONCE: usize = 4;

impl App {
    /// Builds what is wanted before anybody asks for it, and keeps the path indexes fresh, until
    /// it is dropped.
    pub async fn keep_snapshots(self: Arc<Self>) {
        let all = || self.snapshots.all();
        loop {
            // A walk that takes long keeps no other one waiting.
            let busy = all().filter(|slot| slot.is_under_way()).count();
            let wanted = all().filter(|slot| !slot.is_under_way() && self.is_wanted(slot));
            for slot in wanted.take(AT_ONCE.saturating_sub(busy)) {
                self.launch(slot);
            }
            let round = ROUND.min(self.snapshots.freshness.soft);
            let _ = timeout(round, self.snapshots.landed.notified()).await;
        }
    }

    /// All are wanted once at the start, those of an index always.
    fn is_wanted(&self, slot: &Slot) -> bool {
        let indexed = self.snapshots.indexes.contains_key(&slot.site);
        match slot.find(self.snapshots.freshness) {
            Found::Copy { due, .. } => indexed && due && self.content.changes(),
            Found::Nothing if slot.failed_within(ROUND) => false,
            Found::Nothing if indexed => true,
            Found::Nothing => self.snapshots.freshness.at_start && slot.kept().is_none(),
        }
    }
}

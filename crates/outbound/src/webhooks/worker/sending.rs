//! When the task of a target and a site sends: always, or while this instance has the lease of the sender.

use std::time::Duration;

use tokio::time::sleep;

use super::{Attempts, SHARED_PAUSE, Worker};
use crate::webhooks::Progress;
use crate::webhooks::position::Position;
use frontend_map_fleet::positions::{LastContent, SharedPosition, Stored};
use frontend_map_store::{RowKey, StoreState};

/// How often a process checks whether another one has released the store: until then, the other one
/// sends.
const IN_USE_PERIOD: Duration = Duration::from_millis(250);

impl Worker {
    /// Sends as the only process with this store.
    pub(super) async fn run_alone(&self) {
        let mut changed = self.notifier.log.watch();
        let mut generation = None;
        let mut attempts = Attempts::default();
        loop {
            while self.store.state() == Some(StoreState::InUse) {
                sleep(IN_USE_PERIOD).await;
            }
            changed.mark_unchanged();
            let current = self.notifier.log.generation();
            if generation.replace(current) != Some(current) {
                tokio::task::block_in_place(|| self.load_position(current));
            }
            if !self.send_next(&mut attempts).await {
                // The channel stays open as long as the log.
                let _ = changed.changed().await;
            }
        }
    }

    /// Sends while this instance has the lease of the sender.
    pub(super) async fn run_as_sender(&self, shared: &SharedPosition) {
        let mut changed = self.notifier.log.watch();
        let mut attempts = Attempts::default();
        loop {
            let epoch = shared.until_sender().await;
            self.set_epoch(epoch);
            if !self.take_over(shared, epoch).await {
                sleep(SHARED_PAUSE).await;
                continue;
            }
            while shared.is_sender_in(epoch) {
                changed.mark_unchanged();
                if !self.send_next(&mut attempts).await {
                    tokio::select! {
                        _ = changed.changed() => {}
                        () = shared.sender_changed(epoch) => {}
                    }
                }
            }
        }
    }

    /// Loads the position of the previous sender. Returns `false` if Redis does not answer,
    /// or the lease is lost.
    async fn take_over(&self, shared: &SharedPosition, epoch: u64) -> bool {
        // It may be beyond what this instance has read of the log, so it is loaded first.
        let Ok(Stored { position: found, last }) = shared.load().await else { return false };
        if shared.catch_up().await.is_err() {
            return false;
        }
        let found = found.and_then(|text| Position::parse(&text));
        let position = after_deployment(self.later_of(found), last);
        let begins = matches!(last, LastContent::Older | LastContent::Unknown);
        let saved = if begins {
            shared.begin(epoch, &position.text()).await == Ok(true)
        } else {
            found == Some(position) || shared.save(epoch, &position.text()).await == Ok(true)
        };
        if saved {
            let loaded = Progress { position, generation: None };
            self.notifier.progress.lock().insert(self.key(), loaded);
        }
        saved
    }

    /// The position in Redis, or the one that this instance could not write because Redis
    /// was unavailable. Without either, the target is new, or Redis has lost its position: it gets a
    /// reset.
    fn later_of(&self, found: Option<Position>) -> Position {
        let present = self.notifier.log.present(&self.site);
        // A reset from a position in an earlier log could have the id of an earlier reset.
        let own = self.notifier.progress.lock().get(&self.key()).map(|known| known.position);
        let own = own.filter(|own| found.is_some() || own.cursor.log == present.log);
        match (found, own) {
            (Some(found), Some(own)) => {
                let is_later = own.cursor.log == found.cursor.log
                    && own.cursor.sequence > found.cursor.sequence;
                if is_later { own } else { found }
            }
            (Some(only), None) | (None, Some(only)) => only,
            (None, None) => Position { needs_reset: true, ..Position::at(present) },
        }
    }

    fn is_loaded(&self, generation: u64) -> bool {
        let progress = self.notifier.progress.lock();
        progress.get(&self.key()).is_some_and(|known| known.generation == Some(generation))
    }

    /// Loads the position from the store, which belongs to the log in it.
    fn load_position(&self, generation: u64) {
        if self.is_loaded(generation) {
            // After a reload of the settings: the store may not have the last position yet.
            return;
        }
        let key = self.key();
        let stored = self.store.load_row(&RowKey::position(&key));
        let stored = stored.and_then(|bytes| Position::parse(str::from_utf8(&bytes).ok()?));
        let position = stored.unwrap_or_else(|| self.position());
        if stored.is_none() {
            // From now on, also after a restart.
            self.store.save_row(RowKey::position(&key), move || position.text().into_bytes());
        }
        let loaded = Progress { position, generation: Some(generation) };
        self.notifier.progress.lock().insert(key, loaded);
    }
}

/// The position at which a sender continues. If another deployment has sent last, the target has the URLs
/// of that deployment, so it gets a reset. This is a new one even if a reset was pending: the target may
/// have accepted that one, and would take the same id for a repetition.
fn after_deployment(position: Position, last: LastContent) -> Position {
    match last {
        LastContent::Older => {
            Position { end: None, failing_since: None, needs_reset: true, ..position }
        }
        LastContent::Own | LastContent::Newer | LastContent::Unknown => position,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_catalog::changes::log::Cursor;

    #[test]
    fn sender_after_another_deployment_sends_a_new_reset_also_if_one_was_pending() {
        let cursor = Cursor { log: 5, sequence: 7 };
        let sent = Position::at(cursor);
        let changes = Position { end: Some(9), failing_since: Some(1_000), ..sent };
        let reset = Position { failing_since: Some(1_000), needs_reset: true, ..sent };
        let new_reset = Position { needs_reset: true, ..sent };
        for position in [sent, changes, reset] {
            assert_eq!(after_deployment(position, LastContent::Older), new_reset);
            for last in [LastContent::Own, LastContent::Newer, LastContent::Unknown] {
                assert_eq!(after_deployment(position, last), position);
            }
        }
    }
}

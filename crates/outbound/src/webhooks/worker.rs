//! The task of one target and one site: one request at a time, each retried until the target accepts it.

mod sending;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::time::sleep;

use super::client::{Client, DeliveryError};
use super::message::{Message, Next, next};
use super::position::{Position, key};
use super::target::{Target, TargetKind, Timing};
use super::{MAX_WAITING, Notifier, Progress};
use frontend_map_catalog::changes::log::Cursor;
use frontend_map_fleet::positions::SharedPosition;
use frontend_map_platform::clock::unix_ms;
use frontend_map_store::{RowKey, Store};

/// The pause after Redis has not answered.
const SHARED_PAUSE: Duration = Duration::from_millis(250);

pub(super) struct Worker {
    pub(super) notifier: Arc<Notifier>,
    pub(super) store: Arc<Store>,
    /// Where several instances keep the position; without it, it is in the store.
    pub(super) shared: Option<Arc<SharedPosition>>,
    /// The epoch of the sender's lease, in which the position in Redis is written.
    pub(super) epoch: AtomicU64,
    pub(super) client: Client,
    pub(super) target: Arc<Target>,
    pub(super) site: String,
    pub(super) timing: Timing,
}

/// The attempts since the last success.
#[derive(Default)]
struct Attempts {
    count: u32,
    /// Why the last one failed.
    reason: String,
}

impl Worker {
    pub(super) async fn run(self) {
        match &self.shared {
            None => self.run_alone().await,
            Some(shared) => self.run_as_sender(shared).await,
        }
    }

    /// Sends at most one request. Returns whether there may be more.
    async fn send_next(&self, attempts: &mut Attempts) -> bool {
        if self.shared.as_ref().is_some_and(|shared| !shared.is_current()) {
            // What this instance has recorded alone is no part of the log that all share.
            sleep(SHARED_PAUSE).await;
            return true;
        }
        let mut position = self.position();
        self.give_up_if_due(&mut position).await;
        let now = unix_ms();
        let message = match next(&self.notifier.log, &self.target, &self.site, &position, now) {
            Next::Message(message) => message,
            Next::Nothing(cursor) => {
                // Changes that the target does not get are not worth a write each.
                let part = |cursor: Cursor| cursor.sequence / 1_000;
                let is_stored = position.end.is_some() || part(cursor) != part(position.cursor);
                self.set(Position::at(cursor), is_stored).await;
                return false;
            }
        };
        if !self.save_before_request(&mut position, &message, now).await {
            sleep(SHARED_PAUSE).await;
            return true;
        }
        match self.client.send(&self.target, &message).await {
            Ok(()) => {
                self.notifier.counters.delivered.inc();
                if std::mem::take(attempts).count > 0 {
                    tracing::info!(
                        target_name = self.target.name,
                        site = self.site,
                        "the target accepts webhooks again"
                    );
                }
                self.set(Position::at(message.end), true).await;
            }
            Err(error) => {
                self.retry_later(position, &message, error, attempts).await;
            }
        }
        true
    }

    /// Records a failure and waits.
    async fn retry_later(
        &self,
        position: Position,
        message: &Message,
        error: DeliveryError,
        attempts: &mut Attempts,
    ) {
        let DeliveryError { reason, retry_after, is_final } = error;
        self.notifier.counters.failed.inc();
        if is_final {
            tracing::error!(
                target_name = self.target.name,
                site = self.site,
                reason,
                "the search engine refused the URLs; correct the cause, then reload changed settings of this target or restart the service"
            );
        } else if attempts.reason != reason {
            tracing::warn!(
                target_name = self.target.name,
                site = self.site,
                reason,
                "a webhook was not accepted; it is retried"
            );
            attempts.reason = reason;
        }
        let failing_since = position.failing_since.or(Some(unix_ms()));
        let retried = Position {
            end: (!message.is_reset).then_some(message.end.sequence),
            failing_since,
            needs_reset: message.is_reset,
            ..position
        };
        if retried != position {
            self.set(retried, true).await;
        }
        if is_final {
            // A reload with another target ends this task.
            return std::future::pending().await;
        }
        let pause = attempts.next_pause(self.timing);
        sleep(pause.max(retry_after.unwrap_or_default().min(self.timing.max_pause))).await;
    }

    /// Replaces changes that have waited too long, or are too many, by a reset.
    async fn give_up_if_due(&self, position: &mut Position) {
        let limit = i64::try_from(self.timing.give_up.as_millis()).unwrap_or(i64::MAX);
        let is_late = position.failing_since.is_some_and(|since| unix_ms() - since > limit);
        let waiting = self.notifier.log.waiting(&self.site, position.cursor);
        let are_many = waiting.is_some_and(|waiting| waiting > MAX_WAITING);
        if position.needs_reset || !(is_late || are_many) {
            return;
        }
        *position =
            Position { needs_reset: true, end: None, failing_since: Some(unix_ms()), ..*position };
        let effect = match self.target.kind {
            TargetKind::Changes(_) => "a reset replaces them",
            TargetKind::IndexNow(_) => "they are left out",
        };
        tracing::error!(
            target_name = self.target.name,
            site = self.site,
            effect,
            "the target has accepted nothing for 24 hours, or more than 100,000 changes wait; check that it can be reached"
        );
        self.set(*position, true).await;
    }

    /// The key of the position.
    fn key(&self) -> String {
        key(&self.target, &self.site)
    }

    fn position(&self) -> Position {
        let present = || Progress {
            position: Position::at(self.notifier.log.present(&self.site)),
            generation: None,
        };
        let mut progress = self.notifier.progress.lock();
        progress.entry(self.key()).or_insert_with(present).position
    }

    /// Before a request, writes what the body of a later attempt depends on: when a reset was first sent,
    /// and where the request of one of several instances ends. If this instance is killed, the next one
    /// sends the same request again. False: this instance must not send.
    async fn save_before_request(
        &self,
        position: &mut Position,
        message: &Message,
        now: i64,
    ) -> bool {
        let (before, is_alone) = (*position, self.shared.is_none());
        if message.is_reset {
            position.failing_since.get_or_insert(now);
        } else if !is_alone {
            position.end = Some(message.end.sequence);
        }
        (is_alone && *position == before) || self.set(*position, true).await
    }

    /// Sets a position. False: it could not be written, and another instance may send.
    async fn set(&self, position: Position, is_stored: bool) -> bool {
        let key = self.key();
        let known = Progress { position, generation: None };
        self.notifier.progress.lock().entry(key.clone()).or_insert(known).position = position;
        if !is_stored {
            return true;
        }
        let Some(shared) = &self.shared else {
            self.store.save_row(RowKey::position(&key), move || position.text().into_bytes());
            return true;
        };
        let epoch = self.epoch.load(Ordering::Relaxed);
        shared.save(epoch, &position.text()).await == Ok(true)
    }

    fn set_epoch(&self, epoch: u64) {
        self.epoch.store(epoch, Ordering::Relaxed);
    }
}

impl Attempts {
    /// The pause before the next attempt: exponential backoff with jitter.
    fn next_pause(&mut self, timing: Timing) -> Duration {
        let doubled = timing.first_pause.saturating_mul(1 << self.count.min(20));
        self.count += 1;
        doubled.min(timing.max_pause).mul_f64(0.5 + fastrand::f64() / 2.0)
    }
}

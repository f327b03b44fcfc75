//! The events of the CMS. One instance receives each of them, and all instances apply it (D54).

mod unconfirmed;

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::redis::{self, ANSWER_WAIT, Event};
use unconfirmed::Unconfirmed;

/// The kind of these events in the stream.
const KIND: &str = "cms";
/// How often the events are checked that this instance has not read back.
const PERIOD: Duration = Duration::from_millis(250);
/// An event is appended again if the instance has not read it back for so long.
const ECHO_WAIT: Duration = Duration::from_secs(1);
/// The instance applies an event by itself if it has not read it back for so long. It continues to
/// append it.
const OVERDUE: Duration = Duration::from_secs(5);
/// The time limit for appending an event when no request waits for it.
const BACKGROUND_WAIT: Duration = Duration::from_secs(2);

/// The event of a webhook of the CMS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CmsEvent {
    /// Whether a published version was withdrawn.
    pub withdraws: bool,
    /// What may have changed.
    pub change: CmsChange,
    /// Whether no webhook of the CMS has announced the change: an instance has found it, or a request
    /// for a refresh supposes it.
    #[serde(default)]
    pub is_found: bool,
}

impl CmsEvent {
    /// The document that it names.
    pub fn document(&self) -> Option<&Invalidation> {
        if let CmsChange::Document(document) = &self.change { Some(document) } else { None }
    }
}

/// What may have changed in the CMS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CmsChange {
    /// Drafts alone.
    Nothing,
    /// A document.
    Document(Invalidation),
    /// Any document of these content types.
    ContentTypes(Vec<String>),
    /// Any document.
    Anything,
}

/// A document that may have changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Invalidation {
    /// Its content type, at most 128 bytes.
    pub uid: String,
    /// Its `documentId`, of the form that D20 allows.
    pub document_id: String,
    /// Whether a version was unpublished or deleted. Otherwise it may have other values, or may be
    /// published.
    pub is_withdrawn: bool,
}

/// The body of an event in the stream, as JSON.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The instance that has received it.
    from: String,
    /// The number that the receiving instance has given to it.
    number: u64,
    event: CmsEvent,
}

/// The events that this instance has received and not yet read back from the stream.
#[derive(Default)]
pub struct CmsEvents(Mutex<Unconfirmed>);

impl CmsEvents {
    /// Appends an event to the stream, within [`ANSWER_WAIT`]. Returns whether the caller must
    /// apply it now, because Redis is unavailable; otherwise [`Self::read`] returns it.
    pub(super) async fn share(&self, redis: &redis::Client, event: CmsEvent) -> bool {
        let is_unavailable = redis.is_unavailable();
        let number = self.0.lock().add(event.clone(), is_unavailable, Instant::now());
        if !is_unavailable && let Some(number) = number {
            // If this fails, `forward` appends it again.
            let _ = append(redis, number, event, ANSWER_WAIT).await;
        }
        is_unavailable
    }

    /// Appends events again that this instance has not read back. Applies them while Redis is
    /// unavailable, or if it does not return them for [`OVERDUE`]: it may refuse commands for the
    /// stream alone. Runs for ever.
    pub(super) async fn forward(&self, redis: &redis::Client, apply: impl Fn(&CmsEvent)) {
        loop {
            tokio::time::sleep(PERIOD).await;
            if redis.is_unavailable() {
                self.0.lock().take_unapplied().iter().for_each(&apply);
                continue;
            }
            self.overdue().iter().for_each(&apply);
            let late = self.0.lock().late(Instant::now(), ECHO_WAIT);
            for (number, event) in late {
                // The others of the batch may have been read back meanwhile.
                if !self.0.lock().contains(number) {
                    continue;
                }
                if append(redis, number, event, BACKGROUND_WAIT).await.is_err() {
                    break;
                }
            }
        }
    }

    /// The events that have become overdue. Logs a warning for the first of them, until none is
    /// overdue.
    fn overdue(&self) -> Vec<CmsEvent> {
        let mut unconfirmed = self.0.lock();
        let was_logged = unconfirmed.has_overdue();
        let overdue = unconfirmed.take_overdue(Instant::now(), OVERDUE);
        drop(unconfirmed);
        if !overdue.is_empty() && !was_logged {
            tracing::warn!(
                events = overdue.len(),
                "Redis does not return events of the CMS: this instance applies them by itself"
            );
        }
        overdue
    }

    /// Records that this instance has read an event of its own back.
    fn confirm(&self, redis: &redis::Client, entry: &Entry) {
        if entry.from == redis.instance_id() {
            self.0.lock().confirm(entry.number);
        }
    }

    /// The event of the CMS in an event of the stream; one that this instance has received counts
    /// as read back. `None`: it is of another kind, or this version cannot parse it.
    pub(super) fn read(&self, redis: &redis::Client, event: &Event) -> Option<CmsEvent> {
        let entry = parse(event)?;
        self.confirm(redis, &entry);
        Some(entry.event)
    }
}

/// As [`CmsEvents::read`], without a record that it was read back.
pub(super) fn parse_event(event: &Event) -> Option<CmsEvent> {
    parse(event).map(|entry| entry.event)
}

fn parse(event: &Event) -> Option<Entry> {
    (event.kind == KIND).then(|| serde_json::from_slice(&event.body).ok())?
}

async fn append(
    redis: &redis::Client,
    number: u64,
    event: CmsEvent,
    within: Duration,
) -> Result<(), crate::redis::Error> {
    let entry = Entry { from: redis.instance_id().to_owned(), number, event };
    let body = serde_json::to_vec(&entry).expect("an entry has text and numbers alone");
    redis.append(KIND, &body, within).await.map(|_| ())
}

//! The events of the CMS, each of which one instance receives and all instances apply (D54).

mod unconfirmed;

use std::time::{Duration, Instant};

use parking_lot::Mutex;
use serde::{Deserialize, Serialize};

use crate::shared_engine::{ANSWER_WAIT, Engine, EngineState, Event};
use unconfirmed::Unconfirmed;

/// The kind of these events in the stream.
const KIND: &str = "cms";
/// How often the events are checked that have not come back.
const PERIOD: Duration = Duration::from_millis(250);
/// How long an event may take to come back to the instance that has appended it.
const ECHO_WAIT: Duration = Duration::from_secs(1);
/// After this time, the instance applies the event by itself, and continues to append it.
const OVERDUE: Duration = Duration::from_secs(5);
/// The time limit for appending an event when no request waits for it.
const BACKGROUND_WAIT: Duration = Duration::from_secs(2);

/// What a webhook says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CmsEvent {
    /// Whether a published version was withdrawn.
    pub withdraws: bool,
    /// What may have changed.
    pub change: CmsChange,
}

/// What may have changed in the CMS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CmsChange {
    /// Drafts alone.
    Nothing,
    /// A document.
    Document {
        /// Its content type.
        uid: String,
        /// Its `documentId`.
        document_id: String,
        /// Whether a version was unpublished or deleted.
        is_withdrawn: bool,
    },
    /// Any document.
    Anything,
}

/// An event as it stands in the stream.
#[derive(Debug, Serialize, Deserialize)]
struct Entry {
    /// The instance that has received it.
    from: String,
    /// Its number there.
    number: u64,
    event: CmsEvent,
}

/// The events that this instance has received and not yet read back from the engine.
#[derive(Default)]
pub struct CmsEvents(Mutex<Unconfirmed>);

impl CmsEvents {
    /// Shares an event with all instances, within [`ANSWER_WAIT`]. Returns whether this instance
    /// must apply it by itself now, because the engine is away; if it is here, the event comes back
    /// from [`read`].
    pub(super) async fn share(&self, engine: &Engine, event: CmsEvent) -> bool {
        let is_away = is_away(engine);
        let number = self.0.lock().add(event.clone(), is_away, Instant::now());
        if !is_away && let Some(number) = number {
            // Where this fails, `forward` tries again.
            let _ = append(engine, number, event, ANSWER_WAIT).await;
        }
        is_away
    }

    /// Appends events again that have not come back. Applies them here while the engine is away, or
    /// if it does not return them for [`OVERDUE`]: it may refuse this one stream. Runs for ever.
    pub(super) async fn forward(&self, engine: &Engine, apply: impl Fn(&CmsEvent)) {
        loop {
            tokio::time::sleep(PERIOD).await;
            if is_away(engine) {
                self.0.lock().take_unapplied().iter().for_each(&apply);
                continue;
            }
            self.overdue().iter().for_each(&apply);
            let late = self.0.lock().late(Instant::now(), ECHO_WAIT);
            for (number, event) in late {
                if append(engine, number, event, BACKGROUND_WAIT).await.is_err() {
                    break;
                }
            }
        }
    }

    /// The events that have become overdue. Logs that there are some, once until there are none.
    fn overdue(&self) -> Vec<CmsEvent> {
        let mut unconfirmed = self.0.lock();
        let was_logged = unconfirmed.has_overdue();
        let overdue = unconfirmed.take_overdue(Instant::now(), OVERDUE);
        drop(unconfirmed);
        if !overdue.is_empty() && !was_logged {
            tracing::warn!(
                events = overdue.len(),
                "the shared engine does not return events of the CMS: they are applied here alone"
            );
        }
        overdue
    }

    /// Records that an event of this instance has come back.
    fn confirm(&self, engine: &Engine, entry: &Entry) {
        if entry.from == engine.instance_id() {
            self.0.lock().confirm(entry.number);
        }
    }

    /// The event of an entry of the stream, of this or of another instance; `None`: another kind of
    /// entry, or one that this version does not understand.
    pub(super) fn read(&self, engine: &Engine, event: &Event) -> Option<CmsEvent> {
        let entry = parse(event)?;
        self.confirm(engine, &entry);
        Some(entry.event)
    }
}

/// The event of an entry of the stream; as [`CmsEvents::read`].
pub(super) fn parse_event(event: &Event) -> Option<CmsEvent> {
    parse(event).map(|entry| entry.event)
}

fn parse(event: &Event) -> Option<Entry> {
    (event.kind == KIND).then(|| serde_json::from_slice(&event.body).ok())?
}

fn is_away(engine: &Engine) -> bool {
    matches!(engine.state(), EngineState::Away { .. })
}

async fn append(
    engine: &Engine,
    number: u64,
    event: CmsEvent,
    within: Duration,
) -> Result<(), crate::shared_engine::EngineError> {
    let entry = Entry { from: engine.instance_id().to_owned(), number, event };
    let body = serde_json::to_vec(&entry).expect("an entry has text and numbers alone");
    engine.append(KIND, &body, within).await.map(|_| ())
}

//! What an instance reads from the stream of events.

use std::time::Instant;

use super::cms_events::CmsEvent;
use super::groups::{FAILED, KEPT, WANT};
use super::walk_failure::FailureEvent;
use super::{Fleet, WalkFailure};
use crate::shared_engine::{Engine, Event, Read};

/// What an instance reads from the stream of events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetEvent {
    /// An event of the CMS, which any of the instances has received.
    Cms(CmsEvent),
    /// An instance asks the holder of the lease with this name for a refresh.
    Want(String),
    /// The holder of the lease with this name has acknowledged such a request.
    Kept(String),
    /// A walk of the holder of the lease with this name has failed.
    Failed(String, WalkFailure),
    /// An event of another kind.
    Other(Event),
    /// Events up to this time may have been missed.
    Gap(Instant),
}

impl Fleet {
    /// Reads the stream of events from now on, for ever where there is an engine.
    pub async fn read_events(&self, apply: impl Fn(FleetEvent)) {
        let Some(engine) = &self.engine else { return };
        let mut reader = engine.events();
        loop {
            apply(match reader.next().await {
                Read::Gap { until } => {
                    self.is_reading.send_replace(true);
                    FleetEvent::Gap(engine.instant_of(milliseconds(until.ms)))
                }
                Read::Event(event) => self.parse(engine, event),
            });
        }
    }

    fn parse(&self, engine: &Engine, event: Event) -> FleetEvent {
        if let Some(event) = self.cms_events.read(engine, &event) {
            return FleetEvent::Cms(event);
        }
        if event.kind == FAILED
            && let Ok(FailureEvent { lease, failure }) = serde_json::from_slice(&event.body)
        {
            return FleetEvent::Failed(lease, failure);
        }
        let lease = || String::from_utf8_lossy(&event.body).into_owned();
        match &*event.kind {
            WANT => FleetEvent::Want(lease()),
            KEPT => FleetEvent::Kept(lease()),
            _ => FleetEvent::Other(event),
        }
    }

    /// Waits until the stream of events is read: a walk that begins later misses none. For ever
    /// where there is no engine.
    pub async fn until_events_are_read(&self) {
        // The sender lives as long as this fleet.
        let _ = self.is_reading.subscribe().wait_for(|is_reading| *is_reading).await;
    }
}

fn milliseconds(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

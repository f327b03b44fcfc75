//! The events that an instance reads from the event stream.

use std::time::Instant;

use crate::cms_events::{self, CmsEvent};
use crate::groups::{ACKNOWLEDGED, FAILED, FailureEvent, WALK, WANT};
use crate::redis::{self, Event, Read, StreamId};
use crate::{Fleet, WalkFailure};

/// An event, or a gap, of the event stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FleetEvent {
    /// An event of the CMS, which one of the instances has received.
    Cms(CmsEvent),
    /// A follower asks the leader for a refresh of the group with this name.
    Want(String),
    /// The leader acknowledges such a request for the group with this name.
    Acknowledged(String),
    /// A follower asks the leader for a walk of the group with this name.
    Walk(String),
    /// A walk of the leader has failed, for the group with this name.
    Failed(String, WalkFailure),
    /// An event of another kind.
    Other(Event),
    /// Events may have been missed.
    Gap(Gap),
}

/// Events that this instance may have missed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gap {
    /// The time of the last one.
    pub until: Instant,
    /// The time of the last one that the stream no longer has.
    pub lost_until: Instant,
    /// The events of the CMS among those since, with their times. They are not applied.
    pub kept: Vec<(Instant, CmsEvent)>,
    /// When the stream was last read up to its end before; `None`: never.
    pub read_before: Option<Instant>,
}

impl Fleet {
    /// Reads the event stream from now on, and passes each event to `apply`. With a Redis it runs
    /// for ever, without one it ends at once.
    pub async fn read_events(&self, apply: impl Fn(FleetEvent)) {
        let Some(redis) = &self.redis else { return };
        let mut reader = redis.events();
        loop {
            match reader.next().await {
                Read::Gap { until, kept, read_before } => {
                    let time = |id: StreamId| redis.instant_of(milliseconds(id.ms));
                    let parse =
                        |event: &Event| Some((time(event.id), cms_events::parse_event(event)?));
                    apply(FleetEvent::Gap(Gap {
                        until: time(until),
                        lost_until: time(kept.since),
                        kept: kept.events.iter().filter_map(parse).collect(),
                        read_before,
                    }));
                    self.is_reading.send_replace(true);
                }
                Read::Event(event) => apply(self.parse(redis, event)),
            }
        }
    }

    fn parse(&self, redis: &redis::Client, event: Event) -> FleetEvent {
        if let Some(event) = self.cms_events.read(redis, &event) {
            return FleetEvent::Cms(event);
        }
        if event.kind == FAILED
            && let Ok(FailureEvent { group, failure }) = serde_json::from_slice(&event.body)
        {
            return FleetEvent::Failed(group, failure);
        }
        let group = || String::from_utf8_lossy(&event.body).into_owned();
        match &*event.kind {
            WANT => FleetEvent::Want(group()),
            WALK => FleetEvent::Walk(group()),
            ACKNOWLEDGED => FleetEvent::Acknowledged(group()),
            _ => FleetEvent::Other(event),
        }
    }

    /// Waits until the event stream is read: a walk that begins later misses no event. Without an
    /// Redis it waits for ever.
    pub async fn until_events_are_read(&self) {
        // The sender lives as long as this fleet.
        let _ = self.is_reading.subscribe().wait_for(|is_reading| *is_reading).await;
    }
}

fn milliseconds(ms: u64) -> i64 {
    i64::try_from(ms).unwrap_or(i64::MAX)
}

//! The event stream of a fleet. Each event has the next number, so that a reader knows
//! whether it has missed one.

mod reader;

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

pub use reader::{EventReader, Kept, Read};

use super::{Argument, BadSeal, Client, Error, StreamEntry};

/// About how many events the stream keeps.
const MAX_EVENTS: usize = 10_000;

/// How long the stream stays after the last event.
const TTL: Duration = Duration::from_hours(24);

/// The id of an event: Redis's time in ms, and a number within it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamId {
    /// When the event was appended, by Redis's clock, in ms since 1970.
    pub ms: u64,
    /// Distinguishes events of the same ms.
    pub sequence: u64,
}

impl fmt::Display for StreamId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.ms, self.sequence)
    }
}

impl FromStr for StreamId {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let parts = text.split_once('-').and_then(|(ms, sequence)| {
            Some(Self { ms: ms.parse().ok()?, sequence: sequence.parse().ok()? })
        });
        parts.ok_or(Error::Answer)
    }
}

/// An event whose seal was good.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// Its id, which is larger than those of earlier events.
    pub id: StreamId,
    /// Its kind, such as `cms`.
    pub kind: String,
    /// Its content.
    pub body: Vec<u8>,
}

/// An event that a script appends by `append_event(first_key, first_argument)`: the indexes of the
/// first of these keys in `KEYS` and of the first of these arguments in `ARGV`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SealedEvent {
    /// To be added to the keys of the script.
    pub keys: [String; 3],
    /// To be added to the arguments of the script.
    pub arguments: [Argument; 4],
}

impl Client {
    /// Appends an event, which all readers get.
    ///
    /// # Errors
    /// [`Error`]; after a time-out or a broken connection, the event may have been appended.
    pub async fn append(
        &self,
        kind: &str,
        body: &[u8],
        within: Duration,
    ) -> Result<StreamId, Error> {
        let SealedEvent { keys, arguments } = self.sealed_event(kind, body);
        let script = "return append_event(1, 1)";
        let id: String = self.script(script, &keys, arguments.into(), within).await?;
        id.parse()
    }

    /// An event for a script that appends it together with other writes.
    pub fn sealed_event(&self, kind: &str, body: &[u8]) -> SealedEvent {
        let ttl = Argument::from(TTL.as_millis());
        let body = Argument::from(self.seal(&context(kind), body));
        SealedEvent {
            keys: ["events", "events:number", "incarnation"].map(|name| self.key(name)),
            arguments: [Argument::from(kind), body, Argument::from(MAX_EVENTS), ttl],
        }
    }

    /// The events of at most this age that the stream still has, the oldest first, without those
    /// whose seal is bad.
    ///
    /// # Errors
    /// [`Error`].
    pub async fn recent_events(
        &self,
        age: Duration,
        within: Duration,
    ) -> Result<Vec<Event>, Error> {
        let age = i64::try_from(age.as_millis()).unwrap_or(i64::MAX);
        let from = self.now_ms().saturating_sub(age).max(0);
        let (key, from) = (self.events_key(), from.to_string());
        let found = self.entries(&key, &from, "+", MAX_EVENTS, within).await?;
        Ok(found.iter().filter_map(|entry| self.event_of(entry).ok()?.1.ok()).collect())
    }

    pub(super) fn events_key(&self) -> String {
        self.key("events")
    }

    /// The number and the event of an entry.
    ///
    /// # Errors
    /// [`Error::Answer`] if the entry has another form: no instance has written it.
    pub(super) fn event_of(
        &self,
        entry: &StreamEntry,
    ) -> Result<(u64, Result<Event, BadSeal>), Error> {
        let id = entry.id.parse()?;
        let number = entry.text("number").and_then(|number| number.parse().ok());
        let fields = (number, entry.text("kind"), entry.get("body"));
        let (Some(number), Some(kind), Some(sealed)) = fields else {
            return Err(Error::Answer);
        };
        let body = self.open(&context(kind), sealed);
        Ok((number, body.map(|body| Event { id, kind: kind.to_owned(), body: body.to_vec() })))
    }
}

fn context(kind: &str) -> String {
    format!("event:{kind}")
}

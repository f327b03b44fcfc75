//! Reads the event stream on a connection of its own.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use redis::aio::MultiplexedConnection;
use tokio::sync::mpsc;

use super::{Event, StreamId};
use crate::redis::bounded::EntryReply;
use crate::redis::{Argument, Availability, Client, Error, StreamEntry};

/// How long a read blocks in Redis, and how much longer its answer may take.
const BLOCK_MS: u64 = 1_000;
const ANSWER: Duration = Duration::from_secs(2);

/// The most events of one read.
const BATCH: usize = 100;

/// The most entries of one read of the events before a session.
const PAGE: usize = 1_000;

/// How many events may wait for the caller.
const QUEUE: usize = 256;

/// The longest pause before the next attempt after an error.
const MAX_PAUSE: Duration = Duration::from_millis(500);

/// The time limit of other commands.
const WITHIN: Duration = Duration::from_secs(2);

/// Keys and arguments: those of an event, then whether it is appended to a stream that never had one
/// (1 or 0). Returns the id and the number of the last entry; if there is none, an empty id and the
/// number of the last event. An empty number: there is none.
const END: &str = r"
remove_foreign(KEYS[1], 'stream')
remove_foreign(KEYS[2], 'string')
local function last_entry() return redis.call('XREVRANGE', KEYS[1], '+', '-', 'COUNT', 1) end
local entries, last_number = last_entry(), redis.call('GET', KEYS[2])
if ARGV[5] == '1' and not (entries[1] or last_number) then
  append_event(1, 1)
  entries = last_entry()
end
local id, number = '', last_number or '0'
for _, last in ipairs(entries) do
  id, number = last[1], ''
  for i = 1, #last[2], 2 do
    if last[2][i] == 'number' then number = last[2][i + 1] end
  end
end
if #number > 20 then number = '' end
return {id, number}
";

/// The kind of the first event of a stream. An instance without a position appends it: events before
/// it are unknown, because Redis may have lost its data. A walk that begins later misses none.
const BEGUN: &str = "begun";
/// The kind of the event that a reader appends when it has removed entries: other readers that have
/// not read them find a gap at once.
const REMOVED: &str = "removed";
/// Keys and arguments: those of the event, then the id of the first entry that stays. Returns how many
/// entries were removed.
const TRIM: &str = r"
remove_foreign(KEYS[1], 'stream')
local removed = redis.call('XTRIM', KEYS[1], 'MINID', ARGV[5])
if removed > 0 then append_event(1, 1) end
return removed
";

/// What a reader gets from the stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Read {
    /// The next event.
    Event(Event),
    /// Events may have been missed: before the first read of a session, or because they were
    /// trimmed, removed or damaged.
    Gap {
        /// The id of the last event that may have been missed.
        until: StreamId,
        /// What the stream still has of them, at the beginning of a session.
        kept: Kept,
        /// When the stream was last read up to its end before; `None`: never.
        read_before: Option<Instant>,
    },
}

/// The last events before a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Kept {
    /// The id of the first one. Earlier ones were removed, or cannot be read.
    pub since: StreamId,
    /// All since then, in the order of the stream.
    pub events: Vec<Event>,
}

/// Events in the order of the stream, after a first [`Read::Gap`]. Dropping it ends the reading.
pub struct EventReader(mpsc::Receiver<Read>);

impl EventReader {
    /// Waits for the next event or gap, also while Redis is unavailable. It is cancellation-safe: a
    /// caller that stops waiting loses nothing.
    pub async fn next(&mut self) -> Read {
        match self.0.recv().await {
            Some(read) => read,
            // The task that sends ends only after its receiver.
            None => std::future::pending().await,
        }
    }
}

impl Client {
    /// How long ago Redis was last asked for events and returned all, if that is longer than two reads
    /// without an event take: this process was paused, or its reads fail. `None` also before the first
    /// answer.
    pub fn event_lag(&self) -> Option<Duration> {
        let lag = (*self.0.events_read.lock())?.elapsed();
        (lag > Duration::from_millis(BLOCK_MS) + ANSWER).then_some(lag)
    }

    /// Reads the event stream from now on. Must be called within a runtime.
    pub fn events(&self) -> EventReader {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let redis = self.clone();
        let reading =
            Reading { redis, sender, position: None, connection: None, has_failed: false };
        tokio::spawn(reading.run());
        EventReader(receiver)
    }
}

/// The [`EventReader`] was dropped.
struct Dropped;

/// What an entry was.
enum Taken {
    /// An event, which was sent.
    Sent,
    /// Damaged, or written by another program.
    Junk(StreamId),
    /// An event that could not be sent.
    Dropped,
}

/// The last entry that was read.
#[derive(Clone, Copy)]
struct Position {
    session: u64,
    id: StreamId,
    /// The number of the last event; `None` if the last entry was not a readable event.
    number: Option<u64>,
}

impl Kept {
    /// Nothing, of the events up to this id.
    fn none(until: StreamId) -> Self {
        Self { since: until, events: Vec::new() }
    }
}

struct Reading {
    redis: Client,
    sender: mpsc::Sender<Read>,
    position: Option<Position>,
    connection: Option<MultiplexedConnection>,
    /// Whether a step has failed, and the end of the stream was not read since.
    has_failed: bool,
}

impl Reading {
    async fn run(mut self) {
        let sender = self.sender.clone();
        let reading = async {
            let mut state = self.redis.watch();
            loop {
                let available =
                    state.wait_for(|state| matches!(state, Availability::Available { .. })).await;
                let Ok(Availability::Available { session }) = available.map(|state| state.clone())
                else {
                    return;
                };
                match self.step(session).await {
                    Ok(Ok(())) => {}
                    Ok(Err(Dropped)) => return,
                    Err(error) => self.recover(&error).await,
                }
            }
        };
        tokio::select! {
            () = reading => {}
            () = sender.closed() => {}
        }
    }

    /// Reads once; in a new session, sends a gap instead.
    async fn step(&mut self, session: u64) -> Result<Result<(), Dropped>, Error> {
        let Some(position) = self.position.filter(|position| position.session == session) else {
            self.connection = None;
            let asked = Instant::now();
            let end = self.end(session).await?;
            self.position = Some(end);
            let is_empty = end.id == StreamId::default() && end.number != Some(0);
            // Without the last entry, it is not known when the last event was appended.
            let until = if is_empty { self.now() } else { end.id };
            let kept = self.kept(until).await.unwrap_or_else(|error| {
                tracing::debug!(%error, "the events before this session could not be read");
                Kept::none(until)
            });
            let sent = self.send_gap(until, kept).await;
            // After an outage, the old time stays until the next read, so that the lag has the outage.
            self.redis.0.events_read.lock().get_or_insert(asked);
            return Ok(sent);
        };
        let (mut junk, mut ends_with_junk) = (None, false);
        // An answer from before a pause of this process may be read after it.
        let asked = Instant::now();
        let entries = self.read(position.id).await?;
        let is_end = !self.has_failed && entries.len() < BATCH;
        for entry in entries {
            ends_with_junk = false;
            match self.take(&entry).await? {
                Taken::Sent => {}
                Taken::Junk(id) => (junk, ends_with_junk) = (Some(id), true),
                Taken::Dropped => return Ok(Err(Dropped)),
            }
        }
        if is_end {
            *self.redis.0.events_read.lock() = Some(asked);
        }
        let Some(id) = junk else { return Ok(Ok(())) };
        // A gap comes before the next event in any case.
        if ends_with_junk && let Err(dropped) = self.send_gap(id, Kept::none(id)).await {
            return Ok(Err(dropped));
        }
        self.trim(id).await?;
        Ok(Ok(()))
    }

    /// Sends the event of an entry, after a gap if events before it may be missing.
    async fn take(&mut self, entry: &StreamEntry) -> Result<Taken, Error> {
        let Some(position) = &mut self.position else { return Ok(Taken::Sent) };
        let expected = position.number.map(|number| number + 1);
        let id = entry.id.parse()?;
        position.id = id;
        let Ok((number, Ok(event))) = self.redis.event_of(entry) else {
            position.number = None;
            return Ok(Taken::Junk(id));
        };
        position.number = Some(number);
        if Some(number) != expected && self.send_gap(id, Kept::none(id)).await.is_err() {
            return Ok(Taken::Dropped);
        }
        if event.kind != REMOVED && self.send(Read::Event(event)).await.is_err() {
            return Ok(Taken::Dropped);
        }
        Ok(Taken::Sent)
    }

    /// Removes the entries up to an entry that is no event of this fleet, so that no reader reads it
    /// again. Other readers find a gap.
    async fn trim(&self, StreamId { ms, sequence }: StreamId) -> Result<(), Error> {
        let next = match sequence.checked_add(1) {
            Some(sequence) => StreamId { ms, sequence },
            None => StreamId { ms: ms.saturating_add(1), sequence: 0 },
        };
        let event = self.redis.sealed_event(REMOVED, &[]);
        let first = Argument::from(next.to_string());
        let arguments = event.arguments.into_iter().chain([first]).collect();
        let removed: u64 = self.redis.script(TRIM, &event.keys, arguments, WITHIN).await?;
        if removed > 0 {
            tracing::warn!(
                removed,
                "the stream of events had damaged entries, or those of another program; they were removed"
            );
        }
        Ok(())
    }

    async fn send_gap(&self, until: StreamId, kept: Kept) -> Result<(), Dropped> {
        let read_before = *self.redis.0.events_read.lock();
        self.send(Read::Gap { until, kept, read_before }).await
    }

    async fn send(&self, read: Read) -> Result<(), Dropped> {
        self.sender.send(read).await.map_err(|_| Dropped)
    }

    /// The events up to this id that the stream has, from the first one behind which no number is
    /// missing.
    async fn kept(&self, until: StreamId) -> Result<Kept, Error> {
        let (mut kept, mut expected) = (Kept::none(until), None);
        let (key, mut from) = (self.redis.events_key(), "-".to_owned());
        loop {
            let entries = self.redis.entries(&key, &from, &until.to_string(), PAGE, WITHIN).await?;
            for entry in &entries {
                let Ok((number, Ok(event))) = self.redis.event_of(entry) else {
                    (kept, expected) = (Kept::none(entry.id.parse()?), None);
                    continue;
                };
                if expected != Some(number) {
                    kept = Kept::none(event.id);
                }
                expected = Some(number + 1);
                kept.events.push(event);
            }
            match entries.last() {
                Some(last) if entries.len() == PAGE => from = format!("({}", last.id),
                _ => return Ok(kept),
            }
        }
    }

    /// The last entry of the stream; if it has none, the number of the last event.
    async fn end(&self, session: u64) -> Result<Position, Error> {
        let event = self.redis.sealed_event(BEGUN, &[]);
        let is_first = Argument::from(self.position.is_none());
        let arguments = event.arguments.into_iter().chain([is_first]).collect();
        let (id, number): (String, String) =
            self.redis.script(END, &event.keys, arguments, WITHIN).await?;
        let id = if id.is_empty() { StreamId::default() } else { id.parse()? };
        Ok(Position { session, id, number: number.parse().ok() })
    }

    fn now(&self) -> StreamId {
        StreamId { ms: u64::try_from(self.redis.now_ms()).unwrap_or(0), sequence: 0 }
    }

    async fn read(&mut self, after: StreamId) -> Result<Vec<StreamEntry>, Error> {
        if self.has_failed {
            // Its answer may be too long: entry by entry, up to the end.
            let (key, range) = (self.redis.events_key(), format!("({after}"));
            let found = self.redis.entries(&key, &range, "+", 1, WITHIN).await?;
            self.has_failed = !found.is_empty();
            return Ok(found);
        }
        let mut read = redis::cmd("XREAD");
        read.arg("COUNT").arg(BATCH).arg("BLOCK").arg(BLOCK_MS);
        read.arg("STREAMS").arg(self.redis.events_key()).arg(after.to_string());
        let found: Option<HashMap<String, Vec<EntryReply>>> = self.query(&read).await?;
        let entries = found.unwrap_or_default().into_values().flatten();
        Ok(entries.map(StreamEntry::of).collect())
    }

    async fn query<T: redis::FromRedisValue>(&mut self, command: &redis::Cmd) -> Result<T, Error> {
        if self.connection.is_none() {
            self.connection =
                Some(self.redis.0.connection.open(Duration::from_millis(BLOCK_MS) + ANSWER).await?);
        }
        let connection = self.connection.as_mut().expect("it was just opened");
        self.redis.query(command, connection).await
    }

    /// Pauses, and lets the next read open a new connection. The position stays the same, so that
    /// nothing is missed.
    async fn recover(&mut self, error: &Error) {
        tracing::debug!(%error, "the event stream could not be read");
        self.connection = None;
        self.has_failed = true;
        tokio::time::sleep(MAX_PAUSE.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
    }
}

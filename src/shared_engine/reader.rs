//! Reads the event stream on a connection of its own.

use std::time::Duration;

use redis::aio::MultiplexedConnection;
use redis::streams::{StreamId as Entry, StreamRangeReply, StreamReadReply};
use tokio::sync::mpsc;

use super::events::{Event, StreamId};
use super::{Engine, EngineError, EngineState};

/// How long a read blocks in the engine, and how much longer its answer may take.
const BLOCK_MS: u64 = 1_000;
const ANSWER: Duration = Duration::from_secs(2);

/// The most events of one read.
const BATCH: usize = 100;

/// How many events may wait for the caller.
const QUEUE: usize = 256;

/// The longest pause before the next attempt after an error.
const MAX_PAUSE: Duration = Duration::from_millis(500);

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
    },
}

/// Events in the order of the stream, after a first [`Read::Gap`]. Dropping it ends the reading.
pub struct EventReader(mpsc::Receiver<Read>);

impl EventReader {
    /// Waits for the next event or gap, also while the engine is away. It is cancellation-safe: a
    /// caller that stops waiting loses nothing.
    pub async fn next(&mut self) -> Read {
        match self.0.recv().await {
            Some(read) => read,
            // The task that sends ends only after its receiver.
            None => std::future::pending().await,
        }
    }
}

impl Engine {
    /// Reads the event stream from now on. Must be called within a runtime.
    #[must_use]
    pub fn events(&self) -> EventReader {
        let (sender, receiver) = mpsc::channel(QUEUE);
        let reading = Reading { engine: self.clone(), sender, position: None, connection: None };
        tokio::spawn(reading.run());
        EventReader(receiver)
    }
}

/// The [`EventReader`] was dropped.
struct Dropped;

/// The last entry that was read.
#[derive(Clone, Copy)]
struct Position {
    session: u64,
    id: StreamId,
    /// The number of the last event; `None` if the last entry was not a readable event.
    number: Option<u64>,
}

struct Reading {
    engine: Engine,
    sender: mpsc::Sender<Read>,
    position: Option<Position>,
    connection: Option<MultiplexedConnection>,
}

impl Reading {
    async fn run(mut self) {
        let sender = self.sender.clone();
        let reading = async {
            let mut state = self.engine.watch();
            loop {
                let here = state.wait_for(|state| matches!(state, EngineState::Here { .. })).await;
                let Ok(EngineState::Here { session }) = here.map(|state| state.clone()) else {
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
    async fn step(&mut self, session: u64) -> Result<Result<(), Dropped>, EngineError> {
        let Some(position) = self.position.filter(|position| position.session == session) else {
            self.connection = None;
            let end = self.end(session).await?;
            self.position = Some(end);
            return Ok(self.send(Read::Gap { until: end.id }).await);
        };
        for entry in self.read(position.id).await? {
            if let Err(dropped) = self.take(&entry).await? {
                return Ok(Err(dropped));
            }
        }
        Ok(Ok(()))
    }

    /// Sends the event of an entry, after a gap if events before it may be missing.
    async fn take(&mut self, entry: &Entry) -> Result<Result<(), Dropped>, EngineError> {
        let Some(position) = &mut self.position else { return Ok(Ok(())) };
        let expected = position.number.map(|number| number + 1);
        let (number, event) = match self.engine.event_of(entry) {
            Ok((number, event)) => (Some(number), event.ok()),
            Err(_) => (None, None),
        };
        let id = entry.id.parse()?;
        (position.id, position.number) = (id, number);
        let may_miss = event.is_none() || number != expected;
        if may_miss && let Err(dropped) = self.send(Read::Gap { until: id }).await {
            return Ok(Err(dropped));
        }
        match event {
            Some(event) => Ok(self.send(Read::Event(event)).await),
            None => Ok(Ok(())),
        }
    }

    async fn send(&self, read: Read) -> Result<(), Dropped> {
        self.sender.send(read).await.map_err(|_| Dropped)
    }

    /// The last entry of the stream; if it has none, the number of the last event.
    async fn end(&mut self, session: u64) -> Result<Position, EngineError> {
        let mut last = redis::cmd("XREVRANGE");
        last.arg(self.engine.events_key()).arg("+").arg("-").arg("COUNT").arg(1);
        let found: StreamRangeReply = self.query(&last).await?;
        let Some(entry) = found.ids.first() else {
            let mut number = redis::cmd("GET");
            number.arg(self.engine.key("events:number"));
            let number: Option<u64> = self.query(&number).await?;
            let number = Some(number.unwrap_or(0));
            return Ok(Position { session, id: StreamId::default(), number });
        };
        let number = self.engine.event_of(entry).ok().map(|(number, _)| number);
        Ok(Position { session, id: entry.id.parse()?, number })
    }

    async fn read(&mut self, after: StreamId) -> Result<Vec<Entry>, EngineError> {
        let mut read = redis::cmd("XREAD");
        read.arg("COUNT").arg(BATCH).arg("BLOCK").arg(BLOCK_MS);
        read.arg("STREAMS").arg(self.engine.events_key()).arg(after.to_string());
        let found: Option<StreamReadReply> = self.query(&read).await?;
        let streams = found.map(|found| found.keys).unwrap_or_default();
        Ok(streams.into_iter().flat_map(|stream| stream.ids).collect())
    }

    async fn query<T: redis::FromRedisValue>(
        &mut self,
        command: &redis::Cmd,
    ) -> Result<T, EngineError> {
        if self.connection.is_none() {
            self.connection = Some(
                self.engine.0.connection.open(Duration::from_millis(BLOCK_MS) + ANSWER).await?,
            );
        }
        let connection = self.connection.as_mut().expect("it was just opened");
        self.engine.0.query(command, connection).await
    }

    /// Pauses, and lets the next read open a new connection. The position stays the same, so that
    /// nothing is missed.
    async fn recover(&mut self, error: &EngineError) {
        tracing::debug!(%error, "the event stream could not be read");
        self.connection = None;
        tokio::time::sleep(MAX_PAUSE.mul_f64(0.5 + fastrand::f64() / 2.0)).await;
    }
}

//! A validation run as a stream: an event for each URL, counters in between, and the result at the
//! end.
//!
//! Each stream has its own position in the run's results and advances as fast as its client reads.
//! So each shows the run from its start, and no slow client delays another.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use serde::Serialize;
use tokio::sync::watch;

use super::{CHUNK, ResultChunks};
use crate::http::request::accept::ResultFormat;
use crate::http::responses::{ProgressEvent, StoppedEvent};
use frontend_map_catalog::json;
use frontend_map_outbound::checks::Finding;
use frontend_map_outbound::checks::report::{Classes, Tally};
use frontend_map_outbound::checks::runs::{RunFailed, RunKind, Subscription};

/// The `id` of the last event.
pub(super) const LAST_ID: &str = "end";
/// The number of findings between two events with counters.
const FINDINGS_PER_COUNTERS: usize = 100;
/// The longest time without an event: counters are then sent to keep proxies from closing the
/// connection and to show that the run continues.
const MAX_SILENCE: Duration = Duration::from_secs(1);

/// The events of a run for one client.
struct EventStream {
    subscription: Subscription,
    /// What the client wants of the run.
    kind: RunKind,
    /// Whether the service stops.
    closing: watch::Receiver<bool>,
    format: ResultFormat,
    /// The number of findings that were sent.
    sent: usize,
    /// Of these findings.
    tally: Tally,
    stage: Stage,
}

enum Stage {
    Begin,
    Findings,
    Result(ResultChunks),
    Done,
}

/// A body that follows the run until its end; dropping it ends the subscription.
pub(super) fn body(
    subscription: Subscription,
    kind: RunKind,
    format: ResultFormat,
    closing: watch::Receiver<bool>,
) -> Body {
    let (tally, stage) = (Tally::default(), Stage::Begin);
    let events = EventStream { subscription, kind, closing, format, sent: 0, tally, stage };
    Body::from_stream(stream::unfold(events, async |mut events| {
        let chunk = events.next().await.transpose()?;
        Some((chunk, events))
    }))
}

impl EventStream {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let chunk = match &mut self.stage {
            Stage::Begin => {
                self.stage = Stage::Findings;
                self.counters()
            }
            Stage::Findings => self.wait_for_events().await?,
            Stage::Result(chunks) => chunks.next().unwrap_or_else(|| {
                self.stage = Stage::Done;
                if self.format == ResultFormat::Events { "\n\n" } else { "\n" }.to_owned()
            }),
            Stage::Done => return Ok(None),
        };
        Ok(Some(chunk.into()))
    }

    /// Findings if there are new ones, the beginning of the result if the run has ended, the last
    /// event if the service stops, or counters if none of these happens in time.
    async fn wait_for_events(&mut self) -> io::Result<String> {
        loop {
            // Read before the findings: a run that has ended has all of them.
            let ended = self.subscription.run().has_ended();
            if !ended && *self.closing.borrow() {
                self.stage = Stage::Done;
                return Ok(self.event("stopped", &StoppedEvent { reason: "shutdown" }));
            }
            let findings = self.findings();
            if !findings.is_empty() {
                return Ok(findings);
            }
            let run = self.subscription.run();
            if ended {
                self.stage = Stage::Result(ResultChunks::new(Arc::clone(run), self.kind));
                return Ok(self.before_result());
            }
            let more = tokio::select! {
                more = run.wait_for_more(self.sent, MAX_SILENCE) => more,
                () = wait_until_true(&mut self.closing) => continue,
            };
            // The error closes the connection: the client must not mistake half a run for a whole one.
            if !more.map_err(|RunFailed| io::Error::other("the run failed"))? {
                return Ok(self.counters());
            }
        }
    }

    /// The new findings, at most until the next counters are due or a chunk is full.
    fn findings(&mut self) -> String {
        let mut text = String::new();
        while let Some((position, checked)) = self.subscription.run().nth(self.sent) {
            self.tally.add(&checked);
            let target = self.subscription.run().targets().target(position);
            let mut finding = Finding::new(target, checked);
            if self.kind == RunKind::Content {
                finding.faults = self.subscription.run().faults(position);
            }
            text.push_str(&self.event("finding", &finding));
            self.sent += 1;
            if self.sent.is_multiple_of(FINDINGS_PER_COUNTERS) {
                return text + &self.counters();
            }
            if text.len() >= CHUNK {
                break;
            }
        }
        text
    }

    fn before_result(&self) -> String {
        let sent_last = self.sent.is_multiple_of(FINDINGS_PER_COUNTERS);
        let counters = if sent_last { String::new() } else { self.counters() };
        match self.format {
            ResultFormat::Events => format!("{counters}id: {LAST_ID}\nevent: result\ndata: "),
            _ => counters,
        }
    }

    fn counters(&self) -> String {
        let run = self.subscription.run();
        // The findings of another instance come at the end.
        let counters = match run.remote_progress().filter(|remote| remote.checked > self.sent) {
            Some(remote) => ProgressEvent {
                checked: remote.checked,
                total: remote.total,
                by_class: Classes::of(remote.by_class),
            },
            None => ProgressEvent {
                checked: self.sent,
                total: run.total(),
                by_class: self.tally.by_class,
            },
        };
        self.event("progress", &counters)
    }

    fn event(&self, name: &str, data: &impl Serialize) -> String {
        let data = json::to_text(data);
        match self.format {
            ResultFormat::Events => format!("event: {name}\ndata: {data}\n\n"),
            _ => format!("{{\"{name}\":{data}}}\n"),
        }
    }
}

async fn wait_until_true(closing: &mut watch::Receiver<bool>) {
    if closing.wait_for(|closing| *closing).await.is_err() {
        // The sender is gone without a stop: it never becomes true.
        std::future::pending::<()>().await;
    }
}

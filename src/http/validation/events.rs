//! A run as it goes on: one event for each URL, counters in between, and the result at the end.
//!
//! Each reader has a place of its own in what the run has found, and takes from there as fast as
//! its client reads. So all see the run from its start, and none holds it up.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use futures::stream;
use serde::Serialize;

use super::result::{PIECE, Pieces};
use crate::http::accept::Form;
use crate::validator::Finding;
use crate::validator::report::{Classes, Tally};
use crate::validator::runs::{RunFailed, Subscription};

/// The `id` of the last event.
pub(super) const END: &str = "end";
/// After so many URLs there are counters.
const COUNTERS_EVERY: usize = 100;
/// Without a URL for so long there are counters too: a sign of life for proxies and people.
const SILENCE: Duration = Duration::from_secs(1);

/// How far a run is.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Counters {
    checked: usize,
    total: usize,
    by_class: Classes,
}

/// Somebody who follows a run.
struct Reader {
    subscription: Subscription,
    form: Form,
    /// How many results have been sent.
    sent: usize,
    /// Over these.
    tally: Tally,
    stage: Stage,
}

enum Stage {
    Begin,
    Findings,
    Result(Pieces),
    Done,
}

/// A body that follows the run until its end; dropping it is going away.
pub(super) fn body(subscription: Subscription, form: Form) -> Body {
    let reader =
        Reader { subscription, form, sent: 0, tally: Tally::default(), stage: Stage::Begin };
    Body::from_stream(stream::unfold(reader, async |mut reader| {
        let piece = reader.next().await.transpose()?;
        Some((piece, reader))
    }))
}

impl Reader {
    async fn next(&mut self) -> io::Result<Option<Bytes>> {
        let piece = match &mut self.stage {
            Stage::Begin => {
                self.stage = Stage::Findings;
                self.counters()
            }
            Stage::Findings => self.more().await?,
            Stage::Result(pieces) => pieces.next().unwrap_or_else(|| {
                self.stage = Stage::Done;
                if self.form == Form::Events { "\n\n" } else { "\n" }.to_owned()
            }),
            Stage::Done => return Ok(None),
        };
        Ok(Some(piece.into()))
    }

    /// Findings if there are any, else the beginning of the result, else a sign of life.
    async fn more(&mut self) -> io::Result<String> {
        loop {
            let run = self.subscription.run();
            // Asked before the findings are taken: what has ended has all of them.
            let ended = run.has_ended();
            let findings = self.findings();
            if !findings.is_empty() {
                return Ok(findings);
            }
            let run = self.subscription.run();
            if ended {
                self.stage = Stage::Result(Pieces::new(Arc::clone(run)));
                return Ok(self.before_the_result());
            }
            let more = run.wait_for_more(self.sent, SILENCE).await;
            if !more.map_err(|RunFailed| io::Error::other("the run broke off"))? {
                return Ok(self.counters());
            }
        }
    }

    /// The findings that are there, at most until the next counters or a piece is full.
    fn findings(&mut self) -> String {
        let mut text = String::new();
        while let Some((position, checked)) = self.subscription.run().nth(self.sent) {
            self.tally.add(&checked);
            let target = self.subscription.run().targets.target(position);
            text.push_str(&self.event("finding", &Finding::new(target, checked)));
            self.sent += 1;
            if self.sent.is_multiple_of(COUNTERS_EVERY) {
                return text + &self.counters();
            }
            if text.len() >= PIECE {
                break;
            }
        }
        text
    }

    fn before_the_result(&self) -> String {
        let counted = self.sent.is_multiple_of(COUNTERS_EVERY);
        let counters = if counted { String::new() } else { self.counters() };
        match self.form {
            Form::Events => format!("{counters}id: {END}\nevent: result\ndata: "),
            _ => counters,
        }
    }

    fn counters(&self) -> String {
        let total = self.subscription.run().targets.count();
        let by_class = self.tally.by_class;
        self.event("progress", &Counters { checked: self.sent, total, by_class })
    }

    fn event(&self, name: &str, data: &impl Serialize) -> String {
        // Our own structs of text and numbers: there is nothing in them that JSON cannot hold.
        let data = serde_json::to_string(data).unwrap_or_default();
        match self.form {
            Form::Events => format!("event: {name}\ndata: {data}\n\n"),
            _ => format!("{{\"{name}\":{data}}}\n"),
        }
    }
}

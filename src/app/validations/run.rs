//! One run: checks all URLs of a content type once, and keeps what it finds for any number of
//! readers, each as fast as it likes.

use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use futures::StreamExt;
use parking_lot::RwLock;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::validator::record::Record;
use crate::validator::report::Tally;
use crate::validator::{Checked, Failure, Targets, Validator};

/// A run, under way or at its end.
pub struct Run {
    /// What it checks.
    pub targets: Targets,
    record: RwLock<Record>,
    end: OnceLock<End>,
    /// How many results are known.
    grown: watch::Receiver<usize>,
    /// Nothing is ever sent: it closes at the end. Who waits for that alone is not woken before.
    ended: watch::Receiver<()>,
}

/// The end of a run.
struct End {
    at: Instant,
    /// The results by position.
    order: Vec<u32>,
}

/// Who tells the readers of a run. When it is gone, nothing more will come.
pub(super) struct Writer {
    grown: watch::Sender<usize>,
    _ended: watch::Sender<()>,
}

/// The run broke off: a fault of ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Broken;

impl Run {
    pub(super) fn new(targets: Targets) -> (Arc<Self>, Writer) {
        let (grown, growing) = watch::channel(0);
        let (ended, ending) = watch::channel(());
        let record = RwLock::new(Record::with_capacity(targets.count()));
        let run = Self { targets, record, end: OnceLock::new(), grown: growing, ended: ending };
        (Arc::new(run), Writer { grown, _ended: ended })
    }

    /// Whether all results are there.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.end.get().is_some()
    }

    /// How long ago it ended; nothing while it is under way.
    #[must_use]
    pub fn age(&self) -> Duration {
        self.end.get().map_or(Duration::ZERO, |end| end.at.elapsed())
    }

    /// Waits until all results are there.
    ///
    /// # Errors
    /// [`Broken`] when they never will be.
    pub async fn wait(&self) -> Result<(), Broken> {
        let _ = self.ended.clone().changed().await;
        self.has_ended().then_some(()).ok_or(Broken)
    }

    /// Waits until more than `known` results are there or the run has ended, but not for longer
    /// than `patience`; says whether it is so.
    ///
    /// # Errors
    /// [`Broken`] when there will never be more.
    pub async fn wait_for_more(&self, known: usize, patience: Duration) -> Result<bool, Broken> {
        let mut grown = self.grown.clone();
        let more = timeout(patience, grown.wait_for(|count| *count > known)).await;
        match more {
            Ok(Err(_)) if !self.has_ended() => Err(Broken),
            told => Ok(told.is_ok()),
        }
    }

    /// The result that became known as the `nth`, from 0.
    #[must_use]
    pub fn nth(&self, nth: usize) -> Option<(usize, Checked)> {
        self.read(|record| record.get(nth))
    }

    /// The result at a place in the order of the URLs, once the run has ended.
    #[must_use]
    pub fn in_order(&self, place: usize) -> Option<(usize, Checked)> {
        let nth = *self.end.get()?.order.get(place)?;
        self.nth(nth as usize)
    }

    /// The counters over all results that are known.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.read(|record| record.tally().clone())
    }

    fn read<T>(&self, read: impl FnOnce(&Record) -> T) -> T {
        read(&self.record.read())
    }

    fn write<T>(&self, write: impl FnOnce(&mut Record) -> T) -> T {
        write(&mut self.record.write())
    }

    /// Checks everything, or as much as there is time for.
    pub(super) async fn go(&self, writer: Writer, validator: &Validator, deadline: Duration) {
        let targets = &self.targets;
        let mut results = validator.check(&targets.base, targets.paths());
        let mut late = std::pin::pin!(sleep(deadline));
        loop {
            let next = tokio::select! {
                next = results.next() => next,
                () = &mut late => None,
            };
            let Some((position, checked)) = next else { break };
            self.push(&writer, position, checked);
        }
        drop(results);
        let not_checked = self.give_up_the_rest();
        let order = self.read(Record::in_order);
        let _ = self.end.set(End { at: Instant::now(), order });
        self.tell(not_checked);
        // With the writer's end all readers look again.
    }

    fn tell(&self, not_checked: usize) {
        let Targets { site, content_type, .. } = &self.targets;
        let tally = self.tally();
        let (count, ok) = (tally.count, tally.by_class.success);
        tracing::info!(site, content_type, count, ok, not_checked, "a validation has ended");
    }

    fn push(&self, writer: &Writer, position: usize, checked: Checked) {
        let known = self.write(|record| {
            record.push(position, checked);
            record.len()
        });
        writer.grown.send_replace(known);
    }

    /// What has no result at the deadline was not checked; says how many these are.
    fn give_up_the_rest(&self) -> usize {
        let count = self.targets.count();
        self.write(|record| {
            let left = count - record.len();
            if left == 0 {
                return left;
            }
            let mut known = vec![false; self.targets.snapshot.len()];
            for nth in 0..record.len() {
                if let Some((position, _)) = record.get(nth) {
                    known[position] = true;
                }
            }
            for (position, _) in self.targets.paths() {
                if !known[position] {
                    record.push(position, Checked::Failed(Failure::NotChecked));
                }
            }
            left
        })
    }
}

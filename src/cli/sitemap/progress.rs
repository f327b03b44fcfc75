//! What is told while documents are read: a moving line for each content type on a terminal, and
//! one line at its end.

use std::time::Duration;

use indicatif::{HumanCount, MultiProgress, ProgressBar, ProgressStyle};
use tokio::time::interval;

use crate::app::Kept;

/// How often a line moves.
const TICK: Duration = Duration::from_millis(100);

/// The lines.
pub(super) struct Progress(MultiProgress);

/// The line of one content type.
pub(super) struct Line {
    bar: ProgressBar,
    uid: String,
}

impl Progress {
    pub(super) fn new() -> Self {
        Self(MultiProgress::new())
    }

    /// A new line. Where stderr is no terminal, it stays invisible until its end.
    pub(super) fn line(&self, uid: &str) -> Line {
        let style =
            ProgressStyle::with_template("{spinner} {msg}  {human_pos} documents, {per_sec}");
        let bar = self.0.add(ProgressBar::new_spinner());
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
        bar.set_message(uid.to_owned());
        Line { bar, uid: uid.to_owned() }
    }
}

impl Line {
    /// Moves the line while something is under way.
    pub(super) async fn follow<T>(
        &self,
        work: impl Future<Output = T>,
        seen: impl Fn() -> u64,
    ) -> T {
        let mut work = std::pin::pin!(work);
        let mut ticks = interval(TICK);
        loop {
            tokio::select! {
                done = &mut work => return done,
                _ = ticks.tick() => self.bar.set_position(seen()),
            }
        }
    }

    /// Ends it with what was found.
    pub(super) fn end(&self, kept: &Kept) {
        let snapshot = &kept.snapshot;
        let files = kept.files.as_ref().map_or(0, |files| files.layout.files.len());
        let urls = HumanCount(snapshot.listed_count() as u64);
        let mut text = format!("{}: {urls} URLs in {files} files", self.uid);
        let skipped = snapshot.skipped.by_reason();
        let reasons: Vec<String> = skipped.map(|(reason, n)| format!("{reason} {n}")).collect();
        if !reasons.is_empty() {
            text = format!("{text}, without a URL: {}", reasons.join(", "));
        }
        self.bar.finish_and_clear();
        self.bar.suspend(|| eprintln!("{text}"));
    }
}

//! The result of a validation run as one JSON document, written in chunks.

use std::sync::Arc;

use crate::http::responses::{END_OF_LIST, Success, ValidationResult};
use frontend_map_catalog::json;
use frontend_map_outbound::checks::report::UrlCheck;
use frontend_map_outbound::checks::runs::{Run, RunKind};
use frontend_map_outbound::checks::{CheckResult, Finding};

/// The size that ends a chunk, in bytes: a slow client keeps about as much in memory.
pub(super) const CHUNK: usize = 64 * 1024;

/// The envelope with the result of a run that has ended, as an iterator of chunks.
pub(super) struct ResultChunks {
    run: Arc<Run>,
    /// What the client wants of it.
    kind: RunKind,
    /// The index of the next entry; `None` after the last chunk.
    next: Option<usize>,
}

impl ResultChunks {
    pub(super) fn new(run: Arc<Run>, kind: RunKind) -> Self {
        Self { run, kind, next: Some(0) }
    }

    fn head(&self) -> String {
        let targets = self.run.targets();
        let result = ValidationResult {
            validated: true,
            site: &targets.site.key,
            content_type: &targets.content_type,
            tally: self.run.tally(),
            content: self.run.content().filter(|_| self.kind == RunKind::Content),
            results: Vec::<UrlCheck>::new(),
        };
        // The results follow.
        json::to_text(&Success::new(result)).trim_end_matches(END_OF_LIST).to_owned()
    }

    /// A result; with its source and its faults if the content of pages was asked for.
    fn entry(&self, position: usize, checked: CheckResult) -> String {
        let targets = self.run.targets();
        match self.kind {
            RunKind::Status => json::to_text(&UrlCheck::new(targets.url(position), checked)),
            RunKind::Content => {
                let finding = Finding::new(targets.target(position), checked);
                json::to_text(&finding.with_faults(self.run.faults(position)))
            }
        }
    }
}

impl Iterator for ResultChunks {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut index = self.next?;
        let mut chunk = if index == 0 { self.head() } else { String::new() };
        while chunk.len() < CHUNK {
            let Some((position, checked)) = self.run.in_order(index) else {
                chunk.push_str(END_OF_LIST);
                self.next = None;
                return Some(chunk);
            };
            chunk.push_str(if index == 0 { "" } else { "," });
            chunk.push_str(&self.entry(position, checked));
            index += 1;
        }
        self.next = Some(index);
        Some(chunk)
    }
}

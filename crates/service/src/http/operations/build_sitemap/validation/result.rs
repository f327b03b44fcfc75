//! The result of a validation run as one JSON document, written in chunks.

use std::sync::Arc;

use serde::Serialize;

use frontend_map_outbound::checks::report::{Entry, SiteContent, Tally};
use frontend_map_outbound::checks::runs::{Run, RunKind};
use frontend_map_outbound::checks::{CheckResult, Finding};

/// The size that ends a chunk, in bytes: a slow client keeps about as much in memory.
pub(super) const CHUNK: usize = 64 * 1024;

/// The members before `results`.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultStart<'r> {
    validated: bool,
    site: &'r str,
    content_type: &'r str,
    #[serde(flatten)]
    tally: Tally,
    #[serde(skip_serializing_if = "Option::is_none")]
    content: Option<SiteContent>,
}

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
        let head = to_json(&ResultStart {
            validated: true,
            site: &targets.site,
            content_type: &targets.content_type,
            tally: self.run.tally(),
            content: self.run.content().filter(|_| self.kind == RunKind::Content),
        });
        // The results become its last member.
        let open = head.strip_suffix('}').expect("a struct is a JSON object");
        [r#"{"data":"#, open, r#","results":["#].concat()
    }

    /// A result; with its source and its faults if the content of pages was asked for.
    fn entry(&self, position: usize, checked: CheckResult) -> String {
        let targets = self.run.targets();
        match self.kind {
            RunKind::Status => to_json(&Entry::new(targets.url(position), checked)),
            RunKind::Content => {
                let finding = Finding::new(targets.target(position), checked);
                to_json(&finding.with_faults(self.run.faults(position)))
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
                chunk.push_str(r#"]},"meta":{}}"#);
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

/// # Panics
/// If `value` cannot be serialized: the values here are structs of text and numbers.
pub(super) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("text and numbers are JSON")
}

//! The result of a run in the shape 2.7 of the specification, made piece by piece.

use std::sync::Arc;

use serde::Serialize;

use crate::validator::report::{Entry, Tally};
use crate::validator::runs::Run;

/// A piece has about as many bytes: so much of it waits for a slow reader.
pub(super) const PIECE: usize = 64 * 1024;

/// What stands before the results.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Head<'r> {
    validated: bool,
    site: &'r str,
    content_type: &'r str,
    #[serde(flatten)]
    tally: Tally,
}

/// The envelope with the result of a run that has ended, as an iterator of its pieces.
pub(super) struct Pieces {
    run: Arc<Run>,
    /// The place of the next entry; `None` when all is written.
    next: Option<usize>,
}

impl Pieces {
    pub(super) fn new(run: Arc<Run>) -> Self {
        Self { run, next: Some(0) }
    }

    fn head(&self) -> String {
        let targets = &self.run.targets;
        let head = Head {
            validated: true,
            site: &targets.site,
            content_type: &targets.content_type,
            tally: self.run.tally(),
        };
        // The results go where this object ends.
        let head = json(&head);
        let open = head.strip_suffix('}').unwrap_or_default();
        [r#"{"data":"#, open, r#","results":["#].concat()
    }
}

impl Iterator for Pieces {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut place = self.next?;
        let mut piece = if place == 0 { self.head() } else { String::new() };
        while piece.len() < PIECE {
            let Some((position, checked)) = self.run.in_order(place) else {
                piece.push_str(r#"]},"meta":{}}"#);
                self.next = None;
                return Some(piece);
            };
            let url = self.run.targets.target(position).url();
            piece.push_str(if place == 0 { "" } else { "," });
            piece.push_str(&json(&Entry::new(url, checked)));
            place += 1;
        }
        self.next = Some(place);
        Some(piece)
    }
}

/// Our own structs of text and numbers: there is nothing in them that JSON cannot hold.
fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).unwrap_or_default()
}

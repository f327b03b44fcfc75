//! All listed URLs of a snapshot in one document, made piece by piece: a million URLs cost a reader
//! no more memory than a hundred.

use std::sync::Arc;

use quick_xml::escape::escape;

use crate::frontend_url::BaseUrl;
use crate::snapshot::Snapshot;

/// A piece has about as many bytes.
const PIECE: usize = 64 * 1024;

/// How the URLs are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The envelope with the shape 2.5 of the specification.
    Json,
    /// A sitemap file (sitemaps.org, protocol 0.9), one `url` with one `loc` each.
    Xml,
}

/// The document, as an iterator of its pieces.
pub struct List {
    snapshot: Arc<Snapshot>,
    /// What stands before the first URL, between two, and after the last.
    head: String,
    between: &'static str,
    tail: &'static str,
    base: String,
    /// How many URLs have been handed on.
    next: usize,
    state: State,
}

#[derive(PartialEq, Eq)]
enum State {
    Head,
    Urls { first: bool },
    Done,
}

impl List {
    /// The URLs of a snapshot on this frontend. They are percent-encoded ASCII: nothing in a path
    /// needs escaping in either form.
    #[must_use]
    pub fn new(snapshot: Arc<Snapshot>, base: &BaseUrl, form: Form) -> Self {
        let count = snapshot.listed_count();
        let (head, between, tail, base) = match form {
            Form::Json => {
                let head = format!(r#"{{"data":{{"count":{count},"urls":["#);
                (head, ",", r#"]},"meta":{}}"#, format!("\"{base}"))
            }
            Form::Xml => {
                let head = concat!(
                    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
                    r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#
                );
                let base = format!("<url><loc>{}", escape(base.as_str()));
                (head.to_owned(), "", "</urlset>", base)
            }
        };
        Self { snapshot, head, between, tail, base, next: 0, state: State::Head }
    }

    /// The length of the whole document, in bytes.
    #[must_use]
    pub fn length(&self) -> u64 {
        let urls = self.snapshot.listed_count();
        let around = urls * (self.base.len() + self.end().len());
        let between = urls.saturating_sub(1) * self.between.len();
        let frame = self.head.len() + self.tail.len();
        (frame + around + between + self.snapshot.listed_bytes()) as u64
    }

    /// What stands after each URL.
    fn end(&self) -> &'static str {
        if self.between.is_empty() { "</loc></url>" } else { "\"" }
    }

    fn push_urls(&mut self, piece: &mut String, mut first: bool) {
        let end = self.end();
        for url in self.snapshot.listed_from(self.next) {
            if piece.len() >= PIECE {
                break;
            }
            self.next += 1;
            if !std::mem::take(&mut first) {
                piece.push_str(self.between);
            }
            for part in [&self.base, url.path(), end] {
                piece.push_str(part);
            }
        }
        self.state = State::Urls { first };
    }
}

impl Iterator for List {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut piece = String::new();
        let first = match self.state {
            State::Done => return None,
            State::Head => {
                let left = usize::try_from(self.length()).unwrap_or(PIECE);
                piece.reserve(left.min(PIECE + PIECE / 8));
                piece.push_str(&self.head);
                true
            }
            State::Urls { first } => {
                piece.reserve(PIECE + PIECE / 8);
                first
            }
        };
        self.push_urls(&mut piece, first);
        if self.next == self.snapshot.listed_count() {
            piece.push_str(self.tail);
            self.state = State::Done;
        }
        Some(piece)
    }
}

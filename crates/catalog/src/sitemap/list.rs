//! All listed URLs of a snapshot as one document, written in chunks: the memory for a response does not
//! depend on the number of URLs.

use std::sync::Arc;

use quick_xml::escape::escape;

use super::{HiddenUrls, ListedUrls};
use crate::snapshot::Snapshot;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// The approximate size of a chunk in bytes.
const CHUNK: usize = 64 * 1024;

/// The format of a list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The response of `/api/build-sitemap` in JSON (docs/http-api.md).
    Json,
    /// A sitemap (sitemaps.org, protocol 0.9): a `url` with a `loc` for each URL.
    Xml,
}

/// The document, as an iterator over its chunks.
pub struct List {
    snapshot: Arc<Snapshot>,
    hidden: Option<Arc<HiddenUrls>>,
    /// The text before the first URL, between two URLs, and after the last one.
    head: String,
    between: &'static str,
    tail: &'static str,
    /// The text before a path, for each locale of the site.
    before: Vec<String>,
    /// The index of the next URL.
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
    /// The URLs of a snapshot of a site with these base URLs, without the hidden ones. Paths are
    /// percent-encoded ASCII and need no escaping in either format.
    pub fn new(
        snapshot: Arc<Snapshot>,
        hidden: Option<Arc<HiddenUrls>>,
        hosts: &Hosts,
        form: Form,
    ) -> Self {
        let count = ListedUrls::new(&snapshot, hidden.as_deref()).count();
        let (head, between, tail, open) = match form {
            Form::Json => {
                let head = format!(r#"{{"data":{{"count":{count},"urls":["#);
                (head, ",", r#"]},"meta":{}}"#, "\"")
            }
            Form::Xml => {
                let head = concat!(
                    r#"<?xml version="1.0" encoding="UTF-8"?>"#,
                    r#"<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">"#
                );
                (head.to_owned(), "", "</urlset>", "<url><loc>")
            }
        };
        let before = (0..hosts.locales()).map(|at| {
            let base = hosts.base(at).map_or("", BaseUrl::as_str);
            match form {
                Form::Json => format!("{open}{base}"),
                Form::Xml => format!("{open}{}", escape(base)),
            }
        });
        let before = before.collect();
        Self { snapshot, hidden, head, between, tail, before, next: 0, state: State::Head }
    }

    /// The length of the whole document, in bytes.
    pub fn length(&self) -> u64 {
        let urls = self.urls().count();
        let around = self.before_bytes() + urls * self.end().len();
        let between = urls.saturating_sub(1) * self.between.len();
        let frame = self.head.len() + self.tail.len();
        (frame + around + between + self.urls().bytes()) as u64
    }

    fn urls(&self) -> ListedUrls<'_> {
        ListedUrls::new(&self.snapshot, self.hidden.as_deref())
    }

    /// The length of the texts before all paths.
    fn before_bytes(&self) -> usize {
        match self.before.as_slice() {
            [] => 0,
            [first, others @ ..] if others.iter().all(|other| other.len() == first.len()) => {
                self.urls().count() * first.len()
            }
            all => self.urls().from(0).map(|url| all[url.locale()].len()).sum(),
        }
    }

    /// The text after each URL.
    fn end(&self) -> &'static str {
        if self.between.is_empty() { "</loc></url>" } else { "\"" }
    }

    fn push_urls(&mut self, chunk: &mut String, mut first: bool) {
        let end = self.end();
        let mut next = self.next;
        for url in self.urls().from(self.next) {
            if chunk.len() >= CHUNK {
                break;
            }
            next += 1;
            if !std::mem::take(&mut first) {
                chunk.push_str(self.between);
            }
            for part in [&self.before[url.locale()], url.path(), end] {
                chunk.push_str(part);
            }
        }
        (self.next, self.state) = (next, State::Urls { first });
    }
}

impl Iterator for List {
    type Item = String;

    fn next(&mut self) -> Option<String> {
        let mut chunk = String::new();
        let first = match self.state {
            State::Done => return None,
            State::Head => {
                let left = usize::try_from(self.length()).unwrap_or(CHUNK);
                chunk.reserve(left.min(CHUNK + CHUNK / 8));
                chunk.push_str(&self.head);
                true
            }
            State::Urls { first } => {
                chunk.reserve(CHUNK + CHUNK / 8);
                first
            }
        };
        self.push_urls(&mut chunk, first);
        if self.next == self.urls().count() {
            chunk.push_str(self.tail);
            self.state = State::Done;
        }
        Some(chunk)
    }
}

//! A site whose URLs are checked, and clients that request the checks.

use std::io::{Read, Write as _};
use std::net::TcpStream;

use serde_json::Value;

use super::http::Response;
use super::service::{Service, Setup};
use super::settings::{self, Settings};

pub(crate) const EVENTS: (&str, &str) = ("Accept", "text/event-stream");
pub(crate) const LINES: (&str, &str) = ("Accept", "application/x-ndjson");

/// A site at this base URL with content types `api::t0.t0`, …, each with documents of these slugs.
pub(crate) fn site(base: &str, types: usize, slugs: &[String]) -> Setup {
    let of = |t: usize| format!("api::t{t}.t{t}");
    let site = settings::site("main").front_end_url(base).locales(&["en", "de"]);
    let mut content = serde_json::Map::new();
    for t in 0..types {
        let document = |(n, slug): (usize, &String)| serde_json::json!({"documentId": format!("d{n}"), "locale": "en", "slug": slug});
        content.insert(of(t), slugs.iter().enumerate().map(document).collect());
    }
    let with = |site: Settings, t| site.rule(&of(t), &format!("/{{slug}}-t{t}"));
    (0..types).fold(site, with).files(&Value::from(content).to_string()).setup()
}

/// `count` slugs that begin with `name`.
pub(crate) fn slugs(name: &str, count: usize) -> Vec<String> {
    (0..count).map(|n| format!("{name}-{n:03}")).collect()
}

pub(crate) fn target(t: usize) -> String {
    format!("/api/build-sitemap?site=main&contentType=api::t{t}.t{t}&validate=true")
}

/// A client that sends a request followed by further bytes, and reads only on demand.
pub(crate) struct Caller(pub(crate) TcpStream);

impl Caller {
    pub(crate) fn new(
        service: &Service,
        t: usize,
        header: Option<(&str, &str)>,
        behind: &str,
    ) -> Self {
        let header = header.map_or(String::new(), |(name, value)| format!("{name}: {value}\r\n"));
        let request = format!("GET {} HTTP/1.1\r\nHost: x\r\n{header}\r\n{behind}", target(t));
        let mut stream = TcpStream::connect(service.addr()).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        Self(stream)
    }

    /// Reads until this text or the end of the connection, and returns what was read.
    pub(crate) fn until(&mut self, text: &str) -> String {
        let (mut bytes, mut buffer) = (Vec::new(), [0; 4096]);
        loop {
            let read = String::from_utf8_lossy(&bytes).into_owned();
            if read.contains(text) {
                return read;
            }
            match self.0.read(&mut buffer) {
                Ok(more @ 1..) => bytes.extend_from_slice(&buffer[..more]),
                _ => return read,
            }
        }
    }
}

/// The events of a stream as `(name, data)`.
pub(crate) fn events(response: &Response) -> Vec<(String, String)> {
    let event = |text: &str| {
        let line = |name: &str| {
            let mut lines = text.lines().filter_map(|line| line.strip_prefix(name));
            lines.next().unwrap_or_else(|| panic!("no {name:?} in {text:?}")).to_owned()
        };
        (line("event: "), line("data: "))
    };
    let text = response.text().strip_suffix("\n\n").expect("the last event ends");
    text.split("\n\n").map(event).collect()
}

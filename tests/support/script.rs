//! What a scripted CMS does with one request, read from a row of `hostile-cms.jsonl`.

use std::fmt::Write as _;
use std::time::Duration;

use serde_json::Value;

use super::gzip::gzip_bomb;

/// One thing that the peer does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    Send(Vec<u8>),
    /// Byte by byte, each after a pause.
    Drip(Vec<u8>, Duration),
    Pause(Duration),
    /// Nothing, until the client gives up.
    Silence,
    /// RST.
    Reset,
    /// FIN.
    Close,
    /// A TLS handshake with a self-signed certificate. Only sensible instead of reading a request.
    Tls,
}

/// What the peer does with one request.
#[derive(Clone, Debug)]
pub(crate) struct Script {
    pub(crate) acts: Vec<Act>,
}

/// The keys of a reply that [`Script::from_row`] knows; any other is a test that would not test.
const KNOWN: [&str; 16] = [
    "after_bytes",
    "body",
    "body_hex",
    "chunked",
    "close_delimited",
    "declared_length",
    "delay_ms",
    "drip_header_ms_per_byte",
    "headers",
    "informational",
    "raw",
    "reset_after_body_bytes",
    "status",
    "tcp",
    "x-many",
    "body_gen",
];

impl Script {
    /// Sends these bytes and keeps the connection.
    pub(crate) fn raw(bytes: impl Into<Vec<u8>>) -> Self {
        Self { acts: vec![Act::Send(bytes.into())] }
    }

    /// A JSON answer.
    pub(crate) fn json(status: u16, body: &str) -> Self {
        Self::raw(format!(
            "HTTP/1.1 {status} X\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            body.len()
        ))
    }

    /// A 200 whose body is compressed already.
    pub(crate) fn gzip(body: &[u8]) -> Self {
        let head = format!(
            "HTTP/1.1 200 X\r\ncontent-type: application/json\r\ncontent-encoding: gzip\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        Self::raw([head.as_bytes(), body].concat())
    }

    /// Plays this, and then closes the connection.
    pub(crate) fn and_close(mut self) -> Self {
        self.acts.push(Act::Close);
        self
    }

    /// All that it sends.
    pub(crate) fn bytes(&self) -> Vec<u8> {
        let sent = self.acts.iter().filter_map(|act| match act {
            Act::Send(bytes) => Some(bytes.clone()),
            _ => None,
        });
        sent.flatten().collect()
    }

    /// Accepts, reads and says nothing.
    pub(crate) fn silence() -> Self {
        Self { acts: vec![Act::Silence] }
    }

    /// RST before the first byte of an answer.
    pub(crate) fn reset() -> Self {
        Self { acts: vec![Act::Reset] }
    }

    /// The reply of a row. Panics at a kind that it cannot play, so that none is skipped unseen.
    pub(crate) fn from_row(reply: &Value) -> Self {
        let keys = reply.as_object().expect("a reply is an object").keys();
        let unknown: Vec<_> = keys.filter(|key| !KNOWN.contains(&key.as_str())).collect();
        assert!(unknown.is_empty(), "cannot play {unknown:?}");
        let number = |key: &str| reply[key].as_u64();
        match (reply["tcp"].as_str(), reply["raw"].as_str()) {
            (Some("accept-silent"), _) => Self::silence(),
            (Some("tls-self-signed"), _) => Self { acts: vec![Act::Tls] },
            (Some("reset"), _) => {
                let head = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
                let sent = usize::try_from(number("after_bytes").unwrap_or(0)).expect("small");
                Self { acts: vec![Act::Send(head[..sent].to_vec()), Act::Reset] }
            }
            (Some(other), _) => panic!("cannot play tcp {other:?}"),
            (None, Some(raw)) => Self::raw(expand(raw)),
            (None, None) => Self::http(reply),
        }
    }

    fn http(reply: &Value) -> Self {
        let millis = |key: &str| reply[key].as_u64().map(Duration::from_millis);
        let body = body(reply);
        let head = head(reply, body.len()).into_bytes();
        let mut acts: Vec<Act> = millis("delay_ms").map(Act::Pause).into_iter().collect();
        let interim = usize::try_from(reply["informational"].as_u64().unwrap_or(0)).expect("small");
        acts.push(Act::Send(b"HTTP/1.1 103 Early Hints\r\n\r\n".repeat(interim)));
        acts.push(match millis("drip_header_ms_per_byte") {
            Some(pause) => Act::Drip(head, pause),
            None => Act::Send(head),
        });
        let cut = reply["reset_after_body_bytes"].as_u64();
        match cut.map(|cut| usize::try_from(cut).expect("small")) {
            Some(cut) => acts.extend([Act::Send(body[..cut].to_vec()), Act::Reset]),
            None => acts.extend(sent(reply, body)),
        }
        Self { acts }
    }
}

/// The body as its framing sends it, and the close that ends it where nothing else does.
fn sent(reply: &Value, body: Vec<u8>) -> Vec<Act> {
    let short = reply["declared_length"].as_u64().is_some_and(|length| length > body.len() as u64);
    let closes = short || reply["close_delimited"] == true;
    let mut acts = match reply["chunked"].as_str() {
        None if reply["chunked"] == true => vec![chunk(&body), Act::Send(b"0\r\n\r\n".to_vec())],
        None => vec![Act::Send(body)],
        Some("no-terminator") => vec![chunk(&body), Act::Close],
        Some(other) => panic!("cannot play chunked {other:?}"),
    };
    acts.extend(closes.then_some(Act::Close));
    acts
}

fn chunk(body: &[u8]) -> Act {
    Act::Send([format!("{:x}\r\n", body.len()).as_bytes(), body, b"\r\n"].concat())
}

fn head(reply: &Value, length: usize) -> String {
    let status = reply["status"].as_u64().expect("a status");
    let mut head = format!("HTTP/1.1 {status} X\r\n");
    for (name, value) in reply["headers"].as_object().into_iter().flatten() {
        let value = String::from_utf8(expand(value.as_str().expect("text"))).expect("text");
        write!(head, "{name}: {value}\r\n").expect("text grows");
    }
    for n in 0..reply["x-many"].as_u64().unwrap_or(0) {
        write!(head, "x-{n}: x\r\n").expect("text grows");
    }
    if !reply["chunked"].is_null() {
        head.push_str("transfer-encoding: chunked\r\n");
    } else if reply["close_delimited"] != true && status != 304 {
        let length = reply["declared_length"].as_u64().unwrap_or(length as u64);
        write!(head, "content-length: {length}\r\n").expect("text grows");
    }
    head + "\r\n"
}

fn body(reply: &Value) -> Vec<u8> {
    if let Some(hex) = reply["body_hex"].as_str() {
        let byte = |at| u8::from_str_radix(&hex[at..at + 2], 16).expect("hex");
        return (0..hex.len()).step_by(2).map(byte).collect();
    }
    if reply["body_gen"] == "gzip-bomb" {
        return gzip_bomb(32 << 20);
    }
    assert!(reply["body_gen"].is_null(), "cannot play {}", reply["body_gen"]);
    reply["body"].as_str().map(expand).unwrap_or_default()
}

/// `{{repeat:S:N}}` stands for S, N times.
pub(crate) fn expand(text: &str) -> Vec<u8> {
    let Some((before, rest)) = text.split_once("{{repeat:") else { return text.into() };
    let (repeat, after) = rest.split_once("}}").expect("an end");
    let (text, times) = repeat.rsplit_once(':').expect("a count");
    let repeated = text.repeat(times.parse().expect("a number"));
    [before.as_bytes(), repeated.as_bytes(), &expand(after)].concat()
}

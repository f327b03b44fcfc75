//! A client that sends exactly the bytes it is given and returns exactly what came back.

use std::fmt::Write as _;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::{Duration, Instant};

use super::canary::assert_silent;

/// How long an answer may take before the test gives up.
const PATIENCE: Duration = Duration::from_mins(1);

/// One final answer; names of headers are in lower case, values latin-1.
#[derive(Debug, Clone)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

/// Why reading stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum End {
    /// As many answers as wanted are complete.
    Complete,
    /// The peer closed the connection, by FIN or RST.
    Closed,
    /// The time is over.
    TimedOut,
}

impl Response {
    /// The values of one header (its name in lower case), joined as RFC 9110 allows.
    pub(crate) fn header(&self, name: &str) -> Option<String> {
        let values: Vec<&str> = self
            .headers
            .iter()
            .filter(|(key, _)| key == name)
            .map(|(_, value)| value.as_str())
            .collect();
        (!values.is_empty()).then(|| values.join(", "))
    }

    /// The body as text.
    pub(crate) fn text(&self) -> &str {
        std::str::from_utf8(&self.body).expect("a body in UTF-8")
    }

    /// The body as JSON.
    pub(crate) fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {:?}", self.text()))
    }
}

/// `GET target` on a connection of its own.
pub(crate) fn get(addr: SocketAddr, target: &str) -> Response {
    send(addr, "GET", target, &[])
}

/// One request on a connection of its own, with these headers beside `Connection: close` and, unless it is among
/// them, `Host`.
pub(crate) fn send(
    addr: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
) -> Response {
    send_with(addr, method, target, headers, "")
}

/// One request with a body, whose length is among the headers.
pub(crate) fn send_with(
    addr: SocketAddr,
    method: &str,
    target: &str,
    headers: &[(&str, &str)],
    body: &str,
) -> Response {
    let has_host = headers.iter().any(|(name, _)| *name == "Host");
    let host = if has_host { "" } else { "Host: localhost\r\n" };
    let mut request = format!("{method} {target} HTTP/1.1\r\n{host}Connection: close\r\n");
    for (name, value) in headers {
        write!(request, "{name}: {value}\r\n").expect("text grows");
    }
    request.push_str("\r\n");
    request.push_str(body);
    let head_only = method == "HEAD";
    let (bytes, end) = exchange(addr, request.as_bytes(), Instant::now() + PATIENCE, |_| false);
    let (response, rest) = split(&bytes, head_only, end == End::Closed).unwrap_or_else(|| {
        panic!("no answer to {method} {target} ({end:?}): {:?}", String::from_utf8_lossy(&bytes))
    });
    assert!(
        rest.is_empty(),
        "bytes after the answer to {method} {target}: {:?}",
        String::from_utf8_lossy(rest)
    );
    response
}

/// Percent-encodes everything but RFC 3986's unreserved characters and `/`, for a query value.
pub(crate) fn query(value: &str) -> String {
    let mut encoded = String::new();
    for byte in value.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~/".contains(&byte) {
            encoded.push(char::from(byte));
        } else {
            write!(encoded, "%{byte:02X}").expect("text grows");
        }
    }
    encoded
}

/// Sends the bytes and reads until `enough` says so, the peer closes or the deadline passes.
pub(crate) fn exchange(
    addr: SocketAddr,
    request: &[u8],
    deadline: Instant,
    enough: impl Fn(&[u8]) -> bool,
) -> (Vec<u8>, End) {
    let (bytes, end) = said(addr, request, deadline, enough);
    assert_silent(&bytes, "an answer");
    (bytes, end)
}

fn said(
    addr: SocketAddr,
    request: &[u8],
    deadline: Instant,
    enough: impl Fn(&[u8]) -> bool,
) -> (Vec<u8>, End) {
    let mut stream = TcpStream::connect(addr).expect("the service accepts");
    let _ = stream.set_nodelay(true);
    // A peer that refuses early may close while we still send: what it said is what counts.
    let _ = stream.set_write_timeout(Some(Duration::from_secs(10)));
    let _ = stream.write_all(request);
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 65536];
    loop {
        if enough(&bytes) {
            return (bytes, End::Complete);
        }
        let left = deadline.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return (bytes, End::TimedOut);
        }
        let _ = stream.set_read_timeout(Some(left));
        match stream.read(&mut buffer) {
            Ok(0) => return (bytes, End::Closed),
            Ok(read) => bytes.extend_from_slice(&buffer[..read]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                return (bytes, End::TimedOut);
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return (bytes, End::Closed),
        }
    }
}

/// Splits the first final answer off `bytes`, skipping interim ones (1xx). `None`: it isn't complete.
/// `closed` ends a body that has no length of its own.
pub(crate) fn split(bytes: &[u8], head_only: bool, closed: bool) -> Option<(Response, &[u8])> {
    let end = find(bytes, b"\r\n\r\n")?;
    let (status, headers) = head(&bytes[..end])?;
    let rest = &bytes[end + 4..];
    if (100..200).contains(&status) && status != 101 {
        return split(rest, head_only, closed);
    }
    let response = Response { status, headers, body: Vec::new() };
    if head_only || status == 204 || status == 304 {
        return Some((response, rest));
    }
    let (body, rest) = if response.header("transfer-encoding").is_some() {
        dechunk(rest)?
    } else if let Some(length) = response.header("content-length") {
        let length = length.parse().ok()?;
        (rest.get(..length)?.to_vec(), &rest[length..])
    } else if closed {
        (rest.to_vec(), &rest[rest.len()..])
    } else {
        return None;
    };
    Some((Response { body, ..response }, rest))
}

fn head(bytes: &[u8]) -> Option<(u16, Vec<(String, String)>)> {
    let text: String = bytes.iter().map(|byte| char::from(*byte)).collect();
    let mut lines = text.split("\r\n");
    let status = lines.next()?.strip_prefix("HTTP/1.")?.split(' ').nth(1)?.parse().ok()?;
    let headers = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.trim().to_owned()))
        .collect();
    Some((status, headers))
}

fn dechunk(mut bytes: &[u8]) -> Option<(Vec<u8>, &[u8])> {
    let mut body = Vec::new();
    loop {
        let end = find(bytes, b"\r\n")?;
        let size = std::str::from_utf8(&bytes[..end]).ok()?.split(';').next()?;
        let size = usize::from_str_radix(size.trim(), 16).ok()?;
        bytes = &bytes[end + 2..];
        if size == 0 {
            // Nothing here sends trailers.
            return bytes.strip_prefix(b"\r\n").map(|rest| (body, rest));
        }
        body.extend_from_slice(bytes.get(..size)?);
        bytes = bytes.get(size..)?.strip_prefix(b"\r\n")?;
    }
}

fn find(bytes: &[u8], needle: &[u8]) -> Option<usize> {
    bytes.windows(needle.len()).position(|window| window == needle)
}

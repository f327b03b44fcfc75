//! Sees whether a request head has both `Content-Length` and `Transfer-Encoding`.
//!
//! Such a request is 400 (D6; RFC 9112, section 6.1), but hyper takes the former out of the head
//! before anybody can see it. So the bytes are looked at on their way in: one pass over each
//! line's beginning. Bytes of a body may look like a head; the verdict is asked for only when a
//! request has `Transfer-Encoding`, which no honest GET has.

use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;

/// The longest name that matters.
const LONGEST: usize = "transfer-encoding:".len();

/// Whether a head with both fields was read on a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Framing(Arc<AtomicBool>);

impl Framing {
    pub(super) fn was_doubled(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// A connection whose request heads are looked at.
#[derive(Debug)]
pub(super) struct Watched {
    stream: TcpStream,
    scan: Scan,
    framing: Framing,
}

impl Watched {
    pub(super) fn new(stream: TcpStream) -> (Self, Framing) {
        let framing = Framing::default();
        (Self { stream, scan: Scan::default(), framing: framing.clone() }, framing)
    }
}

/// Where the scan stands: the beginning of the current line, and what its block has had so far.
#[derive(Debug, Default)]
struct Scan {
    line: [u8; LONGEST],
    length: usize,
    content_length: bool,
    transfer_encoding: bool,
}

impl Scan {
    /// Takes in more bytes; true when a block with both fields has ended.
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let mut begin = 0;
        let mut doubled = false;
        for end in memchr::memchr_iter(b'\n', bytes) {
            self.extend(&bytes[begin..end]);
            doubled |= self.end_line();
            begin = end + 1;
        }
        self.extend(&bytes[begin..]);
        doubled
    }

    fn extend(&mut self, part: &[u8]) {
        let room = &mut self.line[self.length..];
        let taken = part.len().min(room.len());
        room[..taken].copy_from_slice(&part[..taken]);
        self.length += taken;
    }

    fn end_line(&mut self) -> bool {
        let line = &self.line[..self.length];
        let is = |name: &str| {
            line.get(..name.len()).is_some_and(|head| head.eq_ignore_ascii_case(name.as_bytes()))
        };
        match line.first() {
            Some(b'c' | b'C') => self.content_length |= is("content-length:"),
            Some(b't' | b'T') => self.transfer_encoding |= is("transfer-encoding:"),
            _ => {}
        }
        let blank = line.is_empty() || line == b"\r";
        self.length = 0;
        let doubled = blank && self.content_length && self.transfer_encoding;
        if blank {
            *self = Self::default();
        }
        doubled
    }
}

impl AsyncRead for Watched {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        let read = &buffer.filled()[before..];
        if self.scan.feed(read) {
            self.framing.0.store(true, Ordering::Relaxed);
        }
        polled
    }
}

impl AsyncWrite for Watched {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, bytes)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write_vectored(cx, buffers)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_both_in_one_head_count() {
        let one = "GET / HTTP/1.1\r\nContent-Length: 1\r\n\r\n";
        let other = "GET / HTTP/1.1\r\nX: Content-Length: 1\r\ntransfer-encoding: chunked\r\n\r\n";
        let both = "GET / HTTP/1.1\nTRANSFER-ENCODING: chunked\nA: b\ncontent-length:1\n\n";
        for (text, expected) in [
            ("", false),
            (one, false),
            (other, false),
            (&[one, other].concat(), false),
            (both, true),
            (&[one, both, one].concat(), true),
        ] {
            assert_eq!(Scan::default().feed(text.as_bytes()), expected, "{text}");
            let mut scan = Scan::default();
            let in_pieces = text.bytes().filter(|b| scan.feed(&[*b])).count() > 0;
            assert_eq!(in_pieces, expected, "{text} byte by byte");
        }
    }
}

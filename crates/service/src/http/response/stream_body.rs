//! Bodies that are produced in chunks, as fast as the client reads them.

mod produced;
mod producers;
mod sliced;

use std::pin::pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes};
use tokio::task::yield_now;

use super::gzip::Gzip;
use produced::ProducedBody;
use producers::PRODUCERS;
use sliced::SlicedBody;

/// The input of one compression step, in bytes: a tenth of a millisecond of work.
const GZIP_STEP: usize = 32 << 10;
/// The compressed bytes that make a frame worth sending.
const GZIP_FRAME: usize = 16 << 10;

/// The chunks as they are, `length` bytes in all.
pub(in crate::http) fn stream(
    chunks: impl Iterator<Item = String> + Send + Unpin + 'static,
    length: u64,
) -> Body {
    Body::new(ProducedBody::new(chunks.map(Bytes::from), Some(length), &PRODUCERS))
}

/// Chunks whose length in all is not known; a body of a single chunk has a length all the same.
///
/// # Panics
/// If there is no chunk: a client would mistake an empty body for a complete one.
pub(in crate::http) fn stream_of_unknown_length(
    mut chunks: impl Iterator<Item = String> + Send + Unpin + 'static,
) -> Body {
    let first = chunks.next().expect("a body has at least one chunk");
    let Some(second) = chunks.next() else { return Body::from(first) };
    let chunks = [first, second].into_iter().chain(chunks).map(Bytes::from);
    Body::new(ProducedBody::new(chunks, None, &PRODUCERS))
}

/// A shared text, without a copy of it.
pub(in crate::http) fn stream_shared_text(text: Bytes) -> Body {
    Body::new(SlicedBody::new(text))
}

/// The chunks compressed by gzip.
pub(in crate::http) fn stream_gzip(
    chunks: impl Iterator<Item = String> + Send + Unpin + 'static,
) -> Body {
    let mut out = Vec::with_capacity(2 * GZIP_FRAME);
    let gzip = Some(Gzip::begin(&mut out));
    let chunks = GzipChunks { chunks, chunk: Bytes::new(), gzip, out };
    Body::new(ProducedBody::new(chunks, None, &PRODUCERS))
}

struct GzipChunks<I> {
    chunks: I,
    /// The rest of the current chunk.
    chunk: Bytes,
    /// `None` after the end.
    gzip: Option<Gzip>,
    out: Vec<u8>,
}

impl<I: Iterator<Item = String>> Iterator for GzipChunks<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let gzip = self.gzip.as_mut()?;
        if self.chunk.is_empty() {
            let Some(chunk) = self.chunks.next() else {
                gzip.end(&mut self.out);
                self.gzip = None;
                return Some(std::mem::take(&mut self.out).into());
            };
            self.chunk = chunk.into();
        }
        let step = self.chunk.split_to(self.chunk.len().min(GZIP_STEP));
        gzip.add(&step, &mut self.out);
        if self.out.len() < GZIP_FRAME {
            return Some(Bytes::new());
        }
        Some(std::mem::replace(&mut self.out, Vec::with_capacity(2 * GZIP_FRAME)).into())
    }
}

/// Polls the task again after the other tasks of its thread and after new requests. A task that wakes
/// itself goes to the end of the queue alone, and the runtime looks for events of sockets only when
/// the queue is empty or after 61 tasks: new requests would wait for some milliseconds of long bodies.
fn yield_once<T>(cx: &mut Context<'_>) -> Poll<T> {
    let yielded = pin!(yield_now()).poll(cx);
    debug_assert!(yielded.is_pending(), "it yields at its first poll");
    Poll::Pending
}

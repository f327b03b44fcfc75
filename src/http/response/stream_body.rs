//! Bodies that are produced in chunks, as fast as the client reads them.

use std::convert::Infallible;
use std::num::NonZero;
use std::pin::{Pin, pin};
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;
use tokio_util::sync::PollSemaphore;

use super::gzip::Gzip;

/// The input of one compression step, in bytes: a tenth of a millisecond of work.
const GZIP_STEP: usize = 32 << 10;
/// The compressed bytes that make a frame worth sending.
const GZIP_FRAME: usize = 16 << 10;

/// The size of the first slice of a shared text, and of the largest, in bytes.
const FIRST_SLICE: usize = 64 << 10;
const LARGEST_SLICE: usize = 256 << 10;

/// A body of the chunks of an iterator. An empty chunk stands for work without output yet.
///
/// It yields cooperatively: a connection polls its body for as long as the client reads, and would
/// starve all other connections of its thread meanwhile, so the body returns `Pending` once after
/// each chunk. Of a thousand such bodies, only a few produce a chunk at the same time; the others wait
/// for a semaphore, outside the runtime's queue.
struct StreamBody<I> {
    chunks: I,
    /// The bytes that are still to come, where the length is known.
    remaining: Option<u64>,
    /// Whether the last poll produced a chunk, so that this one has to yield.
    must_yield: bool,
    producers: PollSemaphore,
}

/// The number of bodies that may produce a chunk at the same time: half of the cores, so that the
/// other half is free for short requests.
static PRODUCERS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new((cores / 2).max(1)))
});

impl<I> StreamBody<I> {
    fn new(chunks: I, length: Option<u64>) -> Self {
        Self::with_producers(chunks, length, Arc::clone(&PRODUCERS))
    }

    fn with_producers(chunks: I, length: Option<u64>, producers: Arc<Semaphore>) -> Self {
        let producers = PollSemaphore::new(producers);
        Self { chunks, remaining: length, must_yield: false, producers }
    }
}

impl<I: Iterator<Item = Bytes> + Send + Unpin + 'static> StreamBody<I> {
    fn boxed(self) -> Body {
        Body::new(self.map_err(|never| match never {}))
    }
}

impl<I: Iterator<Item = Bytes> + Unpin> HttpBody for StreamBody<I> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if std::mem::take(&mut self.must_yield) {
            return yield_now(cx);
        }
        // Released before the chunk is sent: a client that does not read blocks no other body.
        let permit = ready!(self.producers.poll_acquire(cx));
        let chunk = self.chunks.next();
        drop(permit);
        if chunk.as_ref().is_some_and(Bytes::is_empty) {
            return yield_now(cx);
        }
        self.must_yield = true;
        if let (Some(chunk), Some(remaining)) = (&chunk, &mut self.remaining) {
            *remaining = remaining.saturating_sub(chunk.len() as u64);
        }
        Poll::Ready(chunk.map(|chunk| Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// Polls the task again after the other tasks of its thread and after new requests. A task that wakes
/// itself goes to the end of the queue alone, and the runtime looks for events of sockets only when
/// the queue is empty or after 61 tasks: new requests would wait for some milliseconds of chunks.
fn yield_now<T>(cx: &mut Context<'_>) -> Poll<T> {
    let yielded = pin!(tokio::task::yield_now()).poll(cx);
    debug_assert!(yielded.is_pending(), "it yields at its first poll");
    Poll::Pending
}

/// The chunks as they are, `length` bytes in all.
pub(in crate::http) fn stream(
    chunks: impl Iterator<Item = String> + Send + Unpin + 'static,
    length: u64,
) -> Body {
    StreamBody::new(chunks.map(Bytes::from), Some(length)).boxed()
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
    StreamBody::new(chunks, None).boxed()
}

/// A shared text in slices that grow. A connection copies the slice that it sends, so the first ones
/// are small, for clients that never read; the later ones are large, so that clients that do read
/// cause few polls.
pub(in crate::http) fn stream_shared_text(text: Bytes) -> Body {
    let length = Some(text.len() as u64);
    let (mut rest, mut size) = (text, FIRST_SLICE);
    let slices = std::iter::from_fn(move || {
        let slice = rest.split_to(rest.len().min(size));
        size = LARGEST_SLICE.min(size * 2);
        (!slice.is_empty()).then_some(slice)
    });
    StreamBody::new(slices, length).boxed()
}

/// The chunks compressed by gzip.
pub(in crate::http) fn stream_gzip(
    chunks: impl Iterator<Item = String> + Send + Unpin + 'static,
) -> Body {
    let mut out = Vec::with_capacity(2 * GZIP_FRAME);
    let gzip = Some(Gzip::begin(&mut out));
    StreamBody::new(GzipChunks { chunks, chunk: Bytes::new(), gzip, out }, None).boxed()
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

#[cfg(test)]
mod tests;

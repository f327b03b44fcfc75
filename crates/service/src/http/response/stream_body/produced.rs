//! A body whose chunks cost work.

use std::pin::Pin;
use std::task::{Context, Poll};
use std::vec;

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Runtime;
use tokio::task::{JoinError, JoinHandle, yield_now};

use super::yield_once;

/// The most chunks of one batch.
const LARGEST_BATCH: usize = 3;

/// A body of the chunks of an iterator. Tasks of other threads produce them, so that the threads of
/// the connections are free for short requests: a batch of chunks, while the one before is sent.
///
/// To wake another thread takes as long as to produce a chunk, so batches grow while the client
/// reads faster than they are produced. Otherwise a batch is one chunk. A client that does not read
/// holds two batches in memory, and occupies no thread.
///
/// An iterator that panics ends the body with an error, so that the client sees that it is not
/// complete.
pub(super) struct ProducedBody<I> {
    /// The rest of the last batch.
    ready: vec::IntoIter<Bytes>,
    /// The task that produces the next batch; `None` after the end.
    next: Option<JoinHandle<Batch<I>>>,
    /// The chunks of the next batch, once it is produced.
    size: usize,
    /// Whether the client waits for the next batch.
    is_awaited: bool,
    /// Whether the last poll returned a chunk, so that this one has to yield.
    must_yield: bool,
    /// The bytes that are still to come, where the length is known.
    remaining: Option<u64>,
    producers: &'static Runtime,
}

/// Chunks, and the iterator unless it has ended.
type Batch<I> = (Vec<Bytes>, Option<I>);

impl<I: Iterator<Item = Bytes> + Send + 'static> ProducedBody<I> {
    /// Starts with the first chunk. An empty chunk of `chunks` stands for work without output yet.
    pub(super) fn new(chunks: I, length: Option<u64>, producers: &'static Runtime) -> Self {
        Self {
            ready: Vec::new().into_iter(),
            next: Some(producers.spawn(produce(chunks, 1))),
            size: 1,
            is_awaited: false,
            must_yield: false,
            remaining: length,
            producers,
        }
    }

    /// The next chunk; `None` after the end.
    fn poll_chunk(&mut self, cx: &mut Context<'_>) -> Poll<Option<Result<Bytes, JoinError>>> {
        loop {
            if let Some(chunk) = self.ready.next() {
                return Poll::Ready(Some(Ok(chunk)));
            }
            let Some(task) = &mut self.next else { return Poll::Ready(None) };
            let Poll::Ready(produced) = Pin::new(task).poll(cx) else {
                self.is_awaited = true;
                return Poll::Pending;
            };
            self.next = None;
            match produced {
                Ok((chunks, rest)) => self.take_batch(chunks, rest),
                Err(panic) => return Poll::Ready(Some(Err(panic))),
            }
        }
    }

    fn take_batch(&mut self, chunks: Vec<Bytes>, rest: Option<I>) {
        let is_awaited = std::mem::take(&mut self.is_awaited);
        self.size = if is_awaited { LARGEST_BATCH.min(self.size + 1) } else { 1 };
        self.ready = chunks.into_iter();
        self.next = rest.map(|rest| self.producers.spawn(produce(rest, self.size)));
    }
}

impl<I: Iterator<Item = Bytes> + Send + Unpin + 'static> HttpBody for ProducedBody<I> {
    type Data = Bytes;
    type Error = JoinError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, JoinError>>> {
        if std::mem::take(&mut self.must_yield) {
            return yield_once(cx);
        }
        self.poll_chunk(cx).map_ok(|chunk| {
            self.must_yield = true;
            if let Some(remaining) = &mut self.remaining {
                *remaining = remaining.saturating_sub(chunk.len() as u64);
            }
            Frame::data(chunk)
        })
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The next `size` chunks that have output, or the last ones. Other bodies have their turn after
/// each.
async fn produce<I: Iterator<Item = Bytes>>(mut chunks: I, size: usize) -> Batch<I> {
    let mut batch = Vec::with_capacity(size);
    while batch.len() < size {
        let Some(chunk) = chunks.next() else { return (batch, None) };
        if !chunk.is_empty() {
            batch.push(chunk);
        }
        yield_now().await;
    }
    (batch, Some(chunks))
}

#[cfg(test)]
mod tests;

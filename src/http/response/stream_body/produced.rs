//! A body whose chunks cost work.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};
use tokio::runtime::Runtime;
use tokio::task::{JoinError, JoinHandle, yield_now};

/// A body of the chunks of an iterator. Each chunk is produced by a task of other threads, so that
/// the threads of the connections are free for short requests, while the one before is sent: a
/// client that does not read holds one chunk in memory and occupies no thread.
///
/// An iterator that panics ends the body with an error, so that the client sees that it is not
/// complete.
pub(super) struct ProducedBody<I> {
    /// The task that produces the next chunk; `None` after the end.
    next: Option<JoinHandle<Produced<I>>>,
    /// The bytes that are still to come, where the length is known.
    remaining: Option<u64>,
    producers: &'static Runtime,
}

/// The iterator, and what it produced; `None` at its end.
type Produced<I> = (I, Option<Bytes>);

impl<I: Iterator<Item = Bytes> + Send + 'static> ProducedBody<I> {
    /// Starts with the first chunk. An empty chunk of `chunks` stands for work without output yet.
    pub(super) fn new(chunks: I, length: Option<u64>, producers: &'static Runtime) -> Self {
        let next = Some(producers.spawn(produce(chunks)));
        Self { next, remaining: length, producers }
    }
}

impl<I: Iterator<Item = Bytes> + Send + 'static> HttpBody for ProducedBody<I> {
    type Data = Bytes;
    type Error = JoinError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, JoinError>>> {
        let Some(task) = &mut self.next else { return Poll::Ready(None) };
        let produced = ready!(Pin::new(task).poll(cx));
        self.next = None;
        let (chunks, chunk) = match produced {
            Ok(produced) => produced,
            Err(panic) => return Poll::Ready(Some(Err(panic))),
        };
        let Some(chunk) = chunk else { return Poll::Ready(None) };
        self.next = Some(self.producers.spawn(produce(chunks)));
        if let Some(remaining) = &mut self.remaining {
            *remaining = remaining.saturating_sub(chunk.len() as u64);
        }
        Poll::Ready(Some(Ok(Frame::data(chunk))))
    }

    fn is_end_stream(&self) -> bool {
        self.remaining == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.remaining.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The next chunk that has output. Other bodies have their turn after each step of work.
async fn produce<I: Iterator<Item = Bytes>>(mut chunks: I) -> Produced<I> {
    loop {
        let chunk = chunks.next();
        if !chunk.as_ref().is_some_and(Bytes::is_empty) {
            return (chunks, chunk);
        }
        yield_now().await;
    }
}

#[cfg(test)]
mod tests;

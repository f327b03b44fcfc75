//! Bodies that are made piece by piece, as fast as the client reads them.

use std::convert::Infallible;
use std::num::NonZero;
use std::pin::Pin;
use std::sync::{Arc, LazyLock};
use std::task::{Context, Poll, ready};
use std::thread::available_parallelism;

use axum::body::{Body, Bytes, HttpBody};
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};
use tokio::sync::Semaphore;
use tokio_util::sync::PollSemaphore;

use super::gzip::Gzip;

/// So many bytes are compressed at a time: a tenth of a millisecond.
const GZIP_STEP: usize = 32 << 10;
/// So many compressed bytes are worth sending.
const GZIP_FRAME: usize = 16 << 10;

/// The bytes of a shared text that are handed on at a time: at first, and to who reads on.
const FIRST_SLICE: usize = 64 << 10;
const LARGEST_SLICE: usize = 256 << 10;

/// A body of these pieces, and how long they are together. An empty piece stands for work that has
/// come to nothing yet.
///
/// A connection takes pieces for as long as its client reads, and all others on the thread would
/// wait meanwhile, those who ask for a page among them. So after each piece they have their turn; and
/// of a thousand such bodies only a few are at work, while the others wait where nobody has to pass
/// them.
struct Pieces<I> {
    source: I,
    left: Option<u64>,
    worked: bool,
    turn: PollSemaphore,
}

/// Whose piece is made. Half of the cores, so that the others are free for what is short.
static TURNS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, NonZero::get);
    Arc::new(Semaphore::new((cores / 2).max(1)))
});

impl<I> Pieces<I> {
    fn new(source: I, left: Option<u64>) -> Self {
        Self::by(source, left, Arc::clone(&TURNS))
    }

    fn by(source: I, left: Option<u64>, turns: Arc<Semaphore>) -> Self {
        Self { source, left, worked: false, turn: PollSemaphore::new(turns) }
    }
}

impl<I: Iterator<Item = Bytes> + Unpin> HttpBody for Pieces<I> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if std::mem::take(&mut self.worked) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        // Given back before the piece is sent: a client that does not read keeps nobody waiting.
        let turn = ready!(self.turn.poll_acquire(cx));
        let piece = self.source.next();
        drop(turn);
        if piece.as_ref().is_some_and(Bytes::is_empty) {
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        self.worked = true;
        if let (Some(piece), Some(left)) = (&piece, &mut self.left) {
            *left = left.saturating_sub(piece.len() as u64);
        }
        Poll::Ready(piece.map(|piece| Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.left == Some(0)
    }

    fn size_hint(&self) -> SizeHint {
        self.left.map_or_else(SizeHint::default, SizeHint::with_exact)
    }
}

/// The pieces as they are: `length` bytes.
pub(super) fn plain(
    pieces: impl Iterator<Item = String> + Send + Unpin + 'static,
    length: u64,
) -> Body {
    let pieces = pieces.map(Bytes::from);
    Body::new(Pieces::new(pieces, Some(length)).map_err(|never| match never {}))
}

/// Pieces whose length nobody knows; what is one piece has a length all the same.
pub(super) fn unmeasured(
    mut pieces: impl Iterator<Item = String> + Send + Unpin + 'static,
) -> Body {
    let first = pieces.next().unwrap_or_default();
    let Some(second) = pieces.next() else { return Body::from(first) };
    let pieces = [first, second].into_iter().chain(pieces).map(Bytes::from);
    Body::new(Pieces::new(pieces, None).map_err(|never| match never {}))
}

/// A text that many share, in slices that grow: a connection copies what it is given, so one whose
/// client never reads holds little of it, and one whose client does is not asked often.
pub(super) fn whole(text: Bytes) -> Body {
    let left = Some(text.len() as u64);
    let (mut rest, mut slice) = (text, FIRST_SLICE);
    let pieces = std::iter::from_fn(move || {
        let piece = rest.split_to(rest.len().min(slice));
        slice = LARGEST_SLICE.min(slice * 2);
        (!piece.is_empty()).then_some(piece)
    });
    Body::new(Pieces::new(pieces, left).map_err(|never| match never {}))
}

/// The pieces compressed.
pub(super) fn gzipped(pieces: impl Iterator<Item = String> + Send + Unpin + 'static) -> Body {
    let mut out = Vec::with_capacity(2 * GZIP_FRAME);
    let gzip = Some(Gzip::begin(&mut out));
    let pieces = Gzipped { pieces, piece: Bytes::new(), gzip, out };
    Body::new(Pieces::new(pieces, None).map_err(|never| match never {}))
}

struct Gzipped<I> {
    pieces: I,
    /// What of a piece is left.
    piece: Bytes,
    gzip: Option<Gzip>,
    out: Vec<u8>,
}

impl<I: Iterator<Item = String>> Iterator for Gzipped<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let gzip = self.gzip.as_mut()?;
        if self.piece.is_empty() {
            let Some(piece) = self.pieces.next() else {
                gzip.end(&mut self.out);
                self.gzip = None;
                return Some(std::mem::take(&mut self.out).into());
            };
            self.piece = piece.into();
        }
        let step = self.piece.split_to(self.piece.len().min(GZIP_STEP));
        gzip.add(&step, &mut self.out);
        if self.out.len() < GZIP_FRAME {
            return Some(Bytes::new());
        }
        Some(std::mem::replace(&mut self.out, Vec::with_capacity(2 * GZIP_FRAME)).into())
    }
}

#[cfg(test)]
mod tests;

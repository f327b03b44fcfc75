//! Bodies that are made piece by piece, as fast as the client reads them.

use std::convert::Infallible;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body_util::BodyExt;
use hyper::body::{Frame, SizeHint};

/// Fast: a list of URLs shrinks to a tenth at any level.
const LEVEL: Compression = Compression::new(1);

/// The bytes of a shared text that are handed on at a time: at first, and to who reads on.
const FIRST_SLICE: usize = 64 << 10;
const LARGEST_SLICE: usize = 1 << 20;

/// A body of these pieces, and how long they are together.
struct Pieces<I> {
    pieces: I,
    left: Option<u64>,
}

impl<I: Iterator<Item = Bytes> + Unpin> HttpBody for Pieces<I> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let piece = self.pieces.next();
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
    Body::new(Pieces { pieces, left: Some(length) }.map_err(|never| match never {}))
}

/// Pieces whose length nobody knows; what is one piece has a length all the same.
pub(super) fn unmeasured(
    mut pieces: impl Iterator<Item = String> + Send + Unpin + 'static,
) -> Body {
    let first = pieces.next().unwrap_or_default();
    let Some(second) = pieces.next() else { return Body::from(first) };
    let pieces = [first, second].into_iter().chain(pieces).map(Bytes::from);
    Body::new(Pieces { pieces, left: None }.map_err(|never| match never {}))
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
    Body::new(Pieces { pieces, left }.map_err(|never| match never {}))
}

/// The pieces compressed (RFC 1952).
pub(super) fn gzipped(pieces: impl Iterator<Item = String> + Send + Unpin + 'static) -> Body {
    let pieces = Gzip { pieces, encoder: Some(GzEncoder::new(Vec::new(), LEVEL)) };
    Body::new(Pieces { pieces, left: None }.map_err(|never| match never {}))
}

struct Gzip<I> {
    pieces: I,
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl<I: Iterator<Item = String>> Iterator for Gzip<I> {
    type Item = Bytes;

    fn next(&mut self) -> Option<Bytes> {
        let mut encoder = self.encoder.take()?;
        // Writing to memory does not fail.
        for piece in self.pieces.by_ref() {
            encoder.write_all(piece.as_bytes()).ok()?;
            let out = std::mem::take(encoder.get_mut());
            if !out.is_empty() {
                self.encoder = Some(encoder);
                return Some(out.into());
            }
        }
        encoder.finish().ok().map(Bytes::from)
    }
}

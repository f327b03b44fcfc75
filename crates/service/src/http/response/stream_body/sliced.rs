//! A body of a text that other bodies share.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

use super::yield_once;

/// The size of the first slice and of the largest, in bytes.
const FIRST_SLICE: usize = 64 << 10;
const LARGEST_SLICE: usize = 256 << 10;

/// A shared text in slices that grow. A connection copies the slice that it sends, so the first ones
/// are small, for clients that never read; the later ones are large, so that clients that do read
/// cause few polls.
///
/// A connection polls its body for as long as the client reads, and would starve all other
/// connections of its thread meanwhile, so the body returns `Pending` once after each slice.
pub(super) struct SlicedBody {
    rest: Bytes,
    /// The size of the next slice.
    size: usize,
    /// Whether the last poll returned a slice, so that this one has to yield.
    must_yield: bool,
}

impl SlicedBody {
    pub(super) fn new(text: Bytes) -> Self {
        Self { rest: text, size: FIRST_SLICE, must_yield: false }
    }
}

impl HttpBody for SlicedBody {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        if self.rest.is_empty() {
            return Poll::Ready(None);
        }
        if std::mem::take(&mut self.must_yield) {
            return yield_once(cx);
        }
        self.must_yield = true;
        let size = self.size.min(self.rest.len());
        self.size = LARGEST_SLICE.min(self.size * 2);
        Poll::Ready(Some(Ok(Frame::data(self.rest.split_to(size)))))
    }

    fn is_end_stream(&self) -> bool {
        self.rest.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.rest.len() as u64)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use axum::body::Body;
    use futures::FutureExt;
    use http_body_util::BodyExt;

    use super::*;

    fn text() -> Bytes {
        (0..LARGEST_SLICE * 4).map(|at| u8::try_from(at % 251).unwrap()).collect()
    }

    #[tokio::test]
    async fn sliced_body_is_the_text() {
        let body = Body::new(SlicedBody::new(text()));
        assert_eq!(body.size_hint().exact(), Some(text().len() as u64));
        assert_eq!(body.collect().await.unwrap().to_bytes(), text());
    }

    #[test]
    fn sliced_body_lets_events_of_sockets_in_after_each_slice() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let mut client = std::net::TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (server, _) = listener.accept().unwrap();
        server.set_nonblocking(true).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
        runtime.block_on(async {
            let server = tokio::net::TcpStream::from_std(server).unwrap();
            let other = tokio::spawn(async move { server.readable().await });
            let sliced = tokio::spawn(async move {
                let mut body = SlicedBody::new(text());
                body.frame().await.expect("a slice").unwrap();
                client.write_all(b"x").unwrap();
                for _ in 0..2 {
                    body.frame().await.expect("a slice").unwrap();
                }
                other.now_or_never().expect("the event was seen").unwrap()
            });
            sliced.await.unwrap().unwrap();
        });
    }
}

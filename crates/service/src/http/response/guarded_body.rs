//! A body that owns a guard: the guard is dropped with the body, once it has been sent or aborted.

use std::pin::Pin;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use hyper::body::{Frame, SizeHint};

/// This body, which drops `guard` with itself.
pub fn guard_body<T: Send + Unpin + 'static>(body: Body, guard: T) -> Body {
    Body::new(GuardedBody { body, _guard: guard })
}

struct GuardedBody<T> {
    body: Body,
    _guard: T,
}

impl<T: Unpin> HttpBody for GuardedBody<T> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

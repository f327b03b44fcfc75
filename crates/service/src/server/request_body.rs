//! The body of a request, which reports whether the handler waits for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

use super::conn_state::ConnState;

/// A request body that reports to the connection's state while the handler waits for more of it: a
/// client that sends slowly is not waiting for a response, and its connection may be evicted.
pub(super) struct RequestBody {
    body: Incoming,
    /// `None`: the request has no body.
    state: Option<Arc<ConnState>>,
}

impl RequestBody {
    pub(super) fn new(body: Incoming, state: &Arc<ConnState>) -> Self {
        let state = (!body.is_end_stream()).then(|| Arc::clone(state));
        Self { body, state }
    }

    fn report(&self, wants: bool) {
        if let Some(state) = &self.state {
            state.wants_body(wants);
        }
    }
}

impl HttpBody for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.report(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        self.report(false);
    }
}

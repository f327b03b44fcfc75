//! The body of a request, and whether the answer waits for it.

use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Bytes, HttpBody};
use hyper::body::{Frame, Incoming, SizeHint};

use super::progress::Progress;

/// A body that tells when its client is waited for: who sends a webhook slowly waits for nobody.
pub(super) struct Upload {
    body: Incoming,
    /// `None`: it has ended.
    progress: Option<Arc<Progress>>,
}

impl Upload {
    pub(super) fn new(body: Incoming, progress: &Arc<Progress>) -> Self {
        let progress = (!body.is_end_stream()).then(|| Arc::clone(progress));
        Self { body, progress }
    }

    fn tell(&self, wants: bool) {
        if let Some(progress) = &self.progress {
            progress.wants_body(wants);
        }
    }
}

impl HttpBody for Upload {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<hyper::Result<Frame<Bytes>>>> {
        let polled = Pin::new(&mut self.body).poll_frame(cx);
        self.tell(polled.is_pending());
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for Upload {
    fn drop(&mut self) {
        self.tell(false);
    }
}

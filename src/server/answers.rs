//! The service as hyper calls it on one connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use axum::body::{Body, Bytes, HttpBody};
use futures::future::{BoxFuture, Either, FutureExt, Ready, ready};
use http_body_util::Either as EitherBody;
use hyper::Request;
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::header::TRANSFER_ENCODING;

use super::progress::{Busy, Progress};
use crate::http::{Answer, Service};

/// Answers the requests of one connection, and keeps its progress up to date.
pub(super) struct Answers {
    service: Service,
    progress: Arc<Progress>,
}

impl Answers {
    pub(super) fn new(service: Service, progress: Arc<Progress>) -> Self {
        Self { service, progress }
    }
}

type Answered = Result<Answer, Infallible>;

impl hyper::service::Service<Request<Incoming>> for Answers {
    type Response = Answer;
    type Error = Infallible;
    type Future = Either<Ready<Answered>, BoxFuture<'static, Answered>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.progress.request(!request.body().is_end_stream());
        if self.progress.was_doubled() && request.headers().contains_key(TRANSFER_ENCODING) {
            return Either::Left(ready(Ok(self.service.two_framings(&request))));
        }
        match self.service.answer(request) {
            Either::Left(answer) => Either::Left(ready(Ok(answer.into_inner()))),
            Either::Right(later) => {
                let busy = Busy::new(&self.progress);
                Either::Right(later.map(|answer| Ok(hold(answer, busy))).boxed())
            }
        }
    }
}

/// The connection stays busy until the body has been taken as well.
fn hold(answer: Answer, busy: Busy) -> Answer {
    answer.map(|body| match body {
        EitherBody::Left(whole) => EitherBody::Left(whole),
        EitherBody::Right(body) => EitherBody::Right(Body::new(Held { body, _busy: busy })),
    })
}

/// A body that keeps the connection busy.
struct Held {
    body: Body,
    _busy: Busy,
}

impl HttpBody for Held {
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

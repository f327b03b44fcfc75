//! The service as hyper calls it on one connection.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

use axum::body::HttpBody;
use futures::future::BoxFuture;
use http_body_util::Either;
use hyper::Request;
use hyper::body::Incoming;
use hyper::header::TRANSFER_ENCODING;

use super::progress::{Busy, Progress};
use super::upload::Upload;
use crate::http::{Answer, Answerer, Answering, hold};

/// Answers the requests of one connection, and keeps its progress up to date.
pub(super) struct Answers<S> {
    service: S,
    progress: Arc<Progress>,
}

impl<S> Answers<S> {
    pub(super) fn new(service: S, progress: Arc<Progress>) -> Self {
        Self { service, progress }
    }
}

impl<S: Answerer> hyper::service::Service<Request<Incoming>> for Answers<S> {
    type Response = Answer;
    type Error = Infallible;
    type Future = Awaited;

    fn call(&self, request: Request<Incoming>) -> Awaited {
        self.progress.request(!request.body().is_end_stream());
        if self.progress.was_doubled() && request.headers().contains_key(TRANSFER_ENCODING) {
            return Awaited::Now(Some(self.service.two_framings(&request)));
        }
        let request = request.map(|body| Upload::new(body, &self.progress));
        match self.service.answer(request) {
            Answering::Now(answer) => Awaited::Now(Some(answer)),
            Answering::Later(later) => Awaited::Later(later, Some(Busy::new(&self.progress))),
        }
    }
}

/// An answer as hyper takes it; once.
pub(super) enum Awaited {
    Now(Option<Answer>),
    Later(BoxFuture<'static, Answer>, Option<Busy>),
}

impl Future for Awaited {
    type Output = Result<Answer, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match self.get_mut() {
            Self::Now(answer) => answer.take(),
            Self::Later(later, busy) => {
                let answer = ready!(later.as_mut().poll(cx));
                busy.take().map(|busy| keep_busy(answer, busy))
            }
        };
        // Nobody polls a future that has ended.
        answer.map_or(Poll::Pending, |answer| Poll::Ready(Ok(answer)))
    }
}

/// The connection stays busy until the body has been taken as well.
fn keep_busy(answer: Answer, busy: Busy) -> Answer {
    answer.map(|body| match body {
        Either::Left(whole) => Either::Left(whole),
        Either::Right(body) => Either::Right(hold(body, busy)),
    })
}

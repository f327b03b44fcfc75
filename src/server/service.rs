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

use super::conn_state::{Busy, ConnState};
use super::request_body::RequestBody;
use crate::http::{Answer, Answerer, Answering, hold};

/// Passes the requests of one connection to the service, and reports them to the connection's state.
pub(super) struct HttpService<S> {
    service: S,
    state: Arc<ConnState>,
}

impl<S> HttpService<S> {
    pub(super) fn new(service: S, state: Arc<ConnState>) -> Self {
        Self { service, state }
    }
}

impl<S: Answerer> hyper::service::Service<Request<Incoming>> for HttpService<S> {
    type Response = Answer;
    type Error = Infallible;
    type Future = AnswerFuture;

    fn call(&self, request: Request<Incoming>) -> AnswerFuture {
        self.state.request(!request.body().is_end_stream());
        if self.state.had_two_framings() && request.headers().contains_key(TRANSFER_ENCODING) {
            return AnswerFuture::Now(Some(self.service.two_framings(&request)));
        }
        let request = request.map(|body| RequestBody::new(body, &self.state));
        match self.service.answer(request) {
            Answering::Now(answer) => AnswerFuture::Now(Some(answer)),
            Answering::Later(later) => AnswerFuture::Later(later, Some(Busy::new(&self.state))),
        }
    }
}

/// An answer that is ready, or one that is being made and keeps the connection busy.
pub(super) enum AnswerFuture {
    Now(Option<Answer>),
    Later(BoxFuture<'static, Answer>, Option<Busy>),
}

impl Future for AnswerFuture {
    type Output = Result<Answer, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let answer = match self.get_mut() {
            Self::Now(answer) => answer.take(),
            Self::Later(later, busy) => {
                let answer = ready!(later.as_mut().poll(cx));
                busy.take().map(|busy| keep_busy(answer, busy))
            }
        };
        Poll::Ready(Ok(answer.expect("hyper does not poll a future that has ended")))
    }
}

/// The connection stays busy until the body has been written as well.
fn keep_busy(answer: Answer, busy: Busy) -> Answer {
    answer.map(|body| match body {
        Either::Left(whole) => Either::Left(whole),
        Either::Right(body) => Either::Right(hold(body, busy)),
    })
}

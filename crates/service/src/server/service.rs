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
use crate::http::{HttpResponse, RequestHandler, ResponseFuture, guard_body};

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

impl<S: RequestHandler> hyper::service::Service<Request<Incoming>> for HttpService<S> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = HandlerFuture;

    fn call(&self, request: Request<Incoming>) -> HandlerFuture {
        self.state.request(!request.body().is_end_stream());
        if self.state.had_two_framings() && request.headers().contains_key(TRANSFER_ENCODING) {
            return HandlerFuture::Ready(Some(self.service.refuse_two_framings(&request)));
        }
        let request = request.map(|body| RequestBody::new(body, &self.state));
        match self.service.handle(request) {
            ResponseFuture::Ready(response) => HandlerFuture::Ready(Some(response)),
            ResponseFuture::Pending(future) => {
                HandlerFuture::Pending(future, Some(Busy::new(&self.state)))
            }
        }
    }
}

/// A response as hyper awaits it.
pub(super) enum HandlerFuture {
    Ready(Option<HttpResponse>),
    Pending(BoxFuture<'static, HttpResponse>, Option<Busy>),
}

impl Future for HandlerFuture {
    type Output = Result<HttpResponse, Infallible>;

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Self::Output> {
        let response = match self.get_mut() {
            Self::Ready(response) => response.take(),
            Self::Pending(future, busy) => {
                let response = ready!(future.as_mut().poll(cx));
                busy.take().map(|busy| keep_busy(response, busy))
            }
        };
        Poll::Ready(Ok(response.expect("hyper does not poll a future that has ended")))
    }
}

/// The connection stays busy until the body has been sent as well.
fn keep_busy(response: HttpResponse, busy: Busy) -> HttpResponse {
    response.map(|body| match body {
        Either::Left(full) => Either::Left(full),
        Either::Right(body) => Either::Right(guard_body(body, busy)),
    })
}

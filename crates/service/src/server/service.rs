//! The service as hyper calls it on one connection.

use std::convert::Infallible;
use std::sync::Arc;

use axum::body::HttpBody;
use futures::future::{self, BoxFuture, FutureExt, Ready, ready};
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

type HandlerResult = Result<HttpResponse, Infallible>;

impl<S: RequestHandler> hyper::service::Service<Request<Incoming>> for HttpService<S> {
    type Response = HttpResponse;
    type Error = Infallible;
    type Future = future::Either<Ready<HandlerResult>, BoxFuture<'static, HandlerResult>>;

    fn call(&self, request: Request<Incoming>) -> Self::Future {
        self.state.request(!request.body().is_end_stream());
        if self.state.had_two_framings() && request.headers().contains_key(TRANSFER_ENCODING) {
            return future::Either::Left(ready(Ok(self.service.refuse_two_framings(&request))));
        }
        let request = request.map(|body| RequestBody::new(body, &self.state));
        match self.service.handle(request) {
            ResponseFuture::Ready(response) => future::Either::Left(ready(Ok(response))),
            ResponseFuture::Pending(response) => {
                let busy = Busy::new(&self.state);
                let response = async move { Ok(keep_busy(response.await, busy)) };
                future::Either::Right(response.boxed())
            }
        }
    }
}

/// The connection stays busy until the body has been sent as well.
fn keep_busy(response: HttpResponse, busy: Busy) -> HttpResponse {
    response.map(|body| match body {
        Either::Left(full) => Either::Left(full),
        Either::Right(body) => Either::Right(guard_body(body, busy)),
    })
}

//! The whole HTTP side, as a connection calls it for each request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use axum::Router;
use axum::body::{Body, Bytes};
use axum::http::{Method, Request, Response};
use http_body_util::{Either, Full};
use tower::ServiceExt;

use super::content_type;
use super::edge::{Edge, refuse};
use super::error::{ApiError, two_framings};
use super::router::{panicked, router};
use crate::app::App;

/// A body that is there as a whole, or one of the router's.
pub type AnswerBody = Either<Full<Bytes>, Body>;

/// Answers requests.
#[derive(Clone)]
pub struct Service {
    app: Arc<App>,
    router: Router,
}

impl Service {
    /// All operations of an app.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        Self { router: router(Arc::clone(&app)), app }
    }

    /// The answer to one request, whatever it is.
    ///
    /// Operation 4.1 is asked on every page render: it is answered here, without the router and
    /// its boxes, which would take a sixth of its requests per second.
    pub async fn answer<B>(&self, request: Request<B>) -> Response<AnswerBody>
    where
        B: axum::body::HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<axum::BoxError>,
    {
        let edge = Edge::meet(&self.app, &request);
        let mut response = match refuse(&request) {
            Err(error) => error.whole().map(Either::Left),
            Ok(()) if is_resolve(&request) => self.resolve(&request).map(Either::Left),
            Ok(()) => {
                let routed = Box::pin(self.router.clone().oneshot(request.map(Body::new)));
                let Ok(response) = routed.await;
                response.map(Either::Right)
            }
        };
        edge.dress(&mut response);
        response
    }

    /// The answer to a request whose body has two framings.
    #[must_use]
    pub fn two_framings<B>(&self, request: &Request<B>) -> Response<AnswerBody> {
        let mut response = two_framings().map(Either::Left);
        Edge::meet(&self.app, request).dress(&mut response);
        response
    }

    fn resolve<B>(&self, request: &Request<B>) -> Response<Full<Bytes>> {
        let answer = || content_type::answer(&self.app, request.uri().query(), request.headers());
        match catch_unwind(AssertUnwindSafe(answer)) {
            Ok(answer) => answer.unwrap_or_else(ApiError::whole),
            Err(panic) => panicked(&*panic).whole(),
        }
    }
}

fn is_resolve<B>(request: &Request<B>) -> bool {
    request.uri().path() == content_type::ROUTE
        && matches!(*request.method(), Method::GET | Method::HEAD)
}

//! The public listener's request handler: all layers in one function, in front of the router.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Method, Request};
use axum::{BoxError, Router};
use futures::future::{BoxFuture, FutureExt};
use http_body_util::Either;
use tower::ServiceExt;
use tracing::Instrument;

use super::context::RequestContext;
use super::load_shed::{InFlightLimit, InFlightPermit};
use super::request_check::check_request;
use super::routes::{FromMemory, Route, route_labels, router};
use crate::app::App;
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::{ApiError, two_framings};
use frontend_map_platform::traces;

/// The response to a request.
pub enum ResponseFuture {
    /// It is complete already.
    Ready(HttpResponse),
    /// It has to be awaited.
    Pending(BoxFuture<'static, HttpResponse>),
}

/// Handles the requests of the connections of one listener.
pub trait RequestHandler: Clone + Send + Sync + 'static {
    /// The response to a request, whatever it is.
    fn handle<B>(&self, request: Request<B>) -> ResponseFuture
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>;

    /// The response to a request whose body has two framings (D6).
    fn refuse_two_framings<B>(&self, request: &Request<B>) -> HttpResponse;
}

/// Handles requests, each with the app that is current when it arrives.
#[derive(Clone)]
pub struct Service(Arc<Inner>);

struct Inner {
    current: ArcSwap<RoutedApp>,
    /// Outlives all reloads.
    limit: InFlightLimit,
}

/// An app with its router.
struct RoutedApp {
    app: Arc<App>,
    router: Router,
}

impl RoutedApp {
    fn new(app: Arc<App>) -> Self {
        Self { router: router(Arc::clone(&app)), app }
    }

    /// The response of the router.
    async fn route<B>(
        self: Arc<Self>,
        route: Route,
        request: Request<B>,
        permit: InFlightPermit,
    ) -> HttpResponse
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let context = RequestContext::begin(&self.app, route, &request);
        let in_flight = self.app.shared.metrics.requests.begin();
        let response = self.router.clone().oneshot(request.map(Body::new));
        let response = traces::in_span(context.trace(), response.instrument(context.log_span()));
        let Ok(response) = response.await;
        in_flight.answered();
        let mut response = response.map(|body| Either::Right(permit.guard(body)));
        context.finish(&mut response);
        response
    }
}

impl Service {
    /// The service of an app.
    pub fn new(app: Arc<App>) -> Self {
        app.shared.metrics.requests.set_routes(route_labels());
        let limit = InFlightLimit::new(app.http.max_requests);
        Self(Arc::new(Inner { current: ArcSwap::from_pointee(RoutedApp::new(app)), limit }))
    }

    /// Handles further requests with this app; requests in flight keep theirs.
    pub fn replace(&self, app: Arc<App>) {
        self.0.current.store(Arc::new(RoutedApp::new(app)));
    }

    /// The current app.
    pub fn app(&self) -> Arc<App> {
        Arc::clone(&self.0.current.load().app)
    }
}

impl RequestHandler for Service {
    fn handle<B>(&self, mut request: Request<B>) -> ResponseFuture
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let checked = check_request(&request);
        let route = Route::of(request.uri().path());
        let from_memory = route.memory_operation(request.uri());
        let from_memory = from_memory.filter(|_| is_read(request.method()));
        let current = self.0.current.load();
        if checked.is_ok()
            && from_memory.is_none()
            && let Some(permit) = self.0.limit.try_acquire(route.limit(), request.method())
        {
            let response = Arc::clone(&current).route(route, request, permit);
            return ResponseFuture::Pending(response.boxed());
        }
        let context = RequestContext::begin(&current.app, route, &request);
        let response = match checked {
            Err(error) => error.into_http_response(),
            Ok(()) => match from_memory {
                Some(operation) => call(operation, &current.app, &mut request),
                None => shed(&current.app),
            },
        };
        ResponseFuture::Ready(finished(context, response))
    }

    fn refuse_two_framings<B>(&self, request: &Request<B>) -> HttpResponse {
        let route = Route::of(request.uri().path());
        let current = self.0.current.load();
        finished(RequestContext::begin(&current.app, route, request), two_framings())
    }
}

fn call<B>(operation: FromMemory, app: &App, request: &mut Request<B>) -> HttpResponse {
    let headers = std::mem::take(request.headers_mut());
    let respond = || operation(app, request.uri().query(), headers);
    match catch_unwind(AssertUnwindSafe(respond)) {
        Ok(response) => response.unwrap_or_else(ApiError::into_http_response),
        Err(_) => ApiError::internal().into_http_response(),
    }
}

fn shed(app: &App) -> HttpResponse {
    app.shared.metrics.requests.shed.inc();
    ApiError::overloaded().into_http_response()
}

fn finished(context: RequestContext<'_>, mut response: HttpResponse) -> HttpResponse {
    context.finish(&mut response);
    response
}

fn is_read(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD)
}

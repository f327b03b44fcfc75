//! The whole HTTP side, as a connection calls it for each request.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use arc_swap::ArcSwap;
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{Method, Request};
use axum::{BoxError, Router};
use futures::future::{BoxFuture, FutureExt};
use http_body_util::Either;
use hyper::body::Incoming;
use tower::ServiceExt;
use tracing::Instrument;

use super::content_type;
use super::edge::{Edge, refuse};
use super::envelope::Answer;
use super::error::{ApiError, two_framings};
use super::rooms::{Room, Rooms};
use super::router::router;
use crate::app::App;
use crate::metrics::Route;
use crate::traces;

/// An answer on its way.
pub enum Answering {
    /// It is there already.
    Now(Answer),
    /// It comes.
    Later(BoxFuture<'static, Answer>),
}

/// What answers the requests of connections.
pub trait Answerer: Clone + Send + Sync + 'static {
    /// The answer to one request, whatever it is.
    fn answer<B>(&self, request: Request<B>) -> Answering
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>;

    /// The answer to a request whose body has two framings.
    fn two_framings(&self, request: &Request<Incoming>) -> Answer;
}

/// Answers requests, each by the app that is the current one when it comes.
#[derive(Clone)]
pub struct Service(Arc<ArcSwap<Version>>);

/// An app and its routes.
struct Version {
    app: Arc<App>,
    router: Router,
    rooms: Rooms,
}

impl Version {
    fn new(app: Arc<App>, rooms: Rooms) -> Self {
        Self { router: router(Arc::clone(&app)), app, rooms }
    }

    /// What the router says.
    async fn route<B>(self: Arc<Self>, route: Route, request: Request<B>, room: Room) -> Answer
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let edge = Edge::meet(&self.app, route, &request);
        let in_flight = self.app.lasting().metrics.requests.begin();
        let answer = self.router.clone().oneshot(request.map(Body::new));
        let answer = traces::in_span(edge.traced(), answer.instrument(edge.span()));
        let Ok(response) = answer.await;
        in_flight.answered();
        let mut response = response.map(|body| Either::Right(room.until_taken(body)));
        edge.dress(&mut response);
        response
    }

    /// What is said at once when there is no room left.
    fn crowded(&self) -> Answer {
        self.app.lasting().metrics.requests.shed.inc();
        ApiError::crowded().whole()
    }
}

impl Service {
    /// All operations of an app.
    #[must_use]
    pub fn new(app: Arc<App>) -> Self {
        let rooms = Rooms::new(app.most_requests());
        Self(Arc::new(ArcSwap::from_pointee(Version::new(app, rooms))))
    }

    /// From now on requests are answered by this app; those under way go on with theirs.
    pub fn replace(&self, app: Arc<App>) {
        let rooms = self.0.load().rooms.clone();
        rooms.resize(app.most_requests());
        self.0.store(Arc::new(Version::new(app, rooms)));
    }

    /// The current app.
    #[must_use]
    pub fn app(&self) -> Arc<App> {
        Arc::clone(&self.0.load().app)
    }

    /// The answer to one request, whatever it is.
    ///
    /// Operation 4.1 is asked on every page render: it is answered here, without the router and
    /// its boxes, which would take a sixth of its requests per second.
    pub fn answer<B>(&self, mut request: Request<B>) -> Answering
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let refused = refuse(&request);
        let route = Route::of(request.uri().path());
        let at_once = route == Route::ContentType && is_read(&request);
        let version = self.0.load();
        if refused.is_ok()
            && !at_once
            && let Some(room) = version.rooms.enter(route, request.method())
        {
            return Answering::Later(Arc::clone(&version).route(route, request, room).boxed());
        }
        let edge = Edge::meet(&version.app, route, &request);
        let answer = match refused {
            Err(error) => error.whole(),
            Ok(()) if at_once => resolve(&version.app, &mut request),
            Ok(()) => version.crowded(),
        };
        Answering::Now(dressed(edge, answer))
    }

    /// The answer to a request whose body has two framings.
    #[must_use]
    pub fn two_framings<B>(&self, request: &Request<B>) -> Answer {
        let route = Route::of(request.uri().path());
        dressed(Edge::meet(&self.0.load().app, route, request), two_framings())
    }
}

fn resolve<B>(app: &App, request: &mut Request<B>) -> Answer {
    let headers = std::mem::take(request.headers_mut());
    let answer = || content_type::answer(app, request.uri().query(), headers);
    match catch_unwind(AssertUnwindSafe(answer)) {
        Ok(answer) => answer.unwrap_or_else(ApiError::whole),
        Err(_) => ApiError::internal().whole(),
    }
}

impl Answerer for Service {
    fn answer<B>(&self, request: Request<B>) -> Answering
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        self.answer(request)
    }

    fn two_framings(&self, request: &Request<Incoming>) -> Answer {
        self.two_framings(request)
    }
}

fn dressed(edge: Edge<'_>, mut answer: Answer) -> Answer {
    edge.dress(&mut answer);
    answer
}

fn is_read<B>(request: &Request<B>) -> bool {
    matches!(*request.method(), Method::GET | Method::HEAD)
}

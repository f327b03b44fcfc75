//! What the table of routes says of each route.

use std::sync::Arc;

use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::routing::MethodRouter;

use crate::app::App;
use crate::http::pipeline::load_shed::LimitClass;
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::ApiError;

/// A route of the public listener.
pub(super) struct Declaration {
    /// In the syntax of `axum`. A request below the folder of a path with parameters belongs to the
    /// route even if the path does not match and the response is a 404.
    pub(super) path: &'static str,
    pub(super) methods: Methods,
    pub(super) limit: LimitClass,
    pub(super) handler: Handler,
}

/// The operation of a route.
pub(super) enum Handler {
    /// It responds from memory and is called without the router: each page render sends such a
    /// request, and the boxed futures of the router would cost a sixth of the requests per second.
    FromMemory(FromMemory),
    /// It responds from memory, unless `waits` is true of the query: such a request is routed, and
    /// counts toward the in-flight limit.
    Either {
        from_memory: FromMemory,
        waits: fn(Option<&str>) -> bool,
        routed: fn() -> MethodRouter<Arc<App>>,
    },
    /// It waits, or reads a body.
    Routed(fn() -> MethodRouter<Arc<App>>),
}

impl Handler {
    /// The operation, if it responds to this target from memory.
    pub(super) fn memory_operation(&self, uri: &Uri) -> Option<FromMemory> {
        match *self {
            Self::FromMemory(operation) => Some(operation),
            Self::Either { from_memory, waits, .. } => (!waits(uri.query())).then_some(from_memory),
            Self::Routed(_) => None,
        }
    }
}

/// Builds the response to a GET or HEAD from the app, the query and the headers, whose memory the
/// response reuses.
pub(in crate::http::pipeline) type FromMemory =
    fn(&App, Option<&str>, HeaderMap) -> Result<HttpResponse, ApiError>;

/// The methods of a route.
#[derive(Clone, Copy)]
pub(super) enum Methods {
    /// GET, HEAD and OPTIONS.
    Read,
    /// POST and OPTIONS.
    Post,
    /// GET, HEAD, POST and OPTIONS.
    ReadAndPost,
    /// GET, HEAD, DELETE and OPTIONS.
    ReadAndDelete,
}

impl Methods {
    pub(super) fn allow(self) -> HeaderValue {
        HeaderValue::from_static(self.as_str())
    }

    fn as_str(self) -> &'static str {
        match self {
            Self::Read => "GET, HEAD, OPTIONS",
            Self::Post => "POST, OPTIONS",
            Self::ReadAndPost => "GET, HEAD, POST, OPTIONS",
            Self::ReadAndDelete => "GET, HEAD, DELETE, OPTIONS",
        }
    }

    /// The methods that a page of another origin may use. No page sends webhooks or clears a list.
    pub(super) fn cross_origin(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Read | Self::Post | Self::ReadAndDelete => "GET, HEAD",
            Self::ReadAndPost => "GET, HEAD, POST",
        })
    }
}

impl Declaration {
    /// The label of its metrics, log lines and traces: its path before the first parameter.
    pub(super) fn label(&self) -> &'static str {
        self.path.split_once("/{").map_or(self.path, |(folder, _)| folder)
    }

    /// Whether this is the route of a path.
    pub(super) fn covers(&self, path: &str) -> bool {
        let folder = || self.path.split_once('{').map(|(folder, _)| folder);
        path == self.path || folder().is_some_and(|folder| path.starts_with(folder))
    }

    pub(super) fn method_router(&self) -> MethodRouter<Arc<App>> {
        let methods = self.methods;
        let handler = match self.handler {
            Handler::FromMemory(_) => MethodRouter::default(),
            Handler::Either { routed: handler, .. } | Handler::Routed(handler) => handler(),
        };
        // OPTIONS lists the methods; the request context adds CORS.
        handler.options(async move || (StatusCode::OK, [(ALLOW, methods.allow())])).fallback(
            async move || {
                let allowed = methods.as_str().replace(", OPTIONS", " and OPTIONS");
                ([(ALLOW, methods.allow())], ApiError::method_not_allowed(&allowed))
            },
        )
    }
}

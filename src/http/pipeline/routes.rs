//! All routes and all layers, in one file.
//!
//! # Layers
//! The layers of the public listener, outermost first. They are one function,
//! [`Service::handle`](super::service::Service), instead of `tower` layers around the router: each
//! of those boxes the response future, and six of them cost four tenths of the requests per second.
//! The function checks the request and takes the permit before it begins the context, because
//! neither waits; every response still passes the context.
//!
//! 1. `context` measures, counts, logs and traces the request, and adds the headers that each
//!    response has. Outermost, so that this holds for refused requests too.
//! 2. `request_check` refuses a long target and an invalid `Host`, before any code depends on them.
//! 3. Operations that respond [from memory](Handler::FromMemory) are called here, where a panic is
//!    caught too: they need no further layer.
//! 4. `load_shed` refuses requests over the in-flight limit, before they cost anything. A permit is
//!    held until the body has been sent.
//! 5. The gauge of requests in flight, the log span and the trace span cover all work that waits.
//! 6. `CatchPanicLayer` turns a panic into a 500. Innermost, so that this 500 passes all layers above;
//!    the panic hook has logged and counted the panic.

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::http::header::ALLOW;
use axum::http::{HeaderMap, HeaderValue, StatusCode, Uri};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::load_shed::LimitClass;
use crate::app::App;
use crate::http::admin::{self, plain_text};
use crate::http::operations::{
    build_sitemap, cms_hook, frontend_url, frontend_urls, get_content_type, health, openapi,
    resolve, sitemap_files, tables,
};
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::ApiError;

/// The routes of the public listener. A request whose path is none of them has the route [`UNKNOWN`].
static ROUTES: [Declaration; 13] = [
    Declaration {
        path: "/api/get-content-type",
        label: "/api/get-content-type",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::FromMemory(get_content_type::get),
    },
    Declaration {
        path: "/api/resolve",
        label: "/api/resolve",
        methods: Methods::Read,
        limit: LimitClass::Single,
        handler: Handler::Either {
            from_memory: resolve::get,
            waits: resolve::needs_cms,
            routed: || get(resolve::from_cms::get),
        },
    },
    Declaration {
        path: "/api/frontend-url",
        label: "/api/frontend-url",
        methods: Methods::Read,
        limit: LimitClass::Single,
        handler: Handler::Routed(|| get(frontend_url::get)),
    },
    Declaration {
        path: "/api/frontend-urls",
        label: "/api/frontend-urls",
        methods: Methods::ReadAndPost,
        limit: LimitClass::Batch,
        handler: Handler::Routed(|| get(frontend_urls::get).post(frontend_urls::post)),
    },
    Declaration {
        path: "/api/build-sitemap",
        label: "/api/build-sitemap",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(build_sitemap::get)),
    },
    Declaration {
        path: "/api/pages",
        label: "/api/pages",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::pages::get)),
    },
    Declaration {
        path: "/api/problems",
        label: "/api/problems",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::problems::get)),
    },
    Declaration {
        path: "/api/validations",
        label: "/api/validations",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::validations::get)),
    },
    Declaration {
        path: "/sitemaps/{site}/{file}",
        label: "/sitemaps",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(sitemap_files::get)),
    },
    // No limit: a webhook must not be lost, and it waits only for its own body.
    Declaration {
        path: "/hooks/cms",
        label: "/hooks/cms",
        methods: Methods::Post,
        limit: LimitClass::None,
        handler: Handler::Routed(|| post(cms_hook::post)),
    },
    Declaration {
        path: "/openapi.json",
        label: "/openapi.json",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(openapi::get)),
    },
    Declaration {
        path: "/livez",
        label: "/livez",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(health::livez)),
    },
    Declaration {
        path: "/readyz",
        label: "/readyz",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(health::readyz)),
    },
];

/// The route of requests whose path matches no other route.
static UNKNOWN: Declaration = Declaration {
    path: "",
    label: "other",
    methods: Methods::Read,
    limit: LimitClass::None,
    handler: Handler::Routed(MethodRouter::new),
};

/// The routes of the admin listener, in the order of its index. They have only GET and HEAD. Their
/// requests are neither counted nor limited: metrics must not depend on how often they are scraped,
/// and must be readable under load.
static ADMIN_ROUTES: [AdminRoute; 5] = [
    AdminRoute { path: "/", about: None, page: admin_index },
    AdminRoute {
        path: "/metrics",
        about: Some("counters and states, for Prometheus"),
        page: admin::metrics::get,
    },
    AdminRoute {
        path: "/readyz",
        about: Some("whether the service takes new work, and how its parts are, as JSON"),
        page: admin::ready::get,
    },
    AdminRoute {
        path: "/rules",
        about: Some("the rules in use, in the order of evaluation, as JSON"),
        page: admin::rules::get,
    },
    AdminRoute {
        path: "/livez",
        about: Some("the process answers"),
        page: |_, _| plain_text("ok\n".to_owned()),
    },
];

/// The methods of all routes of the admin listener.
pub(super) const ADMIN_ALLOW: HeaderValue = HeaderValue::from_static("GET, HEAD");

/// A route of the admin listener.
struct AdminRoute {
    path: &'static str,
    /// Its line in the index; `None` for the index itself.
    about: Option<&'static str>,
    page: AdminPage,
}

/// Builds the response of a route of the admin listener from the app and the headers of the request.
pub(super) type AdminPage = fn(&Arc<App>, &HeaderMap) -> HttpResponse;

/// The page of a path of the admin listener.
pub(super) fn admin_page(path: &str) -> Option<AdminPage> {
    ADMIN_ROUTES.iter().find(|route| route.path == path).map(|route| route.page)
}

fn admin_index(_: &Arc<App>, _: &HeaderMap) -> HttpResponse {
    let line = |route: &AdminRoute| Some(format!("{:9} {}\n", route.path, route.about?));
    plain_text(ADMIN_ROUTES.iter().filter_map(line).collect())
}

/// A route of the public listener.
struct Declaration {
    /// In the syntax of `axum`. A request below the folder of a path with parameters belongs to the
    /// route even if the path does not match and the response is a 404.
    path: &'static str,
    /// The label of its metrics, log lines and traces.
    label: &'static str,
    methods: Methods,
    limit: LimitClass,
    handler: Handler,
}

/// The operation of a route.
enum Handler {
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

/// Builds the response to a GET or HEAD from the app, the query and the headers, whose memory the
/// response reuses.
pub(super) type FromMemory = fn(&App, Option<&str>, HeaderMap) -> Result<HttpResponse, ApiError>;

/// The methods of a route.
#[derive(Clone, Copy)]
enum Methods {
    /// GET, HEAD and OPTIONS.
    Read,
    /// POST and OPTIONS.
    Post,
    /// GET, HEAD, POST and OPTIONS.
    ReadAndPost,
}

impl Methods {
    fn allow(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Read => "GET, HEAD, OPTIONS",
            Self::Post => "POST, OPTIONS",
            Self::ReadAndPost => "GET, HEAD, POST, OPTIONS",
        })
    }

    /// As an error message lists them.
    fn text(self) -> &'static str {
        match self {
            Self::Read => "GET, HEAD and OPTIONS",
            Self::Post => "POST and OPTIONS",
            Self::ReadAndPost => "GET, HEAD, POST and OPTIONS",
        }
    }

    /// Those that a page of another origin may use. A webhook is no business of a page.
    fn cross_origin(self) -> HeaderValue {
        HeaderValue::from_static(match self {
            Self::Read | Self::Post => "GET, HEAD",
            Self::ReadAndPost => "GET, HEAD, POST",
        })
    }
}

impl Declaration {
    /// Whether this is the route of a path.
    fn covers(&self, path: &str) -> bool {
        let folder = || self.path.split_once('{').map(|(folder, _)| folder);
        path == self.path || folder().is_some_and(|folder| path.starts_with(folder))
    }

    fn method_router(&self) -> MethodRouter<Arc<App>> {
        let methods = self.methods;
        let handler = match self.handler {
            Handler::FromMemory(_) => MethodRouter::new(),
            Handler::Either { routed: handler, .. } | Handler::Routed(handler) => handler(),
        };
        // OPTIONS lists the methods; the request context adds CORS.
        handler.options(async move || (StatusCode::OK, [(ALLOW, methods.allow())])).fallback(
            async move || {
                ([(ALLOW, methods.allow())], ApiError::method_not_allowed(methods.text()))
            },
        )
    }
}

/// The route of a request.
#[derive(Clone, Copy)]
pub(super) struct Route {
    declaration: &'static Declaration,
    index: usize,
}

impl Route {
    /// The route of a path, which may be [`UNKNOWN`].
    pub(super) fn of(path: &str) -> Self {
        let mut routes = ROUTES.iter().enumerate();
        let found = routes.find(|(_, declaration)| declaration.covers(path));
        let (index, declaration) = found.unwrap_or((ROUTES.len(), &UNKNOWN));
        Self { declaration, index }
    }

    /// The label of its metrics, log lines and traces.
    pub(super) fn label(self) -> &'static str {
        self.declaration.label
    }

    /// The position of its label in [`route_labels`].
    pub(super) fn index(self) -> usize {
        self.index
    }

    /// The methods that a page of another origin may use.
    pub(super) fn cross_origin_methods(self) -> HeaderValue {
        self.declaration.methods.cross_origin()
    }

    /// How it counts toward the in-flight limit.
    pub(super) fn limit(self) -> LimitClass {
        self.declaration.limit
    }

    /// Its operation, if that responds to this target from memory.
    pub(super) fn memory_operation(self, uri: &Uri) -> Option<FromMemory> {
        match self.declaration.handler {
            Handler::FromMemory(operation) => Some(operation),
            Handler::Either { from_memory, waits, .. } => {
                (!waits(uri.query())).then_some(from_memory)
            }
            Handler::Routed(_) => None,
        }
    }
}

/// The labels of all routes in the order of the table, and [`UNKNOWN`].
pub(super) fn route_labels() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().chain([&UNKNOWN]).map(|route| route.label)
}

/// The router: all routes with their methods.
pub(super) fn router(app: Arc<App>) -> Router {
    let add = |router: Router<Arc<App>>, route: &Declaration| {
        router.route(route.path, route.method_router())
    };
    ROUTES
        .iter()
        .fold(Router::new(), add)
        .fallback(async || ApiError::unknown_route())
        .layer(CatchPanicLayer::custom(|_: Box<dyn Any + Send>| {
            ApiError::internal().into_response()
        }))
        .with_state(app)
}

/// The paths of all routes, each with its methods as `Allow` lists them.
#[cfg(test)]
pub(in crate::http) fn declared_methods() -> impl Iterator<Item = (&'static str, HeaderValue)> {
    ROUTES.iter().map(|route| (route.path, route.methods.allow()))
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn of_finds_the_route_of_each_path() {
        for (index, declaration) in ROUTES.iter().enumerate() {
            let path = declaration.path.replace(['{', '}'], "");
            let route = Route::of(&path);
            assert_eq!((route.index(), route.label()), (index, declaration.label), "{path}");
        }
        for path in ["", "/", "/sitemaps", "/api/resolve/", "/LIVEZ", "other"] {
            let route = Route::of(path);
            assert_eq!((route.index(), route.label()), (ROUTES.len(), "other"), "{path}");
            assert_eq!(route.limit(), LimitClass::None);
        }
    }

    #[test]
    fn each_route_has_a_path_and_a_label_of_its_own() {
        let paths: HashSet<&str> = ROUTES.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), ROUTES.len());
        let labels: HashSet<&str> = route_labels().collect();
        assert_eq!(labels.len(), ROUTES.len() + 1);
        for route in &ROUTES {
            let label = route.label;
            assert!(label.len() > 1 && route.path.starts_with(label), "{}: {label}", route.path);
            assert!(!label.contains('{'), "{label}: a closed set of values");
        }
    }

    #[test]
    fn routes_that_respond_from_memory_have_no_limit() {
        for route in &ROUTES {
            let from_memory = matches!(route.handler, Handler::FromMemory(_));
            assert!(!from_memory || route.limit == LimitClass::None, "{}", route.path);
            let may_wait = matches!(route.handler, Handler::Either { .. });
            assert!(!may_wait || route.limit != LimitClass::None, "{}", route.path);
        }
    }

    #[test]
    fn memory_operation_of_resolve_serves_published_pathnames_alone() {
        let route = Route::of("/api/resolve");
        for (query, from_memory) in [
            (None, true),
            (Some("site=main&pathname=/x"), true),
            (Some("site=main&pathname=/x&status=published&documentId="), true),
            (Some("site=main&pathname=/x&status=live"), true),
            (Some("site=main&pathname=/x&status=draft&status=draft"), true),
            (Some("site=main&pathname=/x&status=draft"), false),
            (Some("site=main&pathname=/x&st%61tus=modified"), false),
            (Some("site=main&uid=api::a.a&documentId=d"), false),
            (Some("uid=api::a.a"), false),
        ] {
            let query = query.map(|query| format!("?{query}")).unwrap_or_default();
            let uri: Uri = format!("/api/resolve{query}").parse().expect("a target");
            assert_eq!(route.memory_operation(&uri).is_some(), from_memory, "{uri}");
        }
        let other = Uri::from_static("/api/frontend-url");
        assert!(Route::of(other.path()).memory_operation(&other).is_none());
    }

    #[test]
    fn admin_routes_have_paths_of_their_own_and_only_the_index_is_not_listed() {
        let paths: HashSet<&str> = ADMIN_ROUTES.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), ADMIN_ROUTES.len());
        for route in &ADMIN_ROUTES {
            assert_eq!(route.about.is_none(), route.path == "/", "{}", route.path);
        }
    }
}

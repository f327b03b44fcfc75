//! The routes of the public listener and all layers, in one file.
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

pub(super) mod admin;
mod declaration;

use std::any::Any;
use std::sync::Arc;

use axum::Router;
use axum::http::{HeaderValue, Uri};
use axum::response::IntoResponse;
use axum::routing::{MethodRouter, get, post};
use tower_http::catch_panic::CatchPanicLayer;

use super::load_shed::LimitClass;
use crate::app::App;
use crate::http::operations::{
    build_sitemap, changes, cms_hook, document, frontend_url, frontend_urls, get_content_type,
    health, openapi, publish_preview, resolve, sitemap_files, sites, tables,
};
use crate::http::response::error::ApiError;
pub(super) use declaration::FromMemory;
use declaration::{Declaration, Handler, Methods};

/// The routes of the public listener. A request whose path is none of them has the route [`UNKNOWN`].
static ROUTES: [Declaration; 20] = [
    Declaration {
        path: "/api/get-content-type",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::FromMemory(get_content_type::get),
    },
    Declaration {
        path: "/api/resolve",
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
        methods: Methods::Read,
        limit: LimitClass::Single,
        handler: Handler::Routed(|| get(frontend_url::get)),
    },
    Declaration {
        path: "/api/frontend-urls",
        methods: Methods::ReadAndPost,
        limit: LimitClass::Batch,
        handler: Handler::Routed(|| get(frontend_urls::get).post(frontend_urls::post)),
    },
    Declaration {
        path: "/api/document",
        methods: Methods::Read,
        limit: LimitClass::Single,
        handler: Handler::Routed(|| get(document::get)),
    },
    Declaration {
        path: "/api/publish-preview",
        methods: Methods::Read,
        limit: LimitClass::Single,
        handler: Handler::Routed(|| get(publish_preview::get)),
    },
    Declaration {
        path: "/api/sites",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(sites::get)),
    },
    Declaration {
        path: "/api/build-sitemap",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(build_sitemap::get)),
    },
    Declaration {
        path: "/api/pages",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::pages::get)),
    },
    Declaration {
        path: "/api/problems",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::problems::get)),
    },
    Declaration {
        path: "/api/misses",
        methods: Methods::ReadAndDelete,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::misses::get).delete(tables::misses::delete)),
    },
    Declaration {
        path: "/api/links",
        methods: Methods::ReadAndPost,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::links::get).post(tables::links::post)),
    },
    Declaration {
        path: "/api/redirects",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::redirects::get)),
    },
    Declaration {
        path: "/api/validations",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(tables::validations::get)),
    },
    Declaration {
        path: "/api/changes",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(changes::get)),
    },
    Declaration {
        path: "/sitemaps/{site}/{file}",
        methods: Methods::Read,
        limit: LimitClass::List,
        handler: Handler::Routed(|| get(sitemap_files::get)),
    },
    // No limit: a webhook must not be lost, and it waits only for its own body.
    Declaration {
        path: "/hooks/cms",
        methods: Methods::Post,
        limit: LimitClass::None,
        handler: Handler::Routed(|| post(cms_hook::post)),
    },
    Declaration {
        path: "/openapi.json",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(openapi::get)),
    },
    Declaration {
        path: "/livez",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(health::livez)),
    },
    Declaration {
        path: "/readyz",
        methods: Methods::Read,
        limit: LimitClass::None,
        handler: Handler::Routed(|| get(health::readyz)),
    },
];

/// The route of requests whose path matches no other route. Its path is its label alone.
static UNKNOWN: Declaration = Declaration {
    path: "other",
    methods: Methods::Read,
    limit: LimitClass::None,
    handler: Handler::Routed(MethodRouter::new),
};

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
        self.declaration.label()
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
        self.declaration.handler.memory_operation(uri)
    }
}

/// The labels of all routes in the order of the table, and [`UNKNOWN`].
pub(super) fn route_labels() -> impl Iterator<Item = &'static str> {
    ROUTES.iter().chain([&UNKNOWN]).map(Declaration::label)
}

/// The sitemap files of a site with several hosts. They belong to the route of all sitemap files.
const FILES_OF_HOST: &str = "/sitemaps/{site}/{host}/{file}";

/// The router: all routes with their methods.
pub(super) fn router(app: Arc<App>) -> Router {
    let add = |router: Router<Arc<App>>, route: &Declaration| {
        router.route(route.path, route.method_router())
    };
    let files = Route::of(FILES_OF_HOST).declaration.method_router();
    ROUTES
        .iter()
        .fold(Router::new(), add)
        .route(FILES_OF_HOST, files)
        .fallback(async || ApiError::missing("no_route"))
        .layer(CatchPanicLayer::custom(|_: Box<dyn Any + Send>| {
            ApiError::internal().into_response()
        }))
        .with_state(app)
}

/// The paths of all routes, each with its methods as `Allow` lists them.
#[cfg(test)]
pub(in crate::http) fn declared_methods() -> impl Iterator<Item = (&'static str, HeaderValue)> {
    let files = Route::of(FILES_OF_HOST).declaration.methods.allow();
    let declared = ROUTES.iter().map(|route| (route.path, route.methods.allow()));
    declared.chain([(FILES_OF_HOST, files)])
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
            assert_eq!((route.index(), route.label()), (index, declaration.label()), "{path}");
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
            let label = route.label();
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
}

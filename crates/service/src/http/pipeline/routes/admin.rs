//! The routes of the admin listener.

use std::sync::Arc;

use axum::http::HeaderValue;

use crate::app::App;
use crate::http::admin::{self, plain_text};
use crate::http::response::envelope::HttpResponse;

/// The routes, in the order of the index. They have only GET and HEAD. Their
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
        about: Some("the process responds"),
        page: |_| plain_text("ok\n".to_owned()),
    },
];

/// The methods of all routes of the admin listener.
pub(in crate::http::pipeline) const ADMIN_ALLOW: HeaderValue =
    HeaderValue::from_static("GET, HEAD");

/// A route of the admin listener.
struct AdminRoute {
    path: &'static str,
    /// Its line in the index; `None` for the index itself.
    about: Option<&'static str>,
    page: AdminPage,
}

/// Builds the response of a route of the admin listener from the app.
pub(in crate::http::pipeline) type AdminPage = fn(&Arc<App>) -> HttpResponse;

/// The page of a path of the admin listener.
pub(in crate::http::pipeline) fn admin_page(path: &str) -> Option<AdminPage> {
    ADMIN_ROUTES.iter().find(|route| route.path == path).map(|route| route.page)
}

fn admin_index(_: &Arc<App>) -> HttpResponse {
    let line = |route: &AdminRoute| Some(format!("{:9} {}\n", route.path, route.about?));
    plain_text(ADMIN_ROUTES.iter().filter_map(line).collect())
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn admin_routes_have_paths_of_their_own_and_only_the_index_is_not_listed() {
        let paths: HashSet<&str> = ADMIN_ROUTES.iter().map(|route| route.path).collect();
        assert_eq!(paths.len(), ADMIN_ROUTES.len());
        for route in &ADMIN_ROUTES {
            assert_eq!(route.about.is_none(), route.path == "/", "{}", route.path);
        }
    }
}

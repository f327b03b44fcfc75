//! A small frontend on loopback, with a page for each kind of result of a URL check.

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use tokio::net::TcpListener;

/// The `Location` of the page that has moved; relative, as on many sites.
const MOVED_TO: &str = "/en/articles/welcome";

/// Serves every path until the future is dropped or the process ends.
///
/// The last segment of the path decides: `moved` is a 301 with a `Location`, `missing` a 404,
/// `broken` a 500, `stalled` never responds, and everything else is a page.
///
/// # Errors
///
/// None: a failed accept is retried.
pub async fn serve(listener: TcpListener) -> std::io::Result<()> {
    axum::serve(listener, Router::new().fallback(page)).await
}

/// Responds according to the last segment of the path.
async fn page(uri: Uri) -> Response {
    let slug = uri.path().rsplit('/').next().unwrap_or_default();
    match slug {
        "moved" => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, MOVED_TO)]).into_response(),
        "missing" => text(StatusCode::NOT_FOUND, "There is no such page."),
        "broken" => text(StatusCode::INTERNAL_SERVER_ERROR, "This page is broken."),
        "stalled" => std::future::pending().await,
        _ => text(StatusCode::OK, "A page of the demo frontend."),
    }
}

/// A page with this text. Nothing of the request is in it, so nothing needs escaping.
fn text(status: StatusCode, text: &str) -> Response {
    let html = format!("<!doctype html><meta charset=utf-8><title>Demo</title><p>{text}</p>\n");
    (status, Html(html)).into_response()
}

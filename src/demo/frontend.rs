//! A small public front end on loopback, with one page for each way in which a page can answer.

use axum::Router;
use axum::http::{StatusCode, Uri, header};
use axum::response::{Html, IntoResponse, Response};
use tokio::net::TcpListener;

/// Where the page that has moved now is; its site writes it relative, as many do.
const MOVED_TO: &str = "/en/articles/welcome";

/// Serves every path until the future is dropped or the process ends.
///
/// The last segment of the path decides: `moved` is a 301 with a `Location`, `missing` a 404,
/// `broken` a 500, `stalled` never answers, and everything else is a page.
///
/// # Errors
///
/// None that ends it: a failed accept is tried again.
pub async fn serve(listener: TcpListener) -> std::io::Result<()> {
    axum::serve(listener, Router::new().fallback(page)).await
}

/// Answers as the last segment of the path says.
async fn page(uri: Uri) -> Response {
    let slug = uri.path().rsplit('/').next().unwrap_or_default();
    match slug {
        "moved" => (StatusCode::MOVED_PERMANENTLY, [(header::LOCATION, MOVED_TO)]).into_response(),
        "missing" => text(StatusCode::NOT_FOUND, "There is no such page."),
        "broken" => text(StatusCode::INTERNAL_SERVER_ERROR, "This page is broken."),
        "stalled" => std::future::pending().await,
        _ => text(StatusCode::OK, "A page of the demo front end."),
    }
}

/// A page that says `words`. Nothing of the request is echoed, so nothing needs escaping.
fn text(status: StatusCode, words: &str) -> Response {
    let html = format!("<!doctype html><meta charset=utf-8><title>Demo</title><p>{words}</p>\n");
    (status, Html(html)).into_response()
}

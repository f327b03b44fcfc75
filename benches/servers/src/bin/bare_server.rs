//! A bare axum server that answers everything with the bytes of a file: what `scripts/bench_http.py`
//! and others measure the service against.
//!
//! `bare_server FILE [CONTENT_TYPE]`; the bound address is the first line on stdout.

use axum::Router;
use axum::body::Bytes;
use axum::http::header::CONTENT_TYPE;
use axum::routing::{get, post};
use tokio::net::TcpListener;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let file = arguments.next().ok_or("bare_server FILE [CONTENT_TYPE]")?;
    let content_type: &'static str =
        arguments.next().unwrap_or("application/json".to_owned()).leak();
    let body = Bytes::from(std::fs::read(file)?);
    let answer = move || std::future::ready(([(CONTENT_TYPE, content_type)], body.clone()));
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    println!("{}", listener.local_addr()?);
    let posted = answer.clone();
    let router = Router::new()
        .route("/api/get-content-type", get(answer))
        // The body is read, but not parsed.
        .route("/api/frontend-urls", post(move |_: Bytes| posted()));
    axum::serve(listener, router).await?;
    Ok(())
}

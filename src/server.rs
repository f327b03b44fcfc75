//! The public port: an accept loop on hyper's own HTTP/1 connections.
//!
//! Not `axum::serve`: that has no header timer, so that a silent client stays for ever and holds
//! up the shutdown, and it speaks HTTP/2 to those who begin with it.

mod framing;

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::TRANSFER_ENCODING;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{sleep, timeout};

use crate::http::{AnswerBody, Service};
use framing::{Framing, Watched};

/// How long a request's head may take (D3); hyper also counts it while a kept connection idles.
const HEAD_TIMEOUT: Duration = Duration::from_secs(10);
/// The largest request head, in bytes (D3).
const MAX_HEAD: usize = 32 * 1024;
/// The most header fields of a request (D3).
const MAX_HEADERS: usize = 64;
/// How long requests in flight may go on after the stop; orchestrators kill after 30 s.
const GRACE: Duration = Duration::from_secs(25);
/// The pause after a failed accept: without file descriptors the next one fails as well.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Serves until `shutdown` is ready, then lets requests in flight finish, 25 s at most.
pub async fn serve(listener: TcpListener, service: Service, shutdown: impl Future<Output = ()>) {
    let connections = GracefulShutdown::new();
    let mut shutdown = std::pin::pin!(shutdown);
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => connect(stream, &service, &connections),
                Err(error) => pause(&error).await,
            },
            () = &mut shutdown => break,
        }
    }
    drop(listener);
    if timeout(GRACE, connections.shutdown()).await.is_err() {
        tracing::warn!("requests were still in flight at the end of the grace period");
    }
}

async fn pause(error: &io::Error) {
    tracing::warn!(%error, "a connection could not be accepted");
    sleep(ACCEPT_PAUSE).await;
}

fn connect(stream: TcpStream, service: &Service, connections: &GracefulShutdown) {
    // Answers are written whole: waiting for more only delays them.
    let _ = stream.set_nodelay(true);
    let (stream, framing) = Watched::new(stream);
    let service = service.clone();
    let service = service_fn(move |request| answer(service.clone(), request, framing.clone()));
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIMEOUT)
        .max_buf_size(MAX_HEAD)
        .max_header_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .writev(false)
        .serve_connection(TokioIo::new(stream), service);
    let connection = connections.watch(connection);
    tokio::spawn(async move {
        // A client that leaves or talks nonsense is its own affair.
        if let Err(error) = connection.await {
            tracing::debug!(%error, "a connection ended early");
        }
    });
}

async fn answer(
    service: Service,
    request: Request<Incoming>,
    framing: Framing,
) -> Result<Response<AnswerBody>, Infallible> {
    let smuggling = request.headers().contains_key(TRANSFER_ENCODING) && framing.was_doubled();
    Ok(if smuggling { service.two_framings(&request) } else { service.answer(request).await })
}

//! The second listener: what goes on, for scrapers and for who is on call.
//!
//! It answers on an address of its own, and as long as the process lives: who watches wants to see
//! the stop as well.

mod ready;
mod rules;
mod states;

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::header::{ALLOW, CACHE_CONTROL, CONTENT_TYPE, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderMap, HeaderValue, Method, Request, StatusCode};
use http_body_util::Full;
use hyper::body::Incoming;

use super::edge::refuse;
use super::envelope::{Answer, json, whole};
use super::error::{ApiError, two_framings};
use super::service::{Answerer, Answering, Service};
use crate::metrics;

/// What may be asked here.
const ALLOWED: HeaderValue = HeaderValue::from_static("GET, HEAD");
const TEXT: HeaderValue = HeaderValue::from_static("text/plain; charset=utf-8");

const INDEX: &str = "\
/metrics  counters and states, for Prometheus
/readyz   whether the service takes new work, and how its parts are, as JSON
/rules    the rules in use, in the order of evaluation, as JSON
/livez    the process answers
";

/// Answers who watches a service.
#[derive(Clone)]
pub struct Admin {
    service: Service,
}

impl Admin {
    /// For whatever app the service uses when somebody asks.
    #[must_use]
    pub fn new(service: Service) -> Self {
        Self { service }
    }

    fn respond<B>(&self, request: &Request<B>) -> Result<Answer, ApiError> {
        refuse(request)?;
        let app = self.service.app();
        let page = match request.uri().path() {
            "/" => text(TEXT, INDEX.to_owned()),
            "/livez" => text(TEXT, "ok\n".to_owned()),
            "/readyz" => ready::answer(&app),
            "/rules" => json(StatusCode::OK, rules::text(&app.sites), HeaderMap::new()),
            "/metrics" => text(
                HeaderValue::from_static(metrics::CONTENT_TYPE),
                metrics::encode(move |encoder| states::write(&app, encoder)),
            ),
            _ => return Err(ApiError::unknown_route()),
        };
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            Ok(page)
        } else {
            Err(ApiError::only_read())
        }
    }
}

impl Answerer for Admin {
    fn answer<B>(&self, request: Request<B>) -> Answering
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let answer = catch_unwind(AssertUnwindSafe(|| self.respond(&request)));
        Answering::Now(dressed(match answer {
            Ok(answer) => answer.unwrap_or_else(ApiError::whole),
            Err(_) => ApiError::internal().whole(),
        }))
    }

    fn two_framings(&self, _: &Request<Incoming>) -> Answer {
        dressed(two_framings())
    }
}

fn text(content_type: HeaderValue, text: String) -> Answer {
    let mut answer = whole(StatusCode::OK, Full::new(Bytes::from(text)), HeaderMap::new());
    answer.headers_mut().insert(CONTENT_TYPE, content_type);
    answer
}

fn dressed(mut answer: Answer) -> Answer {
    let status = answer.status();
    let headers = answer.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, ALLOWED);
    }
    answer
}

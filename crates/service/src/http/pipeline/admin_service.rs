//! The admin listener's request handler. It handles requests as long as the process lives: the
//! shutdown is watched there too.

use std::panic::{AssertUnwindSafe, catch_unwind};

use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::header::{ALLOW, X_CONTENT_TYPE_OPTIONS};
use axum::http::{HeaderValue, Method, Request, StatusCode};

use super::request_check::check_request;
use super::routes::admin::{ADMIN_ALLOW, admin_page};
use super::service::{RequestHandler, ResponseFuture, Service};
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::{ApiError, two_framings};
use crate::http::response::insert_no_store;

/// Handles requests with the app that a [`Service`] uses at that time.
#[derive(Clone)]
pub struct AdminService {
    service: Service,
}

impl AdminService {
    /// The pages about a service.
    pub fn new(service: Service) -> Self {
        Self { service }
    }

    fn respond<B>(&self, request: &Request<B>) -> Result<HttpResponse, ApiError> {
        check_request(request)?;
        let page = admin_page(request.uri().path()).ok_or_else(|| ApiError::missing("no_route"))?;
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            Ok(page(&self.service.app()))
        } else {
            Err(ApiError::method_not_allowed("GET and HEAD"))
        }
    }
}

impl RequestHandler for AdminService {
    fn handle<B>(&self, request: Request<B>) -> ResponseFuture
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let response = catch_unwind(AssertUnwindSafe(|| self.respond(&request)));
        let response = response.unwrap_or_else(|_| Err(ApiError::internal()));
        let response = response.unwrap_or_else(ApiError::into_http_response);
        ResponseFuture::Ready(with_headers(response))
    }

    fn refuse_two_framings<B>(&self, _: &Request<B>) -> HttpResponse {
        with_headers(two_framings())
    }
}

/// Adds the headers that each response has.
fn with_headers(mut response: HttpResponse) -> HttpResponse {
    let status = response.status();
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    insert_no_store(headers);
    if status == StatusCode::METHOD_NOT_ALLOWED {
        headers.insert(ALLOW, ADMIN_ALLOW);
    }
    response
}

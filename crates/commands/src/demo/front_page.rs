//! The demo's page at `/`, which links each operation. The service itself has no page there.

use askama::Template;
use axum::BoxError;
use axum::body::{Bytes, HttpBody};
use axum::http::header::{CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE};
use axum::http::{HeaderValue, Method, Request};
use http_body_util::{Either, Full};

use super::{Addresses, OPERATIONS, Operation};
use frontend_map_service::http::{HttpResponse, RequestHandler, ResponseFuture, Service};

/// Permits the page's inline style and its form; the page loads nothing.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; form-action 'self'; \
    base-uri 'none'; frame-ancestors 'none'";

#[derive(Template)]
#[template(path = "demo.html")]
struct Page<'p> {
    style: &'static str,
    addresses: &'p Addresses,
    operations: &'static [Operation],
    /// Content type and template.
    rules: Vec<(String, String)>,
}

/// Handles requests as the service does, except for `/`.
#[derive(Clone)]
pub(super) struct WithFrontPage {
    service: Service,
    page: Bytes,
}

impl WithFrontPage {
    /// Adds the page to the service at these addresses.
    pub(super) fn new(service: Service, addresses: &Addresses) -> Self {
        let app = service.app();
        let rules = app.sites.iter().flat_map(|site| site.rules.rules());
        let rules =
            rules.map(|rule| (rule.content_type.to_string(), rule.first_template().to_string()));
        let style = include_str!("front_page/page.css");
        let page = Page { style, addresses, operations: &OPERATIONS, rules: rules.collect() };
        let page = page.render().expect("a page is rendered to memory");
        Self { page: page.into(), service }
    }

    fn page(&self) -> HttpResponse {
        let mut response = HttpResponse::new(Either::Left(Full::new(self.page.clone())));
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_SECURITY_POLICY, HeaderValue::from_static(POLICY));
        // The next demo at this port may be another version.
        headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
        response
    }
}

impl RequestHandler for WithFrontPage {
    fn handle<B>(&self, request: Request<B>) -> ResponseFuture
    where
        B: HttpBody<Data = Bytes> + Send + 'static,
        B::Error: Into<BoxError>,
    {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_read && request.uri().path() == "/" {
            return ResponseFuture::Ready(self.page());
        }
        self.service.handle(request)
    }

    fn refuse_two_framings<B>(&self, request: &Request<B>) -> HttpResponse {
        self.service.refuse_two_framings(request)
    }
}

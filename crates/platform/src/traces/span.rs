//! Spans: of a request to the service, of a request that the service sends, and of background work.

use futures::future::Either;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::TRACES;

/// A sampled span. It ends when it is dropped.
#[derive(Debug)]
pub struct Span(Context);

impl Span {
    fn start(name: &'static str, kind: SpanKind, parent: &Context) -> Option<Self> {
        let tracer = &TRACES.get()?.tracer;
        let span = tracer.span_builder(name).with_kind(kind);
        let span = parent.with_span(tracer.build_with_context(span, parent));
        span.span().is_recording().then_some(Self(span))
    }

    /// Sets an attribute. Its value must come from a closed set or be capped in length, and never
    /// come from a document or a query.
    pub fn set(&self, key: &'static str, value: impl Into<Value>) {
        self.0.span().set_attribute(KeyValue::new(key, value));
    }

    /// Sets the status to error.
    pub fn fail(&self) {
        self.0.span().set_status(Status::error(""));
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.0.span().end();
    }
}

/// The span of a request to the service, a child of the client's span where `traceparent` is valid
/// (W3C Trace Context). Neither its name nor the header is read while tracing is off.
pub fn request_span<'h>(
    route: impl FnOnce() -> &'static str,
    traceparent: impl FnOnce() -> Option<&'h str>,
) -> Option<Span> {
    TRACES.get()?;
    let sent = TraceParent(traceparent());
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &sent);
    Span::start(route(), SpanKind::Server, &parent)
}

/// The root span of background work.
pub fn background_span(name: &'static str) -> Option<Span> {
    Span::start(name, SpanKind::Internal, &Context::new())
}

/// The span of a request that the service sends, where the current span is sampled.
pub fn client_span(name: &'static str) -> Option<Span> {
    TRACES.get()?;
    let parent = Context::current();
    if !parent.has_active_span() {
        return None;
    }
    Span::start(name, SpanKind::Client, &parent)
}

/// Runs a future with `span` as the current span.
pub fn in_span<F: Future>(span: Option<&Span>, future: F) -> impl Future<Output = F::Output> {
    match span {
        Some(span) => Either::Left(future.with_context(span.0.clone())),
        None => Either::Right(future),
    }
}

/// Runs a future, as a task for example, with the current span of the caller.
pub fn in_current_span<F: Future>(future: F) -> impl Future<Output = F::Output> {
    match TRACES.get() {
        Some(_) => Either::Left(future.with_current_context()),
        None => Either::Right(future),
    }
}

/// The client's `traceparent`. The service passes neither it nor `tracestate` on, and ignores the
/// latter: a text of the client's length would stay in memory until the collector takes the span.
struct TraceParent<'a>(Option<&'a str>);

impl Extractor for TraceParent<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.filter(|_| key == "traceparent")
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}

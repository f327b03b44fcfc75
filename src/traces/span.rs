//! Spans: of a request, of what it waits for, and of what goes on by itself.

use futures::future::Either;
use opentelemetry::propagation::{Extractor, TextMapPropagator};
use opentelemetry::trace::{FutureExt, SpanKind, Status, TraceContextExt, Tracer};
use opentelemetry::{Context, KeyValue, Value};
use opentelemetry_sdk::propagation::TraceContextPropagator;

use super::TRACES;

/// A span that is recorded. It ends when it is dropped.
#[derive(Debug)]
pub struct Span(Context);

impl Span {
    fn begin(name: &'static str, kind: SpanKind, parent: &Context) -> Option<Self> {
        let tracer = &TRACES.get()?.tracer;
        let span = tracer.span_builder(name).with_kind(kind);
        let span = parent.with_span(tracer.build_with_context(span, parent));
        span.span().is_recording().then_some(Self(span))
    }

    /// Notes something about it. Values come from closed sets, or are capped: never what a document
    /// or a query holds.
    pub fn note(&self, key: &'static str, value: impl Into<Value>) {
        self.0.span().set_attribute(KeyValue::new(key, value));
    }

    /// Notes that it came to nothing.
    pub fn fail(&self) {
        self.0.span().set_status(Status::error(""));
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        self.0.span().end();
    }
}

/// The span of a caller's request, below the caller's own where a valid `traceparent` (W3C Trace
/// Context) names it, which is looked for when there are traces at all.
#[must_use]
pub fn request<'h>(
    route: &'static str,
    traceparent: impl FnOnce() -> Option<&'h str>,
) -> Option<Span> {
    TRACES.get()?;
    let sent = Caller(traceparent());
    let parent = TraceContextPropagator::new().extract_with_context(&Context::new(), &sent);
    Span::begin(route, SpanKind::Server, &parent)
}

/// The span of something that goes on by itself.
#[must_use]
pub fn work(name: &'static str) -> Option<Span> {
    Span::begin(name, SpanKind::Internal, &Context::new())
}

/// The span of a request of ours, where what waits for it is traced.
#[must_use]
pub fn child(name: &'static str) -> Option<Span> {
    TRACES.get()?;
    let parent = Context::current();
    if !parent.has_active_span() {
        return None;
    }
    Span::begin(name, SpanKind::Client, &parent)
}

/// Has what goes on in a future belong to a span.
pub fn within<F: Future>(span: Option<&Span>, future: F) -> impl Future<Output = F::Output> {
    match span {
        Some(span) => Either::Left(future.with_context(span.0.clone())),
        None => Either::Right(future),
    }
}

/// Has what goes on in a future belong to the span in which this is called, for tasks.
pub fn carried<F: Future>(future: F) -> impl Future<Output = F::Output> {
    match TRACES.get() {
        Some(_) => Either::Left(future.with_current_context()),
        None => Either::Right(future),
    }
}

/// What a caller says of its trace. What vendors add in `tracestate` would wait in our memory for
/// the collector, as long as the caller likes, and nobody follows us in the trace who needs it.
struct Caller<'a>(Option<&'a str>);

impl Extractor for Caller<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        self.0.filter(|_| key == "traceparent")
    }

    fn keys(&self) -> Vec<&str> {
        vec!["traceparent"]
    }
}

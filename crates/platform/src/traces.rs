//! Traces of requests, exported by OTLP over HTTP; without a collector in the settings there are no
//! spans.
//!
//! Tracing is set up once, for the life of the process. It never blocks a request: a span that the
//! collector does not accept in time is dropped and counted.
//!
//! - **Traces** use OpenTelemetry's own API instead of the log's spans, so that the log's filter
//!   and the traces do not depend on each other. Traces are off by default; a pathname request
//!   then reads one word that never changes.

mod collector;
mod span;
mod span_queue;

use std::sync::{Arc, OnceLock};
use std::time::Duration;

use opentelemetry::KeyValue;
use opentelemetry::trace::TracerProvider;
use opentelemetry_otlp::{
    ExporterBuildError, Protocol, RetryPolicy, SpanExporter, WithExportConfig, WithHttpConfig,
};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{BatchConfigBuilder, Sampler, SdkTracer, SdkTracerProvider};
use tokio::time::Instant;

use self::collector::Collector;
use self::span_queue::SpanQueue;
use crate::http_client::BuildError;
use crate::metrics::Metrics;

pub use span::{Span, background_span, client_span, in_current_span, in_span, request_span};

/// The name of the service in traces, which `docs/operations/` states.
const SERVICE_NAME: &str = "frontend-map";
/// Spans in the queue, of some 600 bytes each; further ones are dropped.
const MAX_QUEUED_SPANS: usize = 2_048;
/// Spans in one export.
const MAX_BATCH: usize = 512;
/// How long a span waits for more to make a batch.
const BATCH_DELAY: Duration = Duration::from_secs(2);
/// How long the shutdown waits for the last export.
const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(2);

/// Never dropped: the drop of the provider would block until the last export.
static TRACES: OnceLock<Traces> = OnceLock::new();

struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// The collector, and the share of sampled traces.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The URL for exports, with its path.
    pub url: String,
    /// The share of the traces that start here that is sampled, from 0 to 1. A trace that a client
    /// started is sampled when the client says so.
    pub sample_ratio: f64,
}

/// Why tracing cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The HTTP client cannot be built.
    #[error("traces: {0}")]
    Client(#[from] BuildError),
    /// The exporter refuses its settings, such as an `OTEL_…` variable.
    #[error("traces: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// Sets up tracing. Exports are sent by the current runtime.
///
/// # Errors
/// [`StartError`], which depends on the environment alone, not on the collector.
pub fn start(settings: &Settings, metrics: &Arc<Metrics>) -> Result<(), StartError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(&settings.url)
        .with_timeout(collector::TIMEOUT)
        // A retry would sleep in the only exporting thread, for as long as the collector says.
        .with_retry_policy(RetryPolicy::disabled())
        .with_http_client(Collector::new()?)
        .build()?;
    let batches = BatchConfigBuilder::default()
        .with_max_export_batch_size(MAX_BATCH)
        .with_scheduled_delay(BATCH_DELAY);
    let resource = Resource::builder()
        .with_service_name(SERVICE_NAME)
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let ratio = Sampler::TraceIdRatioBased(settings.sample_ratio);
    let queue = SpanQueue::new(exporter, MAX_QUEUED_SPANS, batches, Arc::clone(metrics));
    let provider = SdkTracerProvider::builder()
        .with_span_processor(queue)
        .with_sampler(Sampler::ParentBased(Box::new(ratio)))
        .with_resource(resource.build())
        .build();
    let tracer = provider.tracer(SERVICE_NAME);
    // Set once: the process calls this at its start alone.
    let _ = TRACES.set(Traces { provider, tracer });
    Ok(())
}

/// Exports the queued spans, for at most two seconds and not beyond `deadline`. Spans that
/// end later are dropped.
pub async fn shutdown(deadline: Instant) {
    if let Some(traces) = TRACES.get() {
        let export =
            tokio::task::spawn_blocking(|| traces.provider.shutdown_with_timeout(SHUTDOWN_TIMEOUT));
        let deadline = deadline.min(Instant::now() + SHUTDOWN_TIMEOUT);
        // A failed or late export has been logged and counted.
        let _ = tokio::time::timeout_at(deadline, export).await;
    }
}

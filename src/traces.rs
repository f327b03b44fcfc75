//! Traces of requests, for a collector that takes OTLP over HTTP; without one in the settings there
//! are none, and whoever asks for a span gets none.
//!
//! Like the log they are set up once, for the life of the process. Nobody waits for them: what the
//! collector does not take in time is dropped, and counted.

mod collector;
mod queue;
mod span;

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
use self::queue::Queue;
use crate::metrics::Metrics;
use crate::outgoing::BuildError;

pub use span::{Span, carried, child, request, within, work};

/// How many spans wait for the collector, some 600 bytes each; what comes then is dropped.
const QUEUE: usize = 2_048;
/// How many of them it gets at a time, at the latest after this.
const BATCH: usize = 512;
const DELAY: Duration = Duration::from_secs(2);
/// How long the stop waits for the collector.
const LAST: Duration = Duration::from_secs(2);

/// Dropping it would wait for the collector, so it lives as long as the process.
static TRACES: OnceLock<Traces> = OnceLock::new();

struct Traces {
    provider: SdkTracerProvider,
    tracer: SdkTracer,
}

/// Where traces go, and how many.
#[derive(Clone, Debug, PartialEq)]
pub struct Settings {
    /// The URL that takes them, with its path.
    pub url: String,
    /// Which part of the traces that begin here is taken, from 0 to 1. Those of a caller are taken
    /// when it takes them.
    pub sample_ratio: f64,
}

/// Why there are no traces although the settings want them.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// There is no client.
    #[error("traces: {0}")]
    Client(#[from] BuildError),
    /// The exporter refuses what variables of its own say.
    #[error("traces: {0}")]
    Exporter(#[from] ExporterBuildError),
}

/// Has requests traced from now on. They are sent by the runtime in which it is called.
///
/// # Errors
/// [`StartError`], which depends on the environment alone, not on the collector.
pub fn start(settings: &Settings, metrics: &Arc<Metrics>) -> Result<(), StartError> {
    let exporter = SpanExporter::builder()
        .with_http()
        .with_protocol(Protocol::HttpBinary)
        .with_endpoint(&settings.url)
        .with_timeout(collector::TIMEOUT)
        // One would sleep in the only thread that sends, for as long as the collector says.
        .with_retry_policy(RetryPolicy::disabled())
        .with_http_client(Collector::new()?)
        .build()?;
    let batches =
        BatchConfigBuilder::default().with_max_export_batch_size(BATCH).with_scheduled_delay(DELAY);
    let resource = Resource::builder()
        .with_service_name(env!("CARGO_PKG_NAME"))
        .with_attribute(KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    let ratio = Sampler::TraceIdRatioBased(settings.sample_ratio);
    let provider = SdkTracerProvider::builder()
        .with_span_processor(Queue::new(exporter, QUEUE, batches, Arc::clone(metrics)))
        .with_sampler(Sampler::ParentBased(Box::new(ratio)))
        .with_resource(resource.build())
        .build();
    let tracer = provider.tracer(env!("CARGO_PKG_NAME"));
    let _ = TRACES.set(Traces { provider, tracer });
    Ok(())
}

/// Hands out what is left, but waits for two seconds at most, and not beyond `end`. Spans that end
/// later are dropped.
pub async fn end(end: Instant) {
    if let Some(traces) = TRACES.get() {
        let left = tokio::task::spawn_blocking(|| traces.provider.shutdown_with_timeout(LAST));
        let _ = tokio::time::timeout_at(end.min(Instant::now() + LAST), left).await;
    }
}

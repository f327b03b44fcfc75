//! The SDK's batch processor with a count of the spans that it drops.
//!
//! The processor drops a span when its queue is full, and counts these for its own log alone. So the
//! queued spans are counted in front of it, and a span that would find the queue full is dropped and
//! counted here.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::AcqRel};
use std::time::Duration;

use opentelemetry::Context;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, Span, SpanData, SpanExporter, SpanProcessor,
};

use crate::metrics::Metrics;

/// A batch processor with a bounded queue.
#[derive(Debug)]
pub(super) struct SpanQueue {
    max_queued: usize,
    counts: Arc<Counts>,
    processor: BatchSpanProcessor,
}

#[derive(Debug)]
struct Counts {
    queued: AtomicUsize,
    metrics: Arc<Metrics>,
}

/// An exporter that counts the spans which leave the queue, and those of failed exports.
#[derive(Debug)]
struct CountingExporter<E> {
    exporter: E,
    counts: Arc<Counts>,
}

impl SpanQueue {
    /// A queue of at most `max_queued` spans, exported in `batches`.
    pub(super) fn new(
        exporter: impl SpanExporter + 'static,
        max_queued: usize,
        batches: BatchConfigBuilder,
        metrics: Arc<Metrics>,
    ) -> Self {
        let counts = Arc::new(Counts { queued: AtomicUsize::new(0), metrics });
        let exporter = CountingExporter { exporter, counts: Arc::clone(&counts) };
        let batches = batches.with_max_queue_size(max_queued).build();
        let processor = BatchSpanProcessor::new(exporter, batches);
        Self { max_queued, counts, processor }
    }
}

impl SpanProcessor for SpanQueue {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        self.processor.on_start(span, cx);
    }

    fn on_end(&self, span: SpanData) {
        if self.counts.queued.fetch_add(1, AcqRel) < self.max_queued {
            return self.processor.on_end(span);
        }
        self.counts.queued.fetch_sub(1, AcqRel);
        self.counts.metrics.traces_dropped.inc();
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.processor.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.processor.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.processor.set_resource(resource);
    }
}

impl<E: SpanExporter> SpanExporter for CountingExporter<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.counts.queued.fetch_sub(spans, AcqRel);
        let exported = self.exporter.export(batch).await;
        if exported.is_err() {
            self.counts.metrics.traces_dropped.inc_by(spans as u64);
        }
        exported
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.exporter.shutdown_with_timeout(timeout)
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.exporter.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.exporter.set_resource(resource);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::{Mutex, mpsc};

    use opentelemetry::trace::{Span as _, Tracer, TracerProvider};
    use opentelemetry_sdk::error::OTelSdkError;
    use opentelemetry_sdk::trace::SdkTracerProvider;

    use super::*;

    /// Reports the size of each batch, and exports or fails when the test says so.
    #[derive(Debug)]
    struct ScriptedExporter {
        began: mpsc::Sender<usize>,
        takes: Mutex<mpsc::Receiver<bool>>,
    }

    impl SpanExporter for ScriptedExporter {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            let _ = self.began.send(batch.len());
            let takes = self.takes.lock().unwrap().recv();
            if takes == Ok(true) { Ok(()) } else { Err(OTelSdkError::AlreadyShutdown) }
        }
    }

    #[test]
    fn spans_beyond_the_queue_and_spans_of_failed_exports_are_counted_as_dropped() {
        let (began, begins) = mpsc::channel();
        let (take, takes) = mpsc::channel();
        let exporter = ScriptedExporter { began, takes: Mutex::new(takes) };
        let metrics: Arc<Metrics> = Arc::default();
        let batches = BatchConfigBuilder::default()
            .with_max_export_batch_size(1)
            .with_scheduled_delay(Duration::from_hours(1));
        let queue = SpanQueue::new(exporter, 4, batches, Arc::clone(&metrics));
        let provider = SdkTracerProvider::builder().with_span_processor(queue).build();
        let tracer = provider.tracer("");
        let end = || tracer.start("").end();
        let dropped = || metrics.traces_dropped.get();
        end();
        assert_eq!(begins.recv(), Ok(1));
        (0..4).for_each(|_| end());
        assert_eq!(dropped(), 0, "one is being exported, and four are queued");
        (0..3).for_each(|_| end());
        assert_eq!(dropped(), 3);
        take.send(false).unwrap();
        assert_eq!(begins.recv(), Ok(1));
        assert_eq!(dropped(), 4, "with the one whose export failed");
        end();
        assert_eq!(dropped(), 4, "the queue has room again");
        take.send(true).unwrap();
        assert_eq!(begins.recv(), Ok(1));
        assert_eq!(dropped(), 4, "it was exported");
        drop(take);
    }
}

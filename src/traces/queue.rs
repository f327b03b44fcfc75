//! Where spans wait for the collector, and how many of them it never gets.
//!
//! The SDK's own queue does not tell what it drops. So what waits is counted in front of it, and
//! it is never full.

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

/// Spans that wait.
#[derive(Debug)]
pub(super) struct Queue {
    most: usize,
    counts: Arc<Counts>,
    batches: BatchSpanProcessor,
}

#[derive(Debug)]
struct Counts {
    waiting: AtomicUsize,
    metrics: Arc<Metrics>,
}

/// The way out of the queue.
#[derive(Debug)]
struct Counted<E> {
    exporter: E,
    counts: Arc<Counts>,
}

impl Queue {
    /// So many spans wait at most, and are handed out in such batches.
    pub(super) fn new(
        exporter: impl SpanExporter + 'static,
        most: usize,
        batches: BatchConfigBuilder,
        metrics: Arc<Metrics>,
    ) -> Self {
        let counts = Arc::new(Counts { waiting: AtomicUsize::new(0), metrics });
        let exporter = Counted { exporter, counts: Arc::clone(&counts) };
        let batches = batches.with_max_queue_size(most).build();
        Self { most, counts, batches: BatchSpanProcessor::new(exporter, batches) }
    }
}

impl SpanProcessor for Queue {
    fn on_start(&self, span: &mut Span, cx: &Context) {
        self.batches.on_start(span, cx);
    }

    fn on_end(&self, span: SpanData) {
        if self.counts.waiting.fetch_add(1, AcqRel) < self.most {
            return self.batches.on_end(span);
        }
        self.counts.waiting.fetch_sub(1, AcqRel);
        self.counts.metrics.traces_dropped.inc();
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.batches.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.batches.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.batches.set_resource(resource);
    }
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let spans = batch.len();
        self.counts.waiting.fetch_sub(spans, AcqRel);
        let taken = self.exporter.export(batch).await;
        if taken.is_err() {
            self.counts.metrics.traces_dropped.inc_by(spans as u64);
        }
        taken
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

    /// Takes a batch, or not, when it is told.
    #[derive(Debug)]
    struct Slow {
        began: mpsc::Sender<usize>,
        takes: Mutex<mpsc::Receiver<bool>>,
    }

    impl SpanExporter for Slow {
        async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
            let _ = self.began.send(batch.len());
            let takes = self.takes.lock().unwrap().recv();
            if takes == Ok(true) { Ok(()) } else { Err(OTelSdkError::AlreadyShutdown) }
        }
    }

    #[test]
    fn what_finds_no_room_and_what_is_not_taken_is_counted() {
        let (began, begins) = mpsc::channel();
        let (take, takes) = mpsc::channel();
        let slow = Slow { began, takes: Mutex::new(takes) };
        let metrics: Arc<Metrics> = Arc::default();
        let batches = BatchConfigBuilder::default()
            .with_max_export_batch_size(1)
            .with_scheduled_delay(Duration::from_hours(1));
        let queue = Queue::new(slow, 4, batches, Arc::clone(&metrics));
        let provider = SdkTracerProvider::builder().with_span_processor(queue).build();
        let tracer = provider.tracer("");
        let end = || tracer.start("").end();
        let dropped = || metrics.traces_dropped.get();
        end();
        assert_eq!(begins.recv(), Ok(1));
        (0..4).for_each(|_| end());
        assert_eq!(dropped(), 0, "one is on its way, and four wait");
        (0..3).for_each(|_| end());
        assert_eq!(dropped(), 3);
        take.send(false).unwrap();
        assert_eq!(begins.recv(), Ok(1));
        assert_eq!(dropped(), 4, "with the one that was not taken");
        end();
        assert_eq!(dropped(), 4, "there is room again");
        take.send(true).unwrap();
        assert_eq!(begins.recv(), Ok(1));
        assert_eq!(dropped(), 4, "it was taken");
        drop(take);
    }
}

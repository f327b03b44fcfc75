//! The text form: what a scraper reads.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, MetricEncoder, NoLabelSet, text};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::{Closed, Count, Counts, Histogram};

/// The media type of a page.
pub const CONTENT_TYPE: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

/// What all names begin with but those that are the same for every process.
const PREFIX: &str = "frontend_map_";

/// Labels with their values.
type Labels<'l, const N: usize> = [(&'l str, &'l str); N];

/// A page in the making. Names are without their prefix, and those of counters without `_total`.
pub struct Page<'p> {
    encoder: DescriptorEncoder<'p>,
}

/// The page that `write` writes.
#[must_use]
pub fn page(write: impl Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(Writer(write)));
    let mut page = String::new();
    // A text takes whatever comes.
    let _ = text::encode(&mut page, &registry);
    page
}

struct Writer<W>(W);

impl<W> fmt::Debug for Writer<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

impl<W> Collector for Writer<W>
where
    W: Fn(&mut Page<'_>) -> fmt::Result + Send + Sync + 'static,
{
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(&mut Page { encoder })
    }
}

impl Page<'_> {
    /// A counter without labels.
    pub fn one_count(&mut self, name: &str, help: &str, count: &Count) -> fmt::Result {
        self.count(name, help, [([], count.get())])
    }

    /// A counter with one label, whose values are a closed set.
    pub fn counts<L: Closed>(
        &mut self,
        name: &str,
        help: &str,
        label: &str,
        counts: &Counts<L>,
    ) -> fmt::Result {
        self.count(name, help, counts.iter().map(|(value, count)| ([(label, value.name())], count)))
    }

    /// A counter.
    pub fn count<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, u64)>,
    ) -> fmt::Result {
        self.family(&own(name), help, MetricType::Counter, samples, |metric, value| {
            metric.encode_counter::<NoLabelSet, u64, f64>(&value, None)
        })
    }

    /// A number that also shrinks.
    pub fn gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.foreign_gauge(&own(name), help, samples)
    }

    /// How long things took.
    pub fn histogram<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, Histogram)>,
    ) -> fmt::Result {
        self.family(&own(name), help, MetricType::Histogram, samples, |metric, value| {
            let buckets = value.buckets();
            metric.encode_histogram::<NoLabelSet>(value.seconds(), value.count(), &buckets, None)
        })
    }

    /// A gauge whose name is the same for every process.
    pub(super) fn foreign_gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Gauge, samples, |metric, value| {
            metric.encode_gauge(&value)
        })
    }

    /// A counter of seconds whose name is the same for every process.
    pub(super) fn foreign_count(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.family(name, help, MetricType::Counter, [([], value)], |metric, value| {
            metric.encode_counter::<NoLabelSet, f64, f64>(&value, None)
        })
    }

    fn family<'l, const N: usize, V>(
        &mut self,
        name: &str,
        help: &str,
        kind: MetricType,
        samples: impl IntoIterator<Item = (Labels<'l, N>, V)>,
        write: impl Fn(&mut MetricEncoder<'_>, V) -> fmt::Result,
    ) -> fmt::Result {
        let mut family = self.encoder.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in samples {
            if N == 0 {
                write(&mut family, value)?;
            } else {
                write(&mut family.encode_family(&labels)?, value)?;
            }
        }
        Ok(())
    }
}

fn own(name: &str) -> String {
    [PREFIX, name].concat()
}

/// A number as a gauge has it: exact up to 2^53.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "more of anything fits nowhere")]
pub fn number(count: u64) -> f64 {
    count as f64
}

//! Writes metrics as text.

use std::fmt;

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{
    DescriptorEncoder, EncodeMetric, MetricEncoder, NoLabelSet, text,
};
use prometheus_client::metrics::MetricType;
use prometheus_client::registry::Registry;

use super::{LatencySnapshot, TextFormat};

/// The prefix of all names but the standard ones of a process. Names in the code are without it.
const PREFIX: &str = "frontend_map_";

/// Names and values of labels.
type Labels<'l, const N: usize> = [(&'l str, &'l str); N];

/// Writes metric families. Names come without `frontend_map_`, those of counters also without `_total`.
pub struct Encoder<'e>(DescriptorEncoder<'e>);

/// The text that `write` makes.
#[must_use]
pub fn encode(
    format: TextFormat,
    write: impl Fn(&mut Encoder<'_>) -> fmt::Result + Send + Sync + 'static,
) -> String {
    let mut registry = Registry::default();
    registry.register_collector(Box::new(FnCollector(write)));
    format.of(to_text(&registry))
}

fn to_text(registry: &Registry) -> String {
    let mut out = String::new();
    text::encode(&mut out, registry).expect("writing to a string cannot fail");
    out
}

struct FnCollector<W>(W);

impl<W> fmt::Debug for FnCollector<W> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("FnCollector")
    }
}

impl<W> Collector for FnCollector<W>
where
    W: Fn(&mut Encoder<'_>) -> fmt::Result + Send + Sync + 'static,
{
    fn encode(&self, encoder: DescriptorEncoder<'_>) -> fmt::Result {
        (self.0)(&mut Encoder(encoder))
    }
}

impl Encoder<'_> {
    /// A metric of `prometheus-client`.
    pub fn metric(&mut self, name: &str, help: &str, metric: &impl EncodeMetric) -> fmt::Result {
        let name = with_prefix(name);
        metric.encode(self.0.encode_descriptor(&name, help, None, metric.metric_type())?)
    }

    /// A counter with these samples.
    pub fn counter<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, u64)>,
    ) -> fmt::Result {
        self.family(&with_prefix(name), help, MetricType::Counter, samples, |encoder, value| {
            encoder.encode_counter::<NoLabelSet, u64, f64>(&value, None)
        })
    }

    /// A gauge with these samples.
    pub fn gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.standard_gauge(&with_prefix(name), help, samples)
    }

    /// A histogram with these samples.
    pub(super) fn histogram<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, LatencySnapshot)>,
    ) -> fmt::Result {
        self.family(&with_prefix(name), help, MetricType::Histogram, samples, |encoder, value| {
            let buckets = value.buckets();
            encoder.encode_histogram::<NoLabelSet>(value.seconds(), value.count(), &buckets, None)
        })
    }

    /// A gauge with a standard name, without [`PREFIX`].
    pub(super) fn standard_gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.family(name, help, MetricType::Gauge, samples, |encoder, value| {
            encoder.encode_gauge(&value)
        })
    }

    /// A counter of seconds with a standard name, without [`PREFIX`].
    pub(super) fn standard_counter(&mut self, name: &str, help: &str, value: f64) -> fmt::Result {
        self.family(name, help, MetricType::Counter, [([], value)], |encoder, value| {
            encoder.encode_counter::<NoLabelSet, f64, f64>(&value, None)
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
        let mut family = self.0.encode_descriptor(name, help, None, kind)?;
        for (labels, value) in samples {
            // An empty label set would be written as `{}`.
            if N == 0 {
                write(&mut family, value)?;
            } else {
                write(&mut family.encode_family(&labels)?, value)?;
            }
        }
        Ok(())
    }
}

fn with_prefix(name: &str) -> String {
    [PREFIX, name].concat()
}

/// A count as the value of a gauge: exact up to 2^53.
#[must_use]
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub fn gauge_value(count: u64) -> f64 {
    count as f64
}

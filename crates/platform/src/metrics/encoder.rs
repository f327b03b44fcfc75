//! Writes metrics as text, in the format of Prometheus (version 0.0.4)
//! (<https://prometheus.io/docs/instrumenting/exposition_formats/>).

use std::fmt::{self, Display, Write};

use super::{LatencySnapshot, Metric};

/// The media type with its version.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// The prefix of all names but the standard ones of a process. Names in the code are without it.
const PREFIX: &str = "frontend_map_";

/// Names and values of labels.
type Labels<'l, const N: usize> = [(&'l str, &'l str); N];

/// Writes metric families. Names come without `frontend_map_`, those of counters also without `_total`.
pub struct Encoder<'e>(&'e mut String);

/// The text that `write` makes.
///
/// # Panics
/// Never: writing to a string cannot fail.
pub fn encode(write: impl FnOnce(&mut Encoder<'_>) -> fmt::Result) -> String {
    let mut text = String::new();
    write(&mut Encoder(&mut text)).expect("writing to a string cannot fail");
    text
}

impl Encoder<'_> {
    /// A counter, or one with a label.
    pub fn metric(&mut self, name: &str, help: &str, metric: &impl Metric) -> fmt::Result {
        metric.write(name, help, self)
    }

    /// A counter with these samples.
    pub fn counter<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, u64)>,
    ) -> fmt::Result {
        self.family(&[PREFIX, name, "_total"].concat(), help, "counter", samples)
    }

    /// A gauge with these samples.
    pub fn gauge<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, f64)>,
    ) -> fmt::Result {
        self.family(&[PREFIX, name].concat(), help, "gauge", samples)
    }

    /// A histogram with these samples.
    pub(super) fn histogram<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, LatencySnapshot)>,
    ) -> fmt::Result {
        let name = [PREFIX, name].concat();
        self.describe(&name, help, "histogram")?;
        for (labels, value) in samples {
            self.sample(&[&name, "_sum"].concat(), &labels, value.seconds())?;
            self.sample(&[&name, "_count"].concat(), &labels, value.count())?;
            let mut count = 0;
            for (bound, own) in value.buckets() {
                count += own;
                // As `120.0`, since the text is part of the name of a series.
                let bound = match bound {
                    f64::INFINITY => "+Inf".to_owned(),
                    whole if whole.fract() == 0.0 => format!("{whole:.1}"),
                    other => other.to_string(),
                };
                let labels = [&[("le", &*bound)], &labels[..]].concat();
                self.sample(&[&name, "_bucket"].concat(), &labels, count)?;
            }
        }
        Ok(())
    }

    /// A family with a standard name, without [`PREFIX`].
    pub(super) fn family<'l, const N: usize>(
        &mut self,
        name: &str,
        help: &str,
        kind: &str,
        samples: impl IntoIterator<Item = (Labels<'l, N>, impl Display)>,
    ) -> fmt::Result {
        self.describe(name, help, kind)?;
        samples.into_iter().try_for_each(|(labels, value)| self.sample(name, &labels, value))
    }

    fn describe(&mut self, name: &str, help: &str, kind: &str) -> fmt::Result {
        write!(self.0, "# HELP {name} {help}\n# TYPE {name} {kind}\n")
    }

    fn sample(&mut self, name: &str, labels: &[(&str, &str)], value: impl Display) -> fmt::Result {
        self.0.write_str(name)?;
        for (at, (label, value)) in labels.iter().enumerate() {
            let value = value.replace('\\', r"\\").replace('"', "\\\"").replace('\n', r"\n");
            write!(self.0, "{}{label}=\"{value}\"", if at == 0 { '{' } else { ',' })?;
        }
        let end = if labels.is_empty() { "" } else { "}" };
        writeln!(self.0, "{end} {value}")
    }
}

/// A count as the value of a gauge: exact up to 2^53.
#[expect(clippy::cast_precision_loss, reason = "no count here comes near 2^53")]
pub fn gauge_value(count: u64) -> f64 {
    count as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::LatencyHistogram;

    #[test]
    fn text_has_a_description_and_a_line_for_each_series() {
        let text = encode(|encoder| {
            encoder.counter(
                "requests",
                "Requests",
                [([("route", "/x\"\\\n")], 1), ([("route", "")], 0)],
            )?;
            encoder.gauge("open", "Open", [([], f64::NAN)])?;
            let (histogram, mut snapshot) =
                (LatencyHistogram::default(), LatencySnapshot::default());
            histogram.observe(std::time::Duration::from_millis(1_500));
            histogram.add_to(&mut snapshot);
            encoder.histogram("seconds", "Seconds", [([("route", "a")], snapshot)])
        });
        let (lines, histogram) = text.split_at(text.find("# HELP frontend_map_seconds").unwrap());
        let expected = "# HELP frontend_map_requests_total Requests\n\
            # TYPE frontend_map_requests_total counter\n\
            frontend_map_requests_total{route=\"/x\\\"\\\\\\n\"} 1\n\
            frontend_map_requests_total{route=\"\"} 0\n\
            # HELP frontend_map_open Open\n# TYPE frontend_map_open gauge\nfrontend_map_open NaN\n";
        assert_eq!(lines, expected);
        for line in [
            "_sum{route=\"a\"} 1.5",
            "_count{route=\"a\"} 1",
            "_bucket{le=\"0.00005\",route=\"a\"} 0",
            "_bucket{le=\"1.0\",route=\"a\"} 0",
            "_bucket{le=\"2.5\",route=\"a\"} 1",
            "_bucket{le=\"+Inf\",route=\"a\"} 1",
        ] {
            assert!(histogram.contains(&format!("\nfrontend_map_seconds{line}\n")), "{histogram}");
        }
    }
}

//! The two text formats of metrics: the classic one of Prometheus, which most tools read, and
//! `OpenMetrics`.

/// A text format of metrics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TextFormat {
    /// Version 0.0.4 of the format of Prometheus.
    Classic,
    /// `OpenMetrics` 1.0.
    OpenMetrics,
}

impl TextFormat {
    /// The media type with its version.
    #[must_use]
    pub fn content_type(self) -> &'static str {
        match self {
            Self::Classic => "text/plain; version=0.0.4; charset=utf-8",
            Self::OpenMetrics => "application/openmetrics-text; version=1.0.0; charset=utf-8",
        }
    }

    /// A text of `OpenMetrics` in this format.
    pub(super) fn of(self, open_metrics: String) -> String {
        match self {
            Self::Classic => classic(&open_metrics),
            Self::OpenMetrics => open_metrics,
        }
    }
}

/// The metrics in the classic format. There, the name of a counter ends with `_total` in its
/// description as well, and the text has no mark of its end.
fn classic(open_metrics: &str) -> String {
    let mut text = String::with_capacity(open_metrics.len());
    let mut help = None;
    for line in open_metrics.lines().filter(|line| *line != "# EOF") {
        // The help text comes before the type, which decides about the name.
        if let Some(described) = line.strip_prefix("# HELP ") {
            help = described.split_once(' ');
            continue;
        }
        let described = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' '));
        let Some((name, kind)) = described else {
            text.extend([line, "\n"]);
            continue;
        };
        let suffix = if kind == "counter" { "_total" } else { "" };
        if let Some((_, help)) = help.take() {
            text.extend(["# HELP ", name, suffix, " ", help, "\n"]);
        }
        text.extend(["# TYPE ", name, suffix, " ", kind, "\n"]);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classic_names_counters_with_their_suffix_and_has_no_end_mark() {
        let text = "# HELP a_requests Requests by route\n# TYPE a_requests counter\n\
            a_requests_total{route=\"/x\"} 1\n\
            # HELP a_open Open\n# TYPE a_open gauge\na_open NaN\n# EOF\n";
        let expected = "# HELP a_requests_total Requests by route\n\
            # TYPE a_requests_total counter\na_requests_total{route=\"/x\"} 1\n\
            # HELP a_open Open\n# TYPE a_open gauge\na_open NaN\n";
        assert_eq!(TextFormat::Classic.of(text.to_owned()), expected);
        assert_eq!(TextFormat::OpenMetrics.of(text.to_owned()), text);
    }
}

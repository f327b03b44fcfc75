//! `Accept` (RFC 9110, section 12.5.1). It never changes a status (D6).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

use super::encoding::weighted;

/// How the results of a validation run are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::http) enum ResultFormat {
    /// One JSON document when the run has ended: the default.
    Json,
    /// Server-sent events (HTML standard, section 9.2), each result as it is found.
    Events,
    /// The events as one JSON text a line.
    Lines,
}

impl ResultFormat {
    /// The media type.
    pub(in crate::http) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// The format of the results of a validation run.
pub(in crate::http) fn preferred_format(headers: &HeaderMap) -> ResultFormat {
    const FORMATS: [ResultFormat; 3] =
        [ResultFormat::Json, ResultFormat::Events, ResultFormat::Lines];
    FORMATS[preferred(headers, FORMATS.map(ResultFormat::media_type))]
}

/// The position of the media type with the largest weight. If several have this weight, the most
/// specific range decides, then the order. If none is acceptable, it is the first one.
pub(in crate::http) fn preferred<const N: usize>(
    headers: &HeaderMap,
    media_types: [&str; N],
) -> usize {
    let fields = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = fields.flat_map(|field| field.split(',')).filter_map(weighted).collect();
    let preference = |media_type: &str| {
        let matching = ranges
            .iter()
            .filter_map(|(range, weight)| Some((exactness(range, media_type)?, *weight)));
        // Only the most exact range counts.
        matching.max().map_or((0, 0), |(exactness, weight)| (weight, exactness))
    };
    let preferences = media_types.map(preference);
    let better = |best: usize, at: usize| {
        let is_better = preferences[at].0 > 0 && preferences[at] > preferences[best];
        if is_better { at } else { best }
    };
    (1..N).fold(0, better)
}

/// How exactly a range names a media type; `None` where it does not match.
fn exactness(range: &str, media_type: &str) -> Option<u8> {
    let (major, minor) = range.split_once('/')?;
    let (own_major, own_minor) = media_type.split_once('/')?;
    let same_major = major.eq_ignore_ascii_case(own_major);
    match (major, minor) {
        ("*", "*") => Some(1),
        (_, "*") if same_major => Some(2),
        _ if same_major && minor.eq_ignore_ascii_case(own_minor) => Some(3),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn preferred_format_by_weight_then_exactness() {
        for (accepted, expected) in [
            ("", ResultFormat::Json),
            ("*/*", ResultFormat::Json),
            ("application/json", ResultFormat::Json),
            ("text/html,application/xml;q=0.9,*/*;q=0.8", ResultFormat::Json),
            ("application/*", ResultFormat::Json),
            ("text/event-stream", ResultFormat::Events),
            ("Text/Event-Stream; charset=utf-8", ResultFormat::Events),
            ("text/event-stream, */*", ResultFormat::Events),
            ("text/*", ResultFormat::Events),
            ("application/json;q=0.5, text/event-stream;q=0.6", ResultFormat::Events),
            ("application/x-ndjson", ResultFormat::Lines),
            ("application/x-ndjson;q=0.9, text/event-stream;q=0.8", ResultFormat::Lines),
            ("*/*;q=0.1, application/x-ndjson", ResultFormat::Lines),
            // Equal weights: the default.
            ("text/event-stream, application/json", ResultFormat::Json),
            ("text/event-stream;q=0.2, */*;q=0.3", ResultFormat::Json),
            ("text/event-stream;q=0", ResultFormat::Json),
            ("text/event-stream; q = 0", ResultFormat::Json),
            ("text/event-stream; q = 0.1", ResultFormat::Events),
            ("text/event-stream;Q=0", ResultFormat::Json),
            ("text/event-stream;q=0, */*;q=0", ResultFormat::Json),
            ("text/event-stream;q=2", ResultFormat::Json),
            ("text/event-streams, text", ResultFormat::Json),
            ("image/png", ResultFormat::Json),
        ] {
            let value = HeaderValue::from_str(accepted).unwrap();
            let headers = HeaderMap::from_iter([(ACCEPT, value)]);
            assert_eq!(preferred_format(&headers), expected, "{accepted}");
        }
        assert_eq!(preferred_format(&HeaderMap::new()), ResultFormat::Json);
    }
}

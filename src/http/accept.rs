//! In which form an answer is wanted (RFC 9110, section 12.5.1). It never changes a status (D6).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT;

use super::encoding::thousandths;

/// How the results of a run of URL checks are sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// As a whole, when all are known: what is specified, and the default.
    Json,
    /// As server-sent events (HTML standard, section 9.2), each as it becomes known.
    Events,
    /// The same as one JSON text a line.
    Lines,
}

impl Form {
    /// The media type.
    pub(super) const fn media_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::Events => "text/event-stream",
            Self::Lines => "application/x-ndjson",
        }
    }
}

/// The form that is liked best; of those that are liked equally the one that is named more
/// exactly, then the default.
pub(super) fn wanted(headers: &HeaderMap) -> Form {
    let fields = headers.get_all(ACCEPT).iter().filter_map(|value| value.to_str().ok());
    let ranges: Vec<_> = fields.flat_map(|field| field.split(',')).filter_map(range).collect();
    let liking = |form: Form| {
        let matching = ranges
            .iter()
            .filter_map(|(range, weight)| Some((exactness(range, form.media_type())?, *weight)));
        // The most exact range counts, whatever others say.
        matching.max().map_or((0, 0), |(exactness, weight)| (weight, exactness))
    };
    let better = |best: Form, form: Form| if liking(form) > liking(best) { form } else { best };
    let best = [Form::Events, Form::Lines].into_iter().fold(Form::Json, better);
    if liking(best).0 > 0 { best } else { Form::Json }
}

/// A media range and its weight in thousandths; `None` for what is no list item.
fn range(item: &str) -> Option<(&str, u16)> {
    let mut parts = item.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let quality = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim_end().eq_ignore_ascii_case("q").then(|| value.trim_start())
    });
    Some((range, quality.map_or(Some(1000), thousandths)?))
}

/// How exactly a range names a type, if at all.
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
    fn who_wants_what() {
        for (accepted, form) in [
            ("", Form::Json),
            ("*/*", Form::Json),
            ("application/json", Form::Json),
            ("text/html,application/xml;q=0.9,*/*;q=0.8", Form::Json),
            ("application/*", Form::Json),
            ("text/event-stream", Form::Events),
            ("Text/Event-Stream; charset=utf-8", Form::Events),
            ("text/event-stream, */*", Form::Events),
            ("text/*", Form::Events),
            ("application/json;q=0.5, text/event-stream;q=0.6", Form::Events),
            ("application/x-ndjson", Form::Lines),
            ("application/x-ndjson;q=0.9, text/event-stream;q=0.8", Form::Lines),
            ("*/*;q=0.1, application/x-ndjson", Form::Lines),
            // Equally liked: the default.
            ("text/event-stream, application/json", Form::Json),
            ("text/event-stream;q=0.2, */*;q=0.3", Form::Json),
            ("text/event-stream;q=0", Form::Json),
            ("text/event-stream; q = 0", Form::Json),
            ("text/event-stream; q = 0.1", Form::Events),
            ("text/event-stream;Q=0", Form::Json),
            ("text/event-stream;q=0, */*;q=0", Form::Json),
            ("text/event-stream;q=2", Form::Json),
            ("text/event-streams, text", Form::Json),
            ("image/png", Form::Json),
        ] {
            let value = HeaderValue::from_str(accepted).unwrap();
            assert_eq!(wanted(&HeaderMap::from_iter([(ACCEPT, value)])), form, "{accepted}");
        }
        assert_eq!(wanted(&HeaderMap::new()), Form::Json);
    }
}

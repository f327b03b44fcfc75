//! `Accept-Encoding` (RFC 9110, section 12.5.3).

use axum::http::HeaderMap;
use axum::http::header::ACCEPT_ENCODING;

/// Whether the client accepts gzip and does not prefer the plain form. It gets the plain form
/// otherwise, even where it excludes that: `Accept-Encoding` never changes a status (D6).
pub(in crate::http) fn accepts_gzip(headers: &HeaderMap) -> bool {
    let fields = headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let (mut gzip, mut any, mut identity) = (None, None, None);
    for (coding, weight) in fields.flat_map(|field| field.split(',')).filter_map(weighted) {
        match coding.to_ascii_lowercase().as_str() {
            "gzip" | "x-gzip" => gzip = Some(weight),
            "*" => any = Some(weight),
            "identity" => identity = Some(weight),
            _ => {}
        }
    }
    let gzip = gzip.or(any).unwrap_or(0);
    gzip > 0 && gzip >= identity.unwrap_or(0)
}

/// A coding or media range and its weight in thousandths; `None` for a malformed list item.
pub(in crate::http) fn weighted(item: &str) -> Option<(&str, u16)> {
    let mut parts = item.split(';').map(str::trim);
    let range = parts.next().filter(|range| !range.is_empty())?;
    let quality = parts.find_map(|part| {
        let (name, value) = part.split_once('=')?;
        name.trim_end().eq_ignore_ascii_case("q").then(|| value.trim_start())
    });
    Some((range, quality.map_or(Some(1000), thousandths)?))
}

/// A `qvalue` (0 to 1 with at most three decimals) in thousandths.
fn thousandths(number: &str) -> Option<u16> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let digits = decimals.len() <= 3 && decimals.bytes().all(|b| b.is_ascii_digit());
    let decimals: u16 = format!("{decimals:0<3}").parse().ok().filter(|_| digits)?;
    match whole {
        "0" => Some(decimals),
        "1" if decimals == 0 => Some(1000),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::http::HeaderValue;

    #[test]
    fn accepts_gzip_by_weight() {
        for (accepted, expected) in [
            ("gzip", true),
            ("GZIP;q=0.5", true),
            ("br, gzip ; q=1.000", true),
            ("x-gzip", true),
            ("*", true),
            ("*;q=0.1", true),
            ("gzip;q=0", false),
            ("gzip;q=0, *", false),
            ("identity, gzip;q=0.9", false),
            ("identity;q=0.5, gzip;q=0.5", true),
            ("identity;q=0", false),
            ("br", false),
            ("", false),
            ("gzip;q=2", false),
            ("gzip;q=0.1234", false),
            (",,;q=1", false),
        ] {
            let headers =
                HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_str(accepted).unwrap())]);
            assert_eq!(accepts_gzip(&headers), expected, "{accepted}");
        }
        assert!(!accepts_gzip(&HeaderMap::new()));
    }
}

//! The header `Retry-After` (RFC 9110, section 10.2.3).

use std::time::SystemTime;

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// The value in seconds; `None`: there is no such header, or it is not readable.
pub fn retry_after(headers: &HeaderMap) -> Option<u64> {
    seconds(headers.get(RETRY_AFTER)?.to_str().ok()?.trim(), SystemTime::now())
}

/// Reads seconds or a date. Too many seconds for a `u64` are its maximum, and a past date is 0.
fn seconds(text: &str, now: SystemTime) -> Option<u64> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let wait = httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default();
    // Rounded up: a request that is sent too early is refused again.
    Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn seconds_reads_numbers_and_dates_and_nothing_else() {
        // Sun, 06 Nov 1994 08:49:37 GMT, and a half.
        let now = UNIX_EPOCH + Duration::from_millis(784_111_777_500);
        for (text, expected) in [
            ("0", Some(0)),
            ("120", Some(120)),
            ("99999999999999999999", Some(u64::MAX)),
            ("Sun, 06 Nov 1994 08:49:40 GMT", Some(3)),
            ("Sunday, 06-Nov-94 08:50:38 GMT", Some(61)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(0)),
            ("Fri, 31 Dec 9999 23:59:59 GMT", Some(252_618_189_022)),
            ("", None),
            ("-1", None),
            ("1.5", None),
            ("soon", None),
        ] {
            assert_eq!(seconds(text, now), expected, "{text:?}");
        }
    }
}

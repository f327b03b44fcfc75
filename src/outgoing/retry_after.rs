//! When a peer wants to be asked again (RFC 9110, section 10.2.3).

use std::time::SystemTime;

use reqwest::header::{HeaderMap, RETRY_AFTER};

/// After how many seconds that is, where it is said.
#[must_use]
pub fn retry_after(headers: &HeaderMap) -> Option<u64> {
    seconds(headers.get(RETRY_AFTER)?.to_str().ok()?.trim(), SystemTime::now())
}

/// Reads seconds or a date. More seconds than a number holds are still a long time, and a date that
/// has passed is now.
fn seconds(text: &str, now: SystemTime) -> Option<u64> {
    if !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) {
        return Some(text.parse().unwrap_or(u64::MAX));
    }
    let wait = httpdate::parse_http_date(text).ok()?.duration_since(now).unwrap_or_default();
    // A part of a second counts as one: who comes too early is refused again.
    Some(wait.as_secs() + u64::from(wait.subsec_nanos() > 0))
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, UNIX_EPOCH};

    use super::*;

    #[test]
    fn seconds_and_dates_are_read() {
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

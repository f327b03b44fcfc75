//! Secrets that must be in no response and no log line, whatever a test is about.

use super::front_of_cms::TOKEN;

/// The slug of a version that is not published.
pub(crate) const DRAFT: &str = "canary-2d81e4-draft";

/// `bytes` come from a service.
pub(crate) fn assert_silent(bytes: &[u8], place: &str) {
    for canary in [TOKEN, DRAFT] {
        let found = bytes.windows(canary.len()).any(|window| window == canary.as_bytes());
        assert!(!found, "{canary} in {place}: {}", String::from_utf8_lossy(bytes));
    }
}

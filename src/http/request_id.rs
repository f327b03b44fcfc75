//! Ids of requests: the caller's own, or else one of ours where there is a line of the log to find.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// Where it stands, in requests and answers.
pub(super) static HEADER: HeaderName = HeaderName::from_static("x-request-id");

/// The longest that is taken over, in bytes.
const LONGEST: usize = 64;

/// Where the ids of this process begin: two processes hardly ever have the same.
static FIRST: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
static MADE: AtomicU64 = AtomicU64::new(0);
/// Odd, so that no two of 2^64 ids are the same; of about as many ones as zeros, so that ids of
/// neighbours look different to who reads them.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The id of a request: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug)]
pub(super) struct RequestId(HeaderValue);

impl RequestId {
    /// The one that the request has, if it has exactly one and that is fit for a log.
    pub(super) fn sent(headers: &HeaderMap) -> Option<Self> {
        let sent = headers.get(&HEADER)?;
        let one = headers.get_all(&HEADER).iter().nth(1).is_none();
        (one && is_fit(sent.as_bytes())).then(|| Self(sent.clone()))
    }

    /// One of ours: 16 hexadecimal digits.
    pub(super) fn new() -> Self {
        let id = FIRST.wrapping_add(MADE.fetch_add(1, Relaxed).wrapping_mul(STEP));
        let text = HeaderValue::try_from(format!("{id:016x}"));
        Self(text.unwrap_or(HeaderValue::from_static("0")))
    }

    /// The text.
    pub(super) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// As the answer has it.
    pub(super) fn into_value(self) -> HeaderValue {
        self.0
    }
}

fn is_fit(id: &[u8]) -> bool {
    let fit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=LONGEST).contains(&id.len()) && id.iter().all(fit)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn ids_of_ours_are_fit_and_differ() {
        let ids: HashSet<String> = (0..1000).map(|_| RequestId::new().as_str().into()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 16 && is_fit(id.as_bytes())));
    }
}

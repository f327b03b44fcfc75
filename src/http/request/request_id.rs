//! Request ids: the client's own, or a generated one where the request gets a log line.

use std::hash::{BuildHasher, RandomState};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header, in requests and responses.
pub(in crate::http) static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is accepted from a client, in bytes.
const MAX_BYTES: usize = 64;

/// Where the ids of this process begin: two processes hardly ever have the same.
static FIRST: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(0));
static MADE: AtomicU64 = AtomicU64::new(0);
/// Odd, so that no two of 2^64 ids are the same; of about as many ones as zeros, so that ids of
/// neighbours look different to who reads them.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// The id of a request: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug)]
pub(in crate::http) struct RequestId(HeaderValue);

impl RequestId {
    /// The id that the client sent, if it sent exactly one and that is fit for a log.
    pub(in crate::http) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let sent = headers.get(&X_REQUEST_ID)?;
        let one = headers.get_all(&X_REQUEST_ID).iter().nth(1).is_none();
        (one && is_valid(sent.as_bytes())).then(|| Self(sent.clone()))
    }

    /// A new id: 16 hexadecimal digits.
    pub(in crate::http) fn generate() -> Self {
        let id = FIRST.wrapping_add(MADE.fetch_add(1, Relaxed).wrapping_mul(STEP));
        let text = HeaderValue::try_from(format!("{id:016x}"));
        Self(text.unwrap_or(HeaderValue::from_static("0")))
    }

    /// The text.
    pub(in crate::http) fn as_str(&self) -> &str {
        self.0.to_str().unwrap_or_default()
    }

    /// As a header of the response.
    pub(in crate::http) fn into_value(self) -> HeaderValue {
        self.0
    }
}

fn is_valid(id: &[u8]) -> bool {
    let allowed = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    (1..=MAX_BYTES).contains(&id.len()) && id.iter().all(allowed)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn generated_ids_are_valid_and_differ() {
        let ids: HashSet<String> =
            (0..1000).map(|_| RequestId::generate().as_str().into()).collect();
        assert_eq!(ids.len(), 1000);
        assert!(ids.iter().all(|id| id.len() == 16 && is_valid(id.as_bytes())));
    }
}

//! Request ids: sent by the client, or generated if the request is logged.

use axum::http::{HeaderMap, HeaderName, HeaderValue};

/// The header, in requests and responses.
pub(in crate::http) static X_REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The longest id that is accepted from a client, in bytes.
const MAX_BYTES: usize = 64;

/// The id of a request: letters, digits, `.`, `_` and `-`.
#[derive(Clone, Debug)]
pub(in crate::http) struct RequestId(HeaderValue);

impl RequestId {
    /// The id that the client sent, if it sent exactly one and that is valid.
    pub(in crate::http) fn from_headers(headers: &HeaderMap) -> Option<Self> {
        let sent = headers.get(&X_REQUEST_ID)?;
        let one = headers.get_all(&X_REQUEST_ID).iter().nth(1).is_none();
        (one && is_valid(sent.as_bytes())).then(|| Self(sent.clone()))
    }

    /// A new random id: 16 hexadecimal digits.
    pub(in crate::http) fn generate() -> Self {
        let text = HeaderValue::try_from(format!("{:016x}", fastrand::u64(..)));
        Self(text.expect("hexadecimal digits are visible ASCII"))
    }

    /// The text.
    pub(in crate::http) fn as_str(&self) -> &str {
        self.0.to_str().expect("letters, digits and punctuation are visible ASCII")
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

//! The settings of the HTTP side.

use axum::http::HeaderValue;
use secrecy::SecretString;

use super::{CachePolicy, CacheTags};

/// Limits, secrets and headers of the HTTP side.
pub struct HttpSettings {
    /// The in-flight limit, for requests that wait for the CMS or send long bodies.
    pub max_requests: usize,
    /// The origins of the browsers that may send requests.
    pub cors_origins: Vec<HeaderValue>,
    /// `Cache-Control` of responses.
    pub cache_policy: CachePolicy,
    /// The header with cache tags, if responses have one.
    pub cache_tags: Option<CacheTags>,
    /// Whether each request gets a line in the log.
    pub access_log: bool,
    /// The status with which frontends redirect from a path that a document had before.
    pub redirect_status: u16,
    /// The bearer token of the webhook; without one there is no webhook.
    pub webhook_secret: Option<SecretString>,
    /// The bearer token for `validate=true` and the tables for operators; without one they are open
    /// to all clients.
    pub validate_token: Option<SecretString>,
    /// The bearer token for `status=draft`; without one it is open to all clients.
    pub draft_token: Option<SecretString>,
}

impl HttpSettings {
    /// Checked origins as header values.
    ///
    /// # Panics
    /// If one of them is not an origin.
    pub fn origins(checked: &[String]) -> Vec<HeaderValue> {
        let value = |origin: &String| {
            HeaderValue::try_from(origin).expect("the settings are checked: an origin is ASCII")
        };
        checked.iter().map(value).collect()
    }
}

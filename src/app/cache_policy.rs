//! `Cache-Control` of responses, from the settings.

use std::collections::HashSet;

use axum::http::HeaderValue;
use parking_lot::Mutex;

/// The configured values of `Cache-Control`.
#[derive(Clone, Debug)]
pub struct CachePolicy {
    /// Of a pathname that resolves.
    pub resolve: HeaderValue,
    /// Of a pathname that does not resolve: short, because a new rule may match it.
    pub resolve_miss: HeaderValue,
    /// For the URL of a published document.
    pub url: HeaderValue,
    /// Of lists of URLs.
    pub sitemap: HeaderValue,
}

impl CachePolicy {
    /// Takes checked settings, visible ASCII and spaces, in the order of the fields.
    #[must_use]
    pub fn new([resolve, resolve_miss, url, sitemap]: [&str; 4]) -> Self {
        Self {
            resolve: interned(resolve),
            resolve_miss: interned(resolve_miss),
            url: interned(url),
            sitemap: interned(sitemap),
        }
    }
}

/// All values so far. Only a reload with other values adds to them.
static VALUES: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// A value with static lifetime: a reference count would be changed by each response, and all cores
/// would contend for it.
fn interned(checked: &str) -> HeaderValue {
    let mut values = VALUES.lock();
    let values = values.get_or_insert_default();
    let value = values.get(checked).copied().unwrap_or_else(|| checked.to_owned().leak());
    values.insert(value);
    HeaderValue::from_static(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_values_share_one_text() {
        let place = |value: &HeaderValue| value.as_bytes().as_ptr();
        let [first, again, other] = ["max-age=7", "max-age=7", "max-age=8"].map(interned);
        assert_eq!(place(&first), place(&again));
        assert_ne!(place(&first), place(&other));
        assert_eq!((first, other), ("max-age=7".parse().unwrap(), "max-age=8".parse().unwrap()));
    }
}

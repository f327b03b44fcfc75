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
    /// Of a redirect from a path that a document had: as of a pathname that resolves, for at most a
    /// minute, because the document may be renamed back.
    pub redirect: HeaderValue,
    /// For the URL of a published document.
    pub url: HeaderValue,
    /// Of lists of URLs.
    pub sitemap: HeaderValue,
}

impl CachePolicy {
    /// Takes checked settings, visible ASCII and spaces, in the order of the fields.
    pub fn new([resolve, resolve_miss, url, sitemap]: [&str; 4]) -> Self {
        Self {
            resolve: interned(resolve),
            redirect: interned(&at_most_a_minute(resolve)),
            resolve_miss: interned(resolve_miss),
            url: interned(url),
            sitemap: interned(sitemap),
        }
    }
}

/// This policy with no time longer than a minute.
fn at_most_a_minute(policy: &str) -> String {
    let limited = |directive: &str| {
        let directive = directive.trim();
        let seconds = directive.split_once('=').map(|(name, time)| (name, time.parse::<u64>()));
        match seconds {
            Some((name, Ok(MINUTE..))) => format!("{name}={MINUTE}"),
            _ => directive.to_owned(),
        }
    };
    let directives: Vec<String> = policy.split(',').map(limited).collect();
    let is = |name: &str| directives.iter().any(|own| own.to_ascii_lowercase().starts_with(name));
    let limited = directives.join(", ");
    // Without a time of its own, a cache may choose any (RFC 9111, section 4.2.2).
    let has_time = ["max-age=", "no-store", "no-cache"].into_iter().any(is);
    if has_time { limited } else { format!("{limited}, max-age={MINUTE}") }
}

/// In seconds.
const MINUTE: u64 = 60;

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
    fn redirect_is_cached_for_at_most_a_minute() {
        for (policy, expected) in [
            ("public, max-age=60", "public, max-age=60"),
            ("public, max-age=5", "public, max-age=5"),
            ("public,max-age=86400, S-MAXAGE=61", "public, max-age=60, S-MAXAGE=60"),
            ("max-age=3600, stale-if-error=86400", "max-age=60, stale-if-error=60"),
            ("no-cache", "no-cache"),
            ("No-Store", "No-Store"),
            ("public", "public, max-age=60"),
        ] {
            assert_eq!(at_most_a_minute(policy), expected, "{policy}");
        }
    }

    #[test]
    fn equal_values_share_one_text() {
        let place = |value: &HeaderValue| value.as_bytes().as_ptr();
        let [first, again, other] = ["max-age=7", "max-age=7", "max-age=8"].map(interned);
        assert_eq!(place(&first), place(&again));
        assert_ne!(place(&first), place(&other));
        assert_eq!((first, other), ("max-age=7".parse().unwrap(), "max-age=8".parse().unwrap()));
    }
}

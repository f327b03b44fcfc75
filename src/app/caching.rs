//! `Cache-Control` of answers, as the settings say.

use std::collections::HashSet;

use axum::http::HeaderValue;
use parking_lot::Mutex;

use crate::config::Server;

/// `Cache-Control` of answers that do not depend on the CMS.
#[derive(Clone, Debug)]
pub struct Caching {
    /// Of a pathname that resolves.
    pub resolve: HeaderValue,
    /// Of one that does not: short, because a new rule may make it one that does.
    pub resolve_miss: HeaderValue,
    /// Of lists of URLs.
    pub sitemap: HeaderValue,
}

impl Caching {
    pub(super) fn new(settings: &Server) -> Self {
        Self {
            resolve: fixed(&settings.cache_control),
            resolve_miss: fixed(&settings.cache_control_404),
            sitemap: fixed(&settings.cache_control_sitemap),
        }
    }
}

/// The texts so far. Only who writes other settings makes another one.
static TEXTS: Mutex<Option<HashSet<&'static str>>> = Mutex::new(None);

/// The same for the life of the process: no count of references that each answer would change, and
/// all cores would hand to each other. Checked settings are visible ASCII.
fn fixed(checked: &str) -> HeaderValue {
    let mut texts = TEXTS.lock();
    let texts = texts.get_or_insert_default();
    let text = texts.get(checked).copied().unwrap_or_else(|| checked.to_owned().leak());
    texts.insert(text);
    HeaderValue::from_static(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_texts_are_one_text() {
        let place = |value: &HeaderValue| value.as_bytes().as_ptr();
        let [first, again, other] = ["max-age=7", "max-age=7", "max-age=8"].map(fixed);
        assert_eq!(place(&first), place(&again));
        assert_ne!(place(&first), place(&other));
        assert_eq!((first, other), ("max-age=7".parse().unwrap(), "max-age=8".parse().unwrap()));
    }
}

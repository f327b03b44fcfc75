//! The endpoint of each content type: configured, or discovered and remembered.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::endpoint::Endpoint;
use frontend_map_rules::ContentTypeUid;

/// How long the CMS's "not localized" is remembered. The type may become localized, and trying again
/// costs one refused request; a walk of all documents tries again each time.
const NOT_LOCALIZED_FOR: Duration = Duration::from_mins(1);

/// The endpoint of one content type, and what its responses have shown.
#[derive(Debug)]
pub(super) struct ResolvedEndpoint {
    pub(super) uid: ContentTypeUid,
    pub(super) endpoint: Endpoint,
    /// Whether it is from `[[content_type]]`.
    pub(super) is_configured: bool,
    /// Configured, or a list was read from it. Before that, its 404 may mean a wrong guess.
    is_confirmed: AtomicBool,
    /// When the CMS last refused a locale for the type.
    not_localized_at: Mutex<Option<Instant>>,
}

impl ResolvedEndpoint {
    fn new(uid: ContentTypeUid, endpoint: Endpoint, is_configured: bool) -> Self {
        let is_confirmed = AtomicBool::new(is_configured);
        Self { uid, endpoint, is_configured, is_confirmed, not_localized_at: Mutex::new(None) }
    }

    pub(super) fn is_confirmed(&self) -> bool {
        self.is_confirmed.load(Ordering::Relaxed)
    }

    pub(super) fn confirm(&self) {
        self.is_confirmed.store(true, Ordering::Relaxed);
    }

    /// Whether requests name a locale: they do unless the CMS has recently refused that.
    pub(super) fn is_localized(&self) -> bool {
        self.not_localized_at.lock().is_none_or(|at| at.elapsed() > NOT_LOCALIZED_FOR)
    }

    pub(super) fn set_not_localized(&self) {
        *self.not_localized_at.lock() = Some(Instant::now());
    }

    /// Lets the next request name a locale again.
    pub(super) fn forget_not_localized(&self) {
        *self.not_localized_at.lock() = None;
    }
}

/// The endpoints, by content type.
#[derive(Debug)]
pub(super) struct EndpointCache {
    configured: HashMap<ContentTypeUid, Arc<ResolvedEndpoint>>,
    discovered: Mutex<HashMap<ContentTypeUid, Arc<ResolvedEndpoint>>>,
}

impl EndpointCache {
    pub(super) fn new(configured: HashMap<ContentTypeUid, Endpoint>) -> Self {
        let resolved = |(uid, endpoint): (ContentTypeUid, _)| {
            (uid.clone(), Arc::new(ResolvedEndpoint::new(uid, endpoint, true)))
        };
        let configured = configured.into_iter().map(resolved).collect();
        Self { configured, discovered: Mutex::default() }
    }

    pub(super) fn get(&self, uid: &ContentTypeUid) -> Option<Arc<ResolvedEndpoint>> {
        self.configured.get(uid).cloned().or_else(|| self.discovered.lock().get(uid).cloned())
    }

    /// Remembers a discovered endpoint; of two that were discovered at once, the first.
    pub(super) fn insert(&self, uid: &ContentTypeUid, endpoint: Endpoint) -> Arc<ResolvedEndpoint> {
        let resolved = || Arc::new(ResolvedEndpoint::new(uid.clone(), endpoint, false));
        Arc::clone(self.discovered.lock().entry(uid.clone()).or_insert_with(resolved))
    }

    /// Removes a discovered endpoint after a 404: the type may have moved, or the token may now read
    /// its schema.
    pub(super) fn remove(&self, uid: &ContentTypeUid) {
        self.discovered.lock().remove(uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strapi::EndpointKind;

    fn uid() -> ContentTypeUid {
        ContentTypeUid::parse("api::article.article").unwrap()
    }

    fn endpoint(path: &str) -> Endpoint {
        Endpoint::new(path, EndpointKind::Collection).unwrap()
    }

    #[test]
    fn configured_endpoint_is_confirmed_and_never_removed() {
        let cache = EndpointCache::new(HashMap::from([(uid(), endpoint("posts"))]));
        cache.remove(&uid());
        let resolved = cache.get(&uid()).unwrap();
        assert_eq!((resolved.endpoint.path(), resolved.is_confirmed()), ("posts", true));
    }

    #[test]
    fn discovered_endpoint_can_be_confirmed_and_removed() {
        let cache = EndpointCache::new(HashMap::new());
        assert!(cache.get(&uid()).is_none());
        assert!(!cache.insert(&uid(), endpoint("articles")).is_confirmed());
        cache.get(&uid()).unwrap().confirm();
        assert!(cache.insert(&uid(), endpoint("articles")).is_confirmed());
        cache.remove(&uid());
        assert!(cache.get(&uid()).is_none());
    }

    #[test]
    fn type_counts_as_localized_until_the_cms_refuses_a_locale() {
        let resolved = ResolvedEndpoint::new(uid(), endpoint("authors"), true);
        assert!(resolved.is_localized());
        resolved.set_not_localized();
        assert!(!resolved.is_localized());
        resolved.forget_not_localized();
        assert!(resolved.is_localized());
    }
}

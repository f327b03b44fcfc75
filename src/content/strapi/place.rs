//! What is known about each content type's place in the CMS, and what has been learnt.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use parking_lot::Mutex;

use super::endpoint::Endpoint;
use crate::rules::ContentTypeUid;

/// How long "not localised" is believed for a single document. The type may become localised, and
/// asking anew costs one refused request; a walk asks anew each time.
const BELIEVED: Duration = Duration::from_mins(1);

/// One content type in the CMS.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) endpoint: Endpoint,
    /// Configured, or a list came from it. Until then its 404 may mean a wrong guess.
    sure: AtomicBool,
    /// When the CMS last said that the type is not localised.
    not_localised: Mutex<Option<Instant>>,
}

impl Place {
    pub(super) fn new(endpoint: Endpoint, sure: bool) -> Self {
        Self { endpoint, sure: AtomicBool::new(sure), not_localised: Mutex::new(None) }
    }

    pub(super) fn is_sure(&self) -> bool {
        self.sure.load(Ordering::Relaxed)
    }

    pub(super) fn confirm(&self) {
        self.sure.store(true, Ordering::Relaxed);
    }

    /// Whether to name a locale: yes, unless the CMS refused it a moment ago.
    pub(super) fn is_localised(&self) -> bool {
        self.not_localised.lock().is_none_or(|since| since.elapsed() > BELIEVED)
    }

    pub(super) fn set_not_localised(&self) {
        *self.not_localised.lock() = Some(Instant::now());
    }
}

/// The places, by content type.
#[derive(Debug)]
pub(super) struct Places {
    configured: HashMap<ContentTypeUid, Arc<Place>>,
    learnt: Mutex<HashMap<ContentTypeUid, Arc<Place>>>,
}

impl Places {
    pub(super) fn new(configured: HashMap<ContentTypeUid, Endpoint>) -> Self {
        let place = |(uid, endpoint)| (uid, Arc::new(Place::new(endpoint, true)));
        Self { configured: configured.into_iter().map(place).collect(), learnt: Mutex::default() }
    }

    pub(super) fn get(&self, uid: &ContentTypeUid) -> Option<Arc<Place>> {
        self.configured.get(uid).cloned().or_else(|| self.learnt.lock().get(uid).cloned())
    }

    pub(super) fn learn(&self, uid: &ContentTypeUid, endpoint: Endpoint) -> Arc<Place> {
        let place = Arc::new(Place::new(endpoint, false));
        Arc::clone(self.learnt.lock().entry(uid.clone()).or_insert(place))
    }

    /// After a 404: the type may have moved, or the token may show its schema by now.
    pub(super) fn forget(&self, uid: &ContentTypeUid) {
        self.learnt.lock().remove(uid);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::content::strapi::EndpointKind;

    fn uid() -> ContentTypeUid {
        ContentTypeUid::parse("api::article.article").unwrap()
    }

    fn endpoint(path: &str) -> Endpoint {
        Endpoint::new(path, EndpointKind::Collection).unwrap()
    }

    #[test]
    fn the_configured_place_is_sure_and_stays() {
        let places = Places::new(HashMap::from([(uid(), endpoint("posts"))]));
        places.forget(&uid());
        let place = places.get(&uid()).unwrap();
        assert_eq!((place.endpoint.path(), place.is_sure()), ("posts", true));
    }

    #[test]
    fn a_learnt_place_can_be_confirmed_and_forgotten() {
        let places = Places::new(HashMap::new());
        assert!(places.get(&uid()).is_none());
        assert!(!places.learn(&uid(), endpoint("articles")).is_sure());
        places.get(&uid()).unwrap().confirm();
        assert!(places.learn(&uid(), endpoint("articles")).is_sure());
        places.forget(&uid());
        assert!(places.get(&uid()).is_none());
    }

    #[test]
    fn a_type_counts_as_localised_until_the_cms_objects() {
        let place = Place::new(endpoint("authors"), true);
        assert!(place.is_localised());
        place.set_not_localised();
        assert!(!place.is_localised());
    }
}

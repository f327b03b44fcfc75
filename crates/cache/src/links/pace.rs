//! The pace of a link scan: one request at a time, within the share of the CMS, beside no walk.

use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::FutureExt;
use futures::future::BoxFuture;
use parking_lot::Mutex;
use tokio::time::sleep;

use crate::SnapshotCache;
use crate::triggers::{BackgroundWalk, RefreshTriggers};
use frontend_map_cms::Pace;

/// The longest pause between two looks at the share.
const LONGEST: Duration = Duration::from_secs(1);
/// The shortest one: a walk in flight may end at any time.
const SHORTEST: Duration = Duration::from_millis(20);

/// Lets the requests of a link scan wait for the share of the CMS.
pub(super) struct CmsPace<'c> {
    cache: &'c SnapshotCache,
    /// How long the last request took.
    took: Arc<Mutex<Duration>>,
}

/// A request in flight.
struct Permit {
    _walk: BackgroundWalk,
    begun: Instant,
    took: Arc<Mutex<Duration>>,
    triggers: Arc<RefreshTriggers>,
}

impl<'c> CmsPace<'c> {
    pub(super) fn new(cache: &'c SnapshotCache) -> Self {
        Self { cache, took: Arc::default() }
    }
}

impl Pace for CmsPace<'_> {
    fn begin(&self) -> BoxFuture<'_, Box<dyn Send>> {
        async move {
            let walks = &self.cache.triggers.background_walks;
            loop {
                let length = *self.took.lock();
                let wait = walks.wait(length, self.cache.cms_share()).unwrap_or(LONGEST);
                if wait.is_zero() {
                    break;
                }
                sleep(wait.clamp(SHORTEST, LONGEST)).await;
            }
            let permit = Permit {
                _walk: walks.begin(),
                begun: Instant::now(),
                took: Arc::clone(&self.took),
                triggers: Arc::clone(&self.cache.triggers),
            };
            Box::new(permit) as Box<dyn Send>
        }
        .boxed()
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        *self.took.lock() = self.begun.elapsed();
        // A walk may have waited for it.
        self.triggers.wake_refresher();
    }
}

//! Ends the requests of a follower that wait for a walk of the leader, after that walk has failed.

use crate::SnapshotCache;
use frontend_map_cms::{ContentError, Outage};
use frontend_map_fleet::WalkFailure;

fn error(failure: WalkFailure) -> ContentError {
    match failure {
        WalkFailure::Unavailable { retry_after } => {
            ContentError::Unavailable { retry_after, outage: Outage::Elsewhere }
        }
        WalkFailure::TimedOut => ContentError::TimedOut,
        WalkFailure::Unusable => {
            ContentError::Unusable("the log of the instance that reads the list says why")
        }
    }
}

impl SnapshotCache {
    /// Records that the leader of the snapshots with this lease could not walk them: requests that
    /// wait for its snapshot fail with the same status as on the leader.
    pub fn fail_followed(&self, lease: &str, failure: WalkFailure) {
        self.record_response(lease);
        for group in self.with_lease(lease).filter(|group| group.shared.is_followed()) {
            for member in &group.members {
                if let Some(flight) = member.entry.end_followed() {
                    flight.complete(Err(error(failure)));
                }
            }
        }
    }
}

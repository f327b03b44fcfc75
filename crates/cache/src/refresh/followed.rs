//! Refreshes on a follower: they end with the adoption of a list that the leader has published.

use std::time::Duration;

use futures::future::join_all;
use tokio::time::sleep;

use super::type_group::BegunRefresh;
use crate::entry::Event;
use frontend_map_cms::ContentError;
use frontend_map_fleet::{SnapshotGroup, WalkFailure};

/// How often a waiting refresh checks the role of this instance, and asks the leader.
const PERIOD: Duration = Duration::from_millis(100);

/// Waits while another instance is the leader of these lists. Each refresh ends with the next
/// adoption, also if the walk of that version began before the refresh: otherwise its waiters would
/// wait for another walk. Returns the refreshes for which this instance has to walk by itself,
/// because its role has changed.
pub(super) async fn wait_for_adoption(
    mut begun: Vec<BegunRefresh>,
    shared: &SnapshotGroup,
) -> Vec<BegunRefresh> {
    if shared.follows() {
        for BegunRefresh { member, flight } in &begun {
            member.entry.apply_to(flight, Event::Follow);
        }
        let abandoned = join_all(begun.iter().map(BegunRefresh::abandoned));
        tokio::select! {
            biased;
            _ = abandoned => {}
            () = until_adopted(&begun, shared) => {}
        }
    }
    begun.retain(|BegunRefresh { member, flight }| member.entry.apply_to(flight, Event::Walk));
    begun
}

/// Waits until all refreshes have ended, or this instance is no follower any more.
async fn until_adopted(begun: &[BegunRefresh], shared: &SnapshotGroup) {
    let is_left = |begun: &BegunRefresh| begun.member.entry.is_in_flight(&begun.flight);
    while shared.follows() && begun.iter().any(is_left) {
        shared.want_refresh();
        sleep(PERIOD).await;
    }
}

/// Reports a failed walk to the fleet.
pub(crate) fn report_failure(shared: &SnapshotGroup, error: &ContentError) {
    match error {
        // The CMS answers: another instance has the same token.
        ContentError::Setup(_) => shared.fail_followers(walk_failure(error)),
        _ => shared.report_failure(walk_failure(error)),
    }
}

/// The error in as much detail as events and responses have.
pub fn walk_failure(error: &ContentError) -> WalkFailure {
    match error {
        ContentError::Unavailable { retry_after, .. }
        | ContentError::TypeFails { retry_after, .. }
        | ContentError::CircuitOpen { retry_after, .. } => {
            WalkFailure::Unavailable { retry_after: *retry_after }
        }
        ContentError::TimedOut => WalkFailure::TimedOut,
        ContentError::TlsFailed
        | ContentError::Unusable(_)
        | ContentError::Redirected(_)
        | ContentError::Setup(_) => WalkFailure::Unusable,
    }
}

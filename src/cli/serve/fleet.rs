//! The background tasks of an instance of a fleet.

use std::sync::Arc;

use tokio::task::JoinHandle;

use super::background::restart_on_panic;
use frontend_map_cache::{SnapshotCache, follow_roles, follow_snapshots};
use frontend_map_service::app::{apply_cms_event, apply_fleet_event};
use frontend_map_service::http::Service;

/// Follows the roles and the events of the fleet, until it is aborted; without Redis there is
/// nothing to do.
pub(super) fn follow(
    service: &Service,
    snapshots: impl Fn() -> Arc<SnapshotCache> + Clone + Send + Sync + 'static,
) -> JoinHandle<()> {
    let service = service.clone();
    let fleet = Arc::clone(&service.app().shared.fleet);
    tokio::spawn(async move {
        if fleet.redis().is_none() {
            return;
        }
        let roles = restart_on_panic(|| follow_roles(snapshots.clone(), Arc::clone(&fleet)));
        let adopted = restart_on_panic(|| follow_snapshots(snapshots.clone(), Arc::clone(&fleet)));
        let published = restart_on_panic(|| fleet.publish_snapshots());
        let read = restart_on_panic(|| {
            fleet.read_events(|event| apply_fleet_event(&service.app(), event))
        });
        let forwarded = restart_on_panic(|| {
            fleet.forward_cms_events(|event| apply_cms_event(&service.app(), event))
        });
        let changes = restart_on_panic(|| fleet.share_changes());
        tokio::join!(roles, adopted, published, read, forwarded, changes);
    })
}

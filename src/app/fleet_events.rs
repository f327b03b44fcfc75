//! Applies events to the caches: those of the CMS, and those of other instances.

use crate::fleet::FleetEvent;
use crate::fleet::cms_events::{CmsChange, CmsEvent};
use crate::snapshot_cache::{Change, Invalidation};

use super::App;

/// Shares an event of the CMS that this instance has received with all instances, within 50 ms;
/// while the engine is away, applies it at once.
pub async fn receive_cms_event(app: &App, event: CmsEvent) {
    record(app, &event);
    if app.shared.fleet.share_cms_event(event.clone()).await {
        add_hint(app, &event);
    }
}

/// Applies an event of the CMS, whichever instance has received it.
pub fn apply_cms_event(app: &App, event: &CmsEvent) {
    record(app, event);
    add_hint(app, event);
}

/// Applies an event of the fleet.
pub fn apply_fleet_event(app: &App, event: FleetEvent) {
    match event {
        FleetEvent::Cms(event) => apply_cms_event(app, &event),
        FleetEvent::Want(lease) => app.snapshots.refresh_for_follower(&lease),
        FleetEvent::Acknowledged(lease) => app.snapshots.record_response(&lease),
        FleetEvent::Failed(lease, failure) => app.snapshots.fail_followed(&lease, failure),
        FleetEvent::Gap(until) => {
            // A URL that was withdrawn must not reappear because the CMS fails.
            app.documents.invalidate(None);
            app.snapshots.record_missed_events(until);
            app.shared.fleet.read_gap();
            if let Some(lists) = app.shared.fleet.lists() {
                lists.read_gap();
            }
        }
        FleetEvent::Other(event) => {
            if app.shared.fleet.read_event(&event) {
                return;
            }
            if app.shared.fleet.lists().is_some_and(|lists| lists.read_event(&event)) {
                return;
            }
            tracing::debug!(kind = event.kind, "an event of the fleet is not used");
        }
    }
}

/// Records an event, as each instance does, also for lists that it does not walk.
fn record(app: &App, event: &CmsEvent) {
    app.snapshots.record_event();
    if event.withdraws {
        app.snapshots.record_withdrawal();
    }
    match invalidation(event) {
        Some(named) => app.documents.invalidate(Some(&named)),
        None if event.change == CmsChange::Anything => app.documents.invalidate(None),
        None => {}
    }
}

/// Lets the documents of an event and their dependents be read again, for the lists that this
/// instance walks.
fn add_hint(app: &App, event: &CmsEvent) {
    if event.change != CmsChange::Nothing {
        app.snapshots.invalidate(invalidation(event));
    }
}

fn invalidation(event: &CmsEvent) -> Option<Invalidation> {
    let CmsChange::Document { uid, document_id, is_withdrawn } = &event.change else { return None };
    let change = if *is_withdrawn { Change::Withdrawn } else { Change::Written };
    Some(Invalidation { uid: uid.clone(), document_id: document_id.clone(), change })
}

//! Applies events to the caches: those of the CMS, and those of other instances.

use std::time::Instant;

use frontend_map_catalog::site::Site;
use frontend_map_fleet::cms_events::{CmsChange, CmsEvent, Invalidation};
use frontend_map_fleet::links::READ_LINKS;
use frontend_map_fleet::{FleetEvent, Gap};
use frontend_map_rules::Locale;

use super::App;
use super::similar_types::warn_of_similar_type;

/// Shares an event of the CMS that this instance has received with all instances, within 50 ms;
/// while Redis is unavailable, applies it at once.
pub async fn receive_cms_event(app: &App, event: CmsEvent) {
    warn_of_similar_type(app, &event);
    record(app, &event);
    if app.shared.fleet.share_cms_event(event.clone()).await {
        invalidate_snapshots(app, &event);
    }
}

/// Lets a document be read again for the snapshots of all instances, because its published version in
/// a locale differs from them: the webhook about it was lost, or is late. If it still differs then, the
/// CMS contradicts itself, and the pauses grow.
pub async fn update_different_document(
    app: &App,
    site: &Site,
    uid: &str,
    document_id: &str,
    locale: &Locale,
) {
    if !app.documents.record_difference(site, uid, document_id, locale) {
        return;
    }
    tracing::debug!(uid, document_id, "a document differs from the snapshot and is read again");
    let (uid, document_id) = (uid.to_owned(), document_id.to_owned());
    let change = CmsChange::Document(Invalidation { uid, document_id, is_withdrawn: false });
    receive_cms_event(app, CmsEvent { withdraws: false, change, is_found: true }).await;
}

/// Applies an event of the CMS, whichever instance has received it.
pub fn apply_cms_event(app: &App, event: &CmsEvent) {
    record(app, event);
    invalidate_snapshots(app, event);
}

/// Applies an event of the fleet.
pub fn apply_fleet_event(app: &App, event: FleetEvent) {
    match event {
        FleetEvent::Cms(event) => apply_cms_event(app, &event),
        FleetEvent::Want(group) => app.snapshots.refresh_for_follower(&group),
        FleetEvent::Walk(group) => app.snapshots.walk_for_follower(&group),
        FleetEvent::Acknowledged(group) => app.snapshots.record_response(&group),
        FleetEvent::Failed(group, failure) => app.snapshots.fail_followed(&group, failure),
        FleetEvent::Gap(Gap { until, lost_until, kept, read_before }) => {
            // A URL that was withdrawn must not reappear because the CMS fails.
            app.shared.last_good.forget_all_until(lost_until);
            for (at, event) in &kept {
                record_withdrawal(app, event, *at);
                invalidate_links(app, event);
            }
            app.shared.triggers.record_named(None);
            app.snapshots.record_missed_events(until);
            app.shared.fleet.read_gap(read_before);
        }
        FleetEvent::Other(event) => {
            if event.kind == READ_LINKS {
                let site = String::from_utf8_lossy(&event.body);
                return app.links.get(&*site).into_iter().for_each(|links| links.want());
            }
            if !app.shared.fleet.read_event(&event) {
                tracing::debug!(kind = event.kind, "an event of the fleet is not used");
            }
        }
    }
}

/// Records an event, as each instance does, also for lists that it does not walk.
fn record(app: &App, event: &CmsEvent) {
    if event.withdraws {
        app.shared.triggers.record_withdrawal();
    }
    record_withdrawal(app, event, Instant::now());
    if !event.is_found {
        app.shared.triggers.record_event();
        if event.change != CmsChange::Nothing {
            app.shared.triggers.record_named(event.document());
        }
    }
    match &event.change {
        CmsChange::Nothing => {}
        CmsChange::ContentTypes(uids) => app.shared.last_good.forget_types(uids),
        CmsChange::Document(_) | CmsChange::Anything => {
            app.shared.last_good.forget(event.document(), event.is_found, Instant::now());
        }
    }
}

/// Records what an event of this time has withdrawn: while the CMS fails, a snapshot from before does
/// not show it.
fn record_withdrawal(app: &App, event: &CmsEvent, at: Instant) {
    match event.document() {
        Some(document) if document.is_withdrawn => {
            app.shared.last_good.withdraw(Some(document), at);
        }
        None if event.withdraws && event.change == CmsChange::Anything => {
            app.shared.last_good.withdraw(None, at);
        }
        _ => {}
    }
}

/// Lets the documents of an event and their dependents be read again, for the lists that this
/// instance walks, and for their links.
fn invalidate_snapshots(app: &App, event: &CmsEvent) {
    invalidate_links(app, event);
    match &event.change {
        CmsChange::Nothing => {}
        CmsChange::ContentTypes(uids) => app.snapshots.refresh_types(uids),
        CmsChange::Document(_) | CmsChange::Anything => {
            app.snapshots.invalidate(event.document().cloned());
        }
    }
}

fn invalidate_links(app: &App, event: &CmsEvent) {
    for links in app.links.values() {
        match &event.change {
            CmsChange::Nothing => {}
            CmsChange::Document(Invalidation { uid, document_id, .. }) => {
                links.invalidate(uid, document_id);
            }
            CmsChange::ContentTypes(uids) => links.invalidate_types(Some(uids)),
            CmsChange::Anything => links.invalidate_types(None),
        }
    }
}

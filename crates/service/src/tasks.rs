//! The background tasks of the running service.

use std::future::pending;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::{JoinSet, block_in_place};
use tokio::time::sleep;

use crate::app::{
    apply_cms_event, apply_fleet_event, history_copy_is_due, receive_cms_event, save_misses,
    share_misses, write_history_copy,
};
use crate::http::Service;
use frontend_map_cache::{
    Probes, SnapshotCache, apply_invalidations, follow_roles, follow_snapshots, follow_store,
    keep_fresh,
};
use frontend_map_fleet::Fleet;
use frontend_map_outbound::webhooks::Timing;
use frontend_map_platform::http_client::system_look_up;

/// The pause before a task that has panicked starts again: it may panic again at once.
const PAUSE: Duration = Duration::from_millis(200);

/// Starts all tasks of a service. They end with the set. Those of a fleet end at once in an instance that
/// works alone.
pub(crate) fn start(service: &Service) -> JoinSet<()> {
    let mut tasks = Tasks { service, running: JoinSet::new() };
    tasks.start(|service| keep_fresh(snapshots(&service)));
    tasks.start(probe_changes);
    tasks.start(|service| apply_invalidations(snapshots(&service)));
    tasks.start(import_lists);
    tasks.start(copy_history);
    tasks.start(|service| follow_store(snapshots(&service)));
    tasks.start(keep_misses);
    tasks.start(read_links);
    tasks.start(update_links);
    tasks.start(share_links);
    tasks.start(send_webhooks);
    tasks.start(|service| service.app().shared.runs.clone().follow_store());
    tasks.start(|service| follow_roles(snapshots(&service), fleet(&service)));
    tasks.start(|service| follow_snapshots(snapshots(&service), fleet(&service)));
    tasks.start(async |service| fleet(&service).publish_snapshots().await);
    tasks.start(async |service| {
        let apply = |event| apply_fleet_event(&service.app(), event);
        fleet(&service).read_events(apply).await;
    });
    tasks.start(async |service| {
        let apply = |event: &_| apply_cms_event(&service.app(), event);
        fleet(&service).forward_cms_events(apply).await;
    });
    tasks.start(async |service| fleet(&service).share_changes().await);
    tasks.running
}

struct Tasks<'s> {
    service: &'s Service,
    running: JoinSet<()>,
}

impl Tasks<'_> {
    fn start<T>(&mut self, task: impl Fn(Service) -> T + Send + 'static)
    where
        T: Future<Output = ()> + Send + 'static,
    {
        let service = self.service.clone();
        self.running.spawn(restart_on_panic(move || task(service.clone())));
    }
}

/// Runs a task until it ends. If the task panics, it starts again: otherwise the service would miss
/// webhooks or refreshes until a restart. The panic hook logs and counts the panic.
async fn restart_on_panic<T: Future<Output = ()>>(task: impl Fn() -> T) {
    while AssertUnwindSafe(task()).catch_unwind().await.is_err() {
        sleep(PAUSE).await;
    }
}

/// The snapshots of the app that is current at each call.
fn snapshots(service: &Service) -> impl Fn() -> Arc<SnapshotCache> + Send + Sync + use<> {
    let service = service.clone();
    move || Arc::clone(&service.app().snapshots)
}

fn fleet(service: &Service) -> Arc<Fleet> {
    Arc::clone(&service.app().shared.fleet)
}

/// The pause between two attempts to import lists of redirects. The attempt for a list fails until the
/// content types of its site are known.
const IMPORT_PERIOD: Duration = Duration::from_secs(1);

/// Imports each list of redirects of the current settings as soon as the content types of its site are
/// known.
async fn import_lists(service: Service) {
    loop {
        let app = service.app();
        if app.imports.are_pending() {
            block_in_place(|| app.imports.run(&app.sites, &app.snapshots));
        }
        drop(app);
        sleep(IMPORT_PERIOD).await;
    }
}

/// How often it is checked whether a probe of the CMS is due.
const PROBE_CHECK_PERIOD: Duration = Duration::from_secs(1);

/// Probes the CMS for changes that no event has announced, and shares them with all instances.
async fn probe_changes(service: Service) {
    let mut probes = Probes::default();
    loop {
        sleep(PROBE_CHECK_PERIOD).await;
        let app = service.app();
        for event in probes.run(&app.snapshots).await {
            receive_cms_event(&app, event).await;
        }
    }
}

/// The pause between two checks whether the copy of the path history is due.
const COPY_CHECK_PERIOD: Duration = Duration::from_secs(1);
/// The pause after the copy could not be written.
const COPY_RETRY_PERIOD: Duration = Duration::from_hours(1);

/// Writes the copy of the path history once a day.
async fn copy_history(service: Service) {
    loop {
        let app = service.app();
        let work = || !history_copy_is_due(&app) || write_history_copy(&app);
        let pause = if block_in_place(work) { COPY_CHECK_PERIOD } else { COPY_RETRY_PERIOD };
        drop(app);
        sleep(pause).await;
    }
}

/// How often the paths that were not found are added to those of the other instances.
const SHARE_PERIOD: Duration = Duration::from_secs(5);
/// After how many of these periods they are written to the store: a list that changes all the time is a
/// write of at most a megabyte a minute.
const SHARES_A_SAVE: u32 = 12;

/// Shares and stores the paths that were not found.
async fn keep_misses(service: Service) {
    loop {
        for _ in 0..SHARES_A_SAVE {
            sleep(SHARE_PERIOD).await;
            share_misses(&service.app()).await;
        }
        save_misses(&service.app()).await;
    }
}

/// How often it is checked whether the content of a site is to be read for its links.
const LINKS_CHECK_PERIOD: Duration = Duration::from_secs(1);

/// Reads the content of the sites whose settings ask for its links.
async fn read_links(service: Service) {
    loop {
        sleep(LINKS_CHECK_PERIOD).await;
        let app = service.app();
        for links in app.links.values() {
            links.run_scan(&app.snapshots).await;
        }
    }
}

/// From an event of the CMS to the read of its document: more events may follow.
const LINKS_DEBOUNCE: Duration = Duration::from_millis(50);
/// The pause after documents could not be read.
const LINKS_RETRY: Duration = Duration::from_secs(5);

/// Reads the links of the documents that events of the CMS name.
async fn update_links(service: Service) {
    let mut are_left = false;
    loop {
        let shared = Arc::clone(&service.app().shared);
        let retry = async {
            sleep(LINKS_RETRY).await;
            if !are_left {
                pending::<()>().await;
            }
        };
        tokio::select! {
            () = shared.links.woken() => sleep(LINKS_DEBOUNCE).await,
            () = retry => {}
        }
        let app = service.app();
        are_left = false;
        for links in app.links.values() {
            are_left |= links.run_updates(&app.snapshots).await;
        }
    }
}

/// How often tables of links are published, adopted and stored after updates: less than the time for which
/// the events of a fleet can be read again.
const LINKS_SHARE_PERIOD: Duration = Duration::from_secs(30);
/// The first time: a new instance has no table yet.
const LINKS_FIRST_SHARE: Duration = Duration::from_secs(2);

/// Shares the tables of links with the other instances and stores them.
async fn share_links(service: Service) {
    let mut pause = LINKS_FIRST_SHARE;
    loop {
        sleep(pause).await;
        let app = service.app();
        let mut lacks_table = false;
        for links in app.links.values() {
            links.share(&app.snapshots).await;
            lacks_table |= links.table().is_none();
        }
        pause = if lacks_table { LINKS_FIRST_SHARE } else { LINKS_SHARE_PERIOD };
    }
}

/// Sends the changes to the targets of webhooks.
async fn send_webhooks(service: Service) {
    let shared = Arc::clone(&service.app().shared);
    let (store, positions) = (Arc::clone(&shared.store), shared.fleet.positions());
    let notifier = Arc::clone(&shared.notifier);
    let sent = notifier.run(store, positions, system_look_up(), Timing::default()).await;
    if let Err(error) = sent {
        tracing::error!(%error, "no webhooks can be sent");
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use super::*;

    #[tokio::test]
    async fn restart_on_panic_runs_a_task_until_it_ends_without_a_panic() {
        let runs = AtomicUsize::new(0);
        restart_on_panic(async || {
            assert!(runs.fetch_add(1, Ordering::Relaxed) == 2, "provoked by a test");
        })
        .await;
        assert_eq!(runs.into_inner(), 3);
    }
}

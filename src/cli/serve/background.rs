//! Background tasks of the service.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use tokio::task::block_in_place;
use tokio::time::{sleep, timeout};

use frontend_map_cache::Probes;
use frontend_map_service::app::{App, history_copy_is_due, receive_cms_event, write_history_copy};

/// The pause before a task that has panicked starts again: it may panic again at once.
const PAUSE: Duration = Duration::from_millis(200);

/// Runs a task until it ends. If the task panics, it starts again: otherwise the service would miss
/// webhooks or refreshes until a restart. The panic hook logs and counts the panic.
pub(super) async fn restart_on_panic<T: Future<Output = ()>>(task: impl Fn() -> T) {
    while AssertUnwindSafe(task()).catch_unwind().await.is_err() {
        sleep(PAUSE).await;
    }
}

/// The pause between two attempts to import lists of redirects. The attempt for a list fails until the
/// content types of its site are known.
const IMPORT_PERIOD: Duration = Duration::from_secs(1);

/// Imports each list of redirects of the current settings as soon as the content types of its site are
/// known.
pub(super) async fn import_lists(current: impl Fn() -> Arc<App>) {
    loop {
        let app = current();
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
pub(super) async fn probe_changes(current: impl Fn() -> Arc<App>) {
    let mut probes = Probes::default();
    loop {
        sleep(PROBE_CHECK_PERIOD).await;
        let app = current();
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
pub(super) async fn copy_history(current: impl Fn() -> Arc<App>) {
    loop {
        let app = current();
        let work = || !history_copy_is_due(&app) || write_history_copy(&app);
        let pause = if block_in_place(work) { COPY_CHECK_PERIOD } else { COPY_RETRY_PERIOD };
        drop(app);
        sleep(pause).await;
    }
}

/// How long a stop waits for the copy of the path history. It waits equally long for the last writes of
/// the store.
const LAST_COPY_TIME: Duration = Duration::from_secs(3);

/// Writes the copy of the path history at a stop. If the daily one is being written, this one follows.
pub(super) async fn copy_history_at_stop(app: Arc<App>) {
    let copy = tokio::task::spawn_blocking(move || write_history_copy(&app));
    if timeout(LAST_COPY_TIME, copy).await.is_err() {
        tracing::error!("former paths are not copied before the stop, because it takes too long");
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

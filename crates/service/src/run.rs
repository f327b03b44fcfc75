//! Runs the service: its listeners and background tasks, from the start to the stop.

use std::convert::identity;
use std::future::pending;
use std::sync::Arc;
use std::time::Duration;

use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio::task::{JoinHandle, JoinSet, spawn_blocking};
use tokio::time::{Instant, timeout};

use crate::app::{App, save_misses, share_misses, write_history_copy};
use crate::http::{AdminService, RequestHandler, Service};
use crate::server::{self, ConnectionSettings};
use crate::tasks;
use frontend_map_platform::traces;

/// The most connections to the admin address.
pub const ADMIN_CONNECTIONS: usize = 8;

/// How long a stop waits for the copy of the path history. It waits equally long for the last writes of
/// the store.
const LAST_COPY_TIME: Duration = Duration::from_secs(3);

/// How long a stop waits for Redis to take the paths that were not found.
const LAST_SHARE_TIME: Duration = Duration::from_secs(1);

/// The bound sockets.
#[derive(Debug)]
pub struct Listeners {
    /// For all routes except those of the admin address.
    pub public: TcpListener,
    /// For the admin routes; `None`: they are not served.
    pub admin: Option<TcpListener>,
}

/// A running service. Its drop ends the background tasks alone.
pub struct Handle {
    service: Service,
    tasks: JoinSet<()>,
    close: oneshot::Sender<Instant>,
    served: JoinHandle<()>,
}

/// Starts everything. Must be called within a runtime of several threads.
pub fn run(app: App, listeners: Listeners, connections: ConnectionSettings) -> Handle {
    // Generic code is compiled at the `opt-level` of the package that calls it. That of this package is 3,
    // that of the commands is for size.
    run_with_handler(app, listeners, connections, identity)
}

/// As [`run`], but connections use the handler that `handler` makes of the service.
pub fn run_with_handler<H: RequestHandler>(
    app: App,
    listeners: Listeners,
    connections: ConnectionSettings,
    handler: impl FnOnce(Service) -> H,
) -> Handle {
    let service = Service::new(Arc::new(app));
    if let Some(listener) = listeners.admin {
        let admin = AdminService::new(service.clone());
        let connections = connections.uncounted(ADMIN_CONNECTIONS);
        // Until the process ends: the metrics of the shutdown are of interest too.
        tokio::spawn(server::serve(listener, admin, connections, pending()));
    }
    let (close, closing) = oneshot::channel();
    let closing = async { closing.await.unwrap_or_else(|_| Instant::now()) };
    let handler = handler(service.clone());
    let served = tokio::spawn(server::serve(listeners.public, handler, connections, closing));
    Handle { tasks: tasks::start(&service), service, close, served }
}

impl Handle {
    /// What handles requests, with the app that is current.
    pub fn service(&self) -> &Service {
        &self.service
    }

    /// Adds a task that ends with the others.
    pub fn spawn(&mut self, task: impl Future<Output = ()> + Send + 'static) {
        self.tasks.spawn(task);
    }

    /// Says that the service is about to stop: `/readyz` is not ready, and other instances take over what
    /// this one leads. Requests are still served.
    pub fn drain(&self) {
        let app = self.service.app();
        app.shared.drain();
        let fleet = Arc::clone(&app.shared.fleet);
        tokio::spawn(async move { fleet.release().await });
    }

    /// Accepts no more connections, lets requests in flight finish until `end`, and writes what must
    /// survive.
    pub async fn close(mut self, end: Instant) {
        let shared = Arc::clone(&self.service.app().shared);
        shared.close();
        self.tasks.abort_all();
        // The receiver is there as long as the service accepts connections.
        let _ = self.close.send(end);
        if let Err(error) = self.served.await {
            tracing::error!(%error, "the server has ended without a stop of the service");
        }
        copy_history(self.service.app()).await;
        keep_misses(&self.service.app()).await;
        self.service.app().links.values().for_each(|links| links.save(&shared.store));
        shared.store.close();
        traces::shutdown(end).await;
        shared.runs.release().await;
        tracing::info!("stopped");
    }
}

/// Gives the paths that were not found to the other instances, or else to the store.
async fn keep_misses(app: &App) {
    if timeout(LAST_SHARE_TIME, share_misses(app)).await.is_err() {
        tracing::debug!("paths that were not found are not shared before the stop");
    }
    save_misses(app).await;
}

/// Writes the copy of the path history. If the daily one is being written, this one follows.
async fn copy_history(app: Arc<App>) {
    let copy = spawn_blocking(move || write_history_copy(&app));
    if timeout(LAST_COPY_TIME, copy).await.is_err() {
        tracing::error!("former paths are not copied before the stop, because it takes too long");
    }
}

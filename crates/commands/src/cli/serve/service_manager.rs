//! What the service says to the service manager that started it, such as systemd with `Type=notify`:
//! that it is ready, reloads or stops, and its status in words. Without `NOTIFY_SOCKET` it says nothing.

use std::net::SocketAddr;

use sd_notify::NotifyState::{self, MonotonicUsec, Ready, Reloading, Status, Stopping};

use frontend_map_service::app::App;

/// The addresses are bound, and requests are answered.
pub(super) fn ready(app: &App, address: SocketAddr) {
    let sites = app.sites.iter().count();
    notify(&[Ready, Status(&format!("serving on {address}; sites: {sites}"))]);
}

/// New settings are read and applied. [`reloaded`] follows.
pub(super) fn reloading() {
    // Always available on Linux; systemd requires it since version 253.
    let now = NotifyState::monotonic_usec_now().unwrap_or(MonotonicUsec(0));
    notify(&[Reloading, now, Status("reloading the settings")]);
}

/// The new settings are in use, or the old ones stay.
pub(super) fn reloaded(status: &str) {
    // A line of a message is an assignment.
    let status = status.replace(char::is_control, " ");
    notify(&[Ready, Status(&status)]);
}

/// No new connections will be accepted, and requests in flight are answered.
pub(in crate::cli) fn stopping() {
    notify(&[Stopping, Status("stopping: waiting for requests in flight")]);
}

fn notify(states: &[NotifyState<'_>]) {
    if let Err(error) = sd_notify::notify(states) {
        tracing::warn!(%error, "the service manager cannot be notified");
    }
}

//! The code around all operations: routes, checks, limits, common headers, logs and traces.

mod access_log;
pub(super) mod admin_service;
mod context;
mod cors;
mod load_shed;
mod request_check;
pub(super) mod routes;
pub(super) mod service;
mod trace;

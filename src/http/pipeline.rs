//! What each request passes on its way to an operation, and each response on its way back.

mod access_log;
pub(super) mod admin_service;
mod context;
mod cors;
mod load_shed;
mod request_check;
pub(super) mod routes;
pub(super) mod service;
mod trace;

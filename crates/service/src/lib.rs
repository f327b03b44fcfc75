//! The running service.
//!
//! - [`server`]: sockets, connections, time-outs.
//! - [`http`]: one file for each operation; `pipeline` has all routes on one page.
//! - [`app`]: what handlers share, made from one version of the settings; a reload makes a new one.
//! - [`shared`]: what survives a reload.
//! - [`run`]: starts listeners and background tasks, and stops them.

pub mod app;
pub mod http;
pub mod run;
pub mod server;
pub mod shared;
mod tasks;

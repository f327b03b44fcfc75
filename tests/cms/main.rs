//! The service in front of a CMS that fails, lies, leaks, or leaves out what it should send.
//!
//! The CMS is scripted, on a real socket: it answers a request as the case says, and counts it.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod absent_keys;
mod breaker;
mod canaries;
mod cms_tls;
mod hostile_cms;
mod http_client;
mod last_good;
mod log_lines;
mod reasons;
mod strapi;
mod strapi_walk;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

//! Several instances that act as one, on a real redis-server, which the tests kill, pause, empty and
//! cut off.
//!
//! `scripts/check_fleet.py` does so for minutes, compares the responses of all instances with an
//! oracle, and counts what the CMS, the frontends and Redis get.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod changes;
mod check_limit;
mod check_redis;
mod cms_events;
mod cms_outage;
mod foreign_values;
mod history;
pub(crate) mod instances;
mod links;
mod lists;
mod misses;
mod publication;
mod redis;
mod roles;
mod runs;
mod status;
mod unavailable;
mod user;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

//! Several instances that act as one, on a real redis-server.

mod changes;
mod cms_events;
mod foreign_values;
mod history;
pub(crate) mod instances;
mod lists;
mod permits;
mod publication;
mod redis;
mod roles;
mod runs;
mod status;
mod unavailable;
mod user;

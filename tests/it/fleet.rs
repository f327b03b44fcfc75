//! Several instances that act as one, on a real redis-server.

mod away;
mod changes;
mod cms_events;
mod engine;
mod foreign_values;
mod history;
pub(crate) mod instances;
mod lists;
mod permits;
mod publication;
mod roles;
mod runs;
mod status;
mod user;

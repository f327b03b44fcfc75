//! One file for each section of the settings: its keys, their defaults and their checks.

pub(super) mod auth;
pub(super) mod changes;
pub(super) mod cms;
pub(super) mod limits;
pub(super) mod log;
pub(super) mod moved;
pub(super) mod rule;
pub(super) mod server;
pub(super) mod shared;
pub(super) mod site;
pub(super) mod snapshots;
pub(super) mod store;
pub(super) mod traces;
pub(super) mod validation;

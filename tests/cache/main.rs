//! What the service knows of the CMS: snapshots, their updates, what is remembered of former ones, and
//! reloads.
//!
//! - `shifting` generates scripts in which editors change documents between any two requests of a
//!   walk, while the CMS fails or returns wrong data. Every 200 is checked against the history of each
//!   document. `changing` does so with webhooks and related documents.
//! - `moved` compares redirects with a naive model, `changes` the deliveries of webhooks with the edits.
//! - `redirects` edits redirects of the CMS and their targets.
//! - `store` kills the process while it writes.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod changes;
mod changing;
mod links;
mod moved;
mod owners;
mod redirects;
mod reload;
mod shifting;
mod snapshots;
mod store;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

//! What the README, the pages of `docs/`, the alert rules and the example settings say, compared with the
//! binary and the repository.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod alarms;
mod instances;
mod openapi;
mod pages;
mod references;
mod responses;
mod settings;
mod snippets;
mod words;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

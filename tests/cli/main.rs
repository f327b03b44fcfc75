//! Commands and settings: what `frontend-map check`, `init`, `explain`, `types` and `demo` print, and how
//! wrong settings are refused before a port is bound.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod check_cms;
mod commands;
mod demo;
mod explain;
mod init;
mod mistakes;
mod rule_settings;
mod sarif;
mod settings;
mod settings_file;
mod types;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

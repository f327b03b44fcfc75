//! Black-box tests of the real binary and the public core.
//!
//! - `tests/it` starts the real binary on a free port and exchanges exact bytes with it. Peers
//!   (CMS, frontends) are scripted, on real sockets. There are no mocks of our own code.
//! - `tests/corpora` has hostile requests, slugs, base URLs and CMS responses, one case per row.
//!   An unknown kind of row fails.
//! - Property tests: normalization is idempotent, a template prints as the text that it was
//!   parsed from, and a built path resolves to the values that it was built from.
//! - `tests/it/shifting` generates scripts in which editors change documents between any two
//!   requests of a walk, while the CMS fails or returns wrong data. Every 200 is checked against
//!   the history of each document.
//! - `tests/it/docs.rs` compares these pages and the example settings with the binary;
//!   `tests/it/alarms.rs` compares the alert rules, the dashboard and the runbook with the
//!   metrics and each other.
//! - Every response and every log line of the tests is searched for the CMS's token and for a
//!   draft.
//! - `tests/it/fleet` starts several instances on a real `redis-server`, which it kills, pauses,
//!   empties and cuts off; `scripts/check_fleet.py` does so for minutes, compares the responses
//!   of all instances with an oracle, and counts what the CMS, the frontends and Redis get.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod absent_keys;
mod alarms;
mod bad_inputs;
mod batches;
mod breaker;
mod canaries;
mod changes;
mod changing;
mod check_cms;
mod check_redis;
mod cms_tls;
mod commands;
mod connections;
mod crawler;
mod demo;
mod docs;
mod explain;
mod fleet;
mod hostile_cms;
mod hostile_slugs;
mod hosts;
mod init;
mod last_good;
mod laws;
mod lifecycle;
mod matching;
mod mistakes;
mod moved;
mod operations;
mod outgoing;
mod overload;
mod own_path;
mod owners;
mod page_trees;
mod pages_outside_the_cms;
mod reasons;
mod reload;
mod request_log;
mod resolve;
mod rule_settings;
mod settings;
mod settings_file;
mod shifting;
mod site_locales;
mod snapshots;
mod ssrf_guard;
mod store;
mod strapi;
mod strapi_walk;
mod support;
mod tables;
mod ties;
mod traces;
mod trailing_slash;
mod types;
mod validate;
mod validation;
mod validator;
mod watching;

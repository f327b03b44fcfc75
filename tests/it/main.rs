//! Black-box tests of the real binary and the public core.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod address_fence;
mod bad_inputs;
mod breaker;
mod canaries;
mod commands;
mod connections;
mod crawler;
mod demo;
mod docs;
mod explain;
mod hostile_cms;
mod hostile_slugs;
mod last_good;
mod laws;
mod layering;
mod lifecycle;
mod matching;
mod operations;
mod outgoing;
mod overload;
mod page_trees;
mod reload;
mod request_log;
mod resolve;
mod rule_settings;
mod settings;
mod shifting;
mod snapshots;
mod strapi;
mod strapi_walk;
mod support;
mod validate;
mod validation;
mod validator;
mod watching;

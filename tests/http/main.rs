//! Requests and responses of the running service: every operation, from pathname to sitemap file.
//!
//! The content is in a file, or comes from a scripted CMS that does not fail. The rows of
//! `tests/corpora` are sent here, one case per row; an unknown kind of row fails.
#![expect(clippy::unwrap_used, reason = "a panic in a helper of a test is the report as well")]

mod bad_inputs;
mod batches;
mod cache_tags;
mod connections;
mod crawler;
mod document;
mod hostile_slugs;
mod hosts;
mod lifecycle;
mod links;
mod matching;
mod misses;
mod operations;
mod overload;
mod own_path;
mod page_trees;
mod pages_outside_the_cms;
mod publish_preview;
mod redirects;
mod request_log;
mod resolve;
mod service_manager;
mod site_locales;
mod sites;
mod tables;
mod ties;
mod traces;
mod trailing_slash;
mod watching;

#[path = "../support/mod.rs"]
#[expect(dead_code, reason = "each program of tests uses a part")]
mod support;

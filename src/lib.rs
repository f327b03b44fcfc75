//! Maps the documents of a headless CMS to public frontend URLs, in both directions.
//!
//! The map of the modules, from `docs/architecture.md`, which also walks through a pathname, a document,
//! a URL check and a reload. Imports point downwards.
//!
//! ```text
//!   main ── cli ── demo                  commands, exit status
//!            │
//!       config ── boot                   settings → App, at start and at a reload
//!            │
//!         server                         accept loop, connections, timeouts
//!            │
//!          http                          routes, requests, responses, operations
//!            │
//!        app ── shared                   what handlers share; what survives a reload
//!            │
//!    snapshot_cache      validator       cached URLs, refreshed; URL checks as runs
//!       │    │    │          │
//! content  sitemap  path_index           documents; lists and files; path → document
//!    │  │        │       │
//! outgoing  snapshot   site   explain    HTTP client; all URLs of a type; sites
//! metrics      │         │
//! traces    frontend_url                 base URL + rule + document → URL
//!              │
//!            rules                       templates, paths, locales: pure
//! ```
//!
//! Numbers such as D13 are headings of `docs/decisions.md`.

pub mod app;
pub mod boot;
pub mod cli;
pub mod config;
pub mod content;
pub mod demo;
pub mod explain;
pub mod frontend_url;
pub mod http;
pub mod metrics;
pub mod outgoing;
pub mod path_index;
pub mod rules;
pub mod server;
pub mod shared;
pub mod site;
pub mod sitemap;
pub mod snapshot;
pub mod snapshot_cache;
pub mod traces;
pub mod validator;

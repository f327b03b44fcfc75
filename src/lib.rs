//! Maps the content of a headless CMS to public frontend URLs, in both directions.

pub mod app;
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
pub mod permits;
pub mod rules;
pub mod server;
pub mod site;
pub mod sitemap;
pub mod snapshot;
pub mod traces;
pub mod validator;

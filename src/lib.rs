//! Maps the documents of a headless CMS to public frontend URLs, in both directions.

pub mod boot;
pub mod cli;
pub mod config;
pub mod demo;

//! The HTTP side: all routes and layers on one page (`router`), one file an operation.

mod access;
mod content_type;
mod cors;
mod edge;
mod envelope;
mod error;
mod frontend_url;
mod health;
mod param;
mod query;
mod router;
mod sitemap;

pub(crate) use error::two_framings;
#[cfg(fuzzing)]
pub use query::fuzz_query;
pub use router::router;

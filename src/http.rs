//! The HTTP side: all routes on one page (`router`), what every request passes (`service`), one
//! file an operation.

mod accept;
mod access;
mod admin;
mod bearer;
mod content_type;
mod copy;
mod cors;
mod crawler;
mod edge;
mod encoding;
mod envelope;
mod error;
mod etag;
mod frontend_url;
mod gzip;
mod health;
mod held;
mod hook;
mod json;
mod listed;
mod param;
mod pieces;
mod query;
mod request_id;
mod resolve;
mod resolved;
mod resolved_by;
mod rooms;
mod router;
mod service;
mod sitemap;
mod traced;
mod validation;

pub use admin::Admin;
pub use envelope::{Answer, AnswerBody};
pub use held::hold;
#[cfg(fuzzing)]
pub use query::fuzz_query;
pub use service::{Answerer, Answering, Service};

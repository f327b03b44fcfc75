//! The parts of responses: envelopes, errors, validators, cache headers and bodies.

pub(super) mod cache_status;
pub(super) mod conditional;
pub(super) mod envelope;
pub(super) mod error;
pub(super) mod etag;
pub(super) mod guarded_body;
mod gzip;
pub(super) mod stream_body;

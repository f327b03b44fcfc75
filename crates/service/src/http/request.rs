//! What operations read from a request: parameters of the query, and headers.

pub(super) mod accept;
pub(super) mod bearer;
pub(super) mod call;
pub(super) mod encoding;
pub(super) mod params;
pub(super) mod query;
pub(super) mod request_id;

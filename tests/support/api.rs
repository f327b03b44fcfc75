//! Requests to the operations of a service.

use serde_json::Value;

use super::http::{self, Response};
use super::service::Service;

pub(crate) fn get(service: &Service, target: &str) -> Response {
    http::get(service.addr(), target)
}

/// The member `data` of a 200.
#[track_caller]
pub(crate) fn data(service: &Service, target: &str) -> Value {
    let response = get(service, target);
    assert_eq!(response.status, 200, "{target}: {}", response.text());
    response.json()["data"].clone()
}

/// The version of the first list that an instance of a fleet has.
pub(crate) fn version(service: &Service) -> Option<u64> {
    let ready = http::get(service.admin(), "/readyz").json();
    ready["contentTypes"][0]["shared"]["version"].as_u64()
}

//! `validate=true` of the real service with a scripted frontend: shared runs, their end, their results
//! and their authorization.

mod auth;
mod last_run;
mod reasons;
mod restart;
mod shared;
mod streamed;

use crate::support::http::{self, Response};
use crate::support::service::Service;
use crate::support::url_checks::target;

fn ask(service: &Service, headers: &[(&str, &str)]) -> Response {
    http::send(service.addr(), "GET", &target(0), headers)
}

//! What the head of an answer says.

use hyper::header::LOCATION;
use hyper::{Response, StatusCode};

use super::{CheckResult, location};
use crate::outgoing::retry_after;

/// The result of a URL that was answered.
pub(super) fn read<B>(response: &Response<B>) -> CheckResult {
    let (status, headers) = (response.status(), response.headers());
    let busy = status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error();
    let seconds = retry_after(headers).filter(|_| busy);
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    CheckResult::Response {
        status: status.as_u16(),
        location: location.map(|sent| location::harmless(sent.as_bytes())),
        retry_after: seconds.map(|seconds| u32::try_from(seconds).unwrap_or(u32::MAX)),
    }
}

//! What the head of an answer says.

use hyper::Response;
use hyper::header::LOCATION;

use super::{Checked, location, retry_after};

/// The result of a URL that was answered.
pub(super) fn read<B>(response: &Response<B>) -> Checked {
    let (status, headers) = (response.status(), response.headers());
    let location = headers.get(LOCATION).filter(|_| status.is_redirection());
    Checked::Answered {
        status: status.as_u16(),
        location: location.map(|sent| location::harmless(sent.as_bytes())),
        retry_after: retry_after::retry_after(response),
    }
}

//! Reads the body of a batch, within limits of size and time.

use std::time::Duration;

use axum::body::Body;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::{IntoResponse, Response};
use http_body_util::BodyExt;
use tokio::time::timeout;

use crate::http::response::error::ApiError;

/// The longest body, in bytes: a batch of 1,000 documents has about 100 KiB.
const MAX_BODY: usize = 256 << 10;
/// How long a body may take.
const BODY_TIMEOUT: Duration = Duration::from_secs(5);
/// How much of a longer body is read and dropped, in bytes: a client that still sends would not read
/// the response.
const MAX_DROPPED: usize = 64 << 20;

/// The body.
///
/// # Errors
/// The response if it is too long, takes too long or breaks off.
pub(super) async fn read(body: Body) -> Result<Vec<u8>, Response> {
    let (mut text, mut length) = (Vec::new(), 0);
    let ended = timeout(BODY_TIMEOUT, read_to_end(body, &mut text, &mut length)).await;
    match ended {
        _ if length > MAX_BODY => Err(closing(ApiError::payload_too_large(MAX_BODY))),
        Ok(Ok(())) => Ok(text),
        Ok(Err(_)) => Err(closing(ApiError::validation("the body is not complete"))),
        Err(_) => Err(closing(ApiError::request_timeout(BODY_TIMEOUT))),
    }
}

/// Reads at most [`MAX_BODY`] into `text`, and counts what there is.
async fn read_to_end(
    mut body: Body,
    text: &mut Vec<u8>,
    length: &mut usize,
) -> Result<(), axum::Error> {
    while let Some(frame) = body.frame().await {
        // Trailers are ignored.
        let data = frame?.into_data().unwrap_or_default();
        *length += data.len();
        if *length <= MAX_BODY {
            text.extend_from_slice(&data);
        } else if *length > MAX_DROPPED {
            break;
        } else {
            *text = Vec::new();
        }
    }
    Ok(())
}

/// The connection is closed, because a part of the body may be unread.
fn closing(error: ApiError) -> Response {
    let mut response = error.into_response();
    response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
    response
}

//! The checks that each request passes before it is routed (D3, D6).

use axum::http::header::HOST;
use axum::http::uri::Authority;
use axum::http::{HeaderMap, Request, Uri, Version};

use crate::http::response::error::ApiError;

/// The longest request target, in bytes (D3).
const MAX_TARGET: usize = 8 * 1024;

/// Checks the length of the target and the `Host` header.
pub(super) fn check_request<B>(request: &Request<B>) -> Result<(), ApiError> {
    if target_length(request.uri()) > MAX_TARGET {
        return Err(ApiError::target_too_long(MAX_TARGET));
    }
    if request.version() == Version::HTTP_11 && !has_one_host(request.headers()) {
        let message = "an HTTP/1.1 request must have exactly one valid Host header";
        return Err(ApiError::validation(message));
    }
    Ok(())
}

/// The length of the target as it was sent, in bytes; it may have origin form or absolute form.
fn target_length(uri: &Uri) -> usize {
    let scheme = uri.scheme_str().map_or(0, |scheme| scheme.len() + "://".len());
    let authority = uri.authority().map_or(0, |authority| authority.as_str().len());
    scheme + authority + uri.path_and_query().map_or(0, |path| path.as_str().len())
}

/// RFC 9112, section 3.2: a 1.1 request has exactly one valid `Host`. It may be empty.
fn has_one_host(headers: &HeaderMap) -> bool {
    let repeated = headers.len() > headers.keys_len();
    if repeated && headers.get_all(HOST).iter().count() > 1 {
        return false;
    }
    headers.get(HOST).is_some_and(|host| is_host(host.as_bytes()))
}

/// `uri-host [ ":" port ]` of RFC 9110, section 7.2.
fn is_host(host: &[u8]) -> bool {
    host.is_empty() || is_simple_host(host) || is_authority(host)
}

/// Whether it is a name or an IPv4 address, maybe with a port. Nearly all hosts are, and this takes
/// a single pass.
fn is_simple_host(host: &[u8]) -> bool {
    let allowed = |b: &&u8| b.is_ascii_alphanumeric() || **b == b'.' || **b == b'-';
    match host.split_at(host.iter().take_while(allowed).count()) {
        ([], _) => false,
        (_, []) => true,
        (_, [b':', port @ ..]) => port.iter().all(u8::is_ascii_digit),
        _ => false,
    }
}

fn is_authority(host: &[u8]) -> bool {
    let authority = Authority::try_from(host);
    authority.is_ok_and(|authority| {
        // With user info, the host is no prefix of the authority: refused, as `@` is no digit.
        let port = authority.as_str().strip_prefix(authority.host()).unwrap_or("@");
        let digits = port.strip_prefix(':').unwrap_or(port);
        digits.bytes().all(|b| b.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_host_follows_rfc_9110() {
        for host in ["", "localhost", "a.example:80", "127.0.0.1:8080", "[::1]:80", "h:", ":80"] {
            assert!(is_host(host.as_bytes()), "{host}");
        }
        for host in ["a b", "u@h", "h:80x", "h/p", "h?x", "a,b c", "[::1", "h:80:90", "\u{e9}"] {
            assert!(!is_host(host.as_bytes()), "{host}");
        }
    }
}

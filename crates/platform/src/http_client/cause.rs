//! Why an outgoing request failed, by the types in the error's chain and never by its text.

use std::error::Error;
use std::io::{self, ErrorKind};

use super::resolver::DnsFailure;
use super::ssrf_guard::is_not_allowed;

/// Why a request got no usable response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Cause {
    /// The host name has no address, or the resolver failed.
    Dns,
    /// No connection within the client's connect timeout (name look-up and TLS included).
    ConnectTimeout,
    /// A connection, but no complete response within the client's timeout.
    Timeout,
    /// No connection: refused, or the network is unreachable.
    Refused,
    /// The peer closed or reset the connection before the response was complete.
    Reset,
    /// The TLS handshake failed, or the encrypted stream is broken.
    Tls,
    /// The response is not HTTP, its head is too large, or its body cannot be decoded.
    InvalidResponse,
}

/// The cause of a failed request or of a body that broke off.
///
/// The error itself must not be printed: its text carries the URL.
pub fn cause(error: &reqwest::Error) -> Cause {
    match known_cause(error) {
        // The timeouts of the connection and of the request have the same private type.
        Some(Cause::Timeout) | None if timed_out(error) => {
            if error.is_connect() {
                Cause::ConnectTimeout
            } else {
                Cause::Timeout
            }
        }
        // A whole message whose compressed text breaks off: the connection was not reset.
        Some(Cause::Reset) if error.is_decode() && !from_connection(error) => {
            Cause::InvalidResponse
        }
        Some(cause) => cause,
        None if error.is_connect() => Cause::Refused,
        None => Cause::InvalidResponse,
    }
}

/// Why a request failed, without its URL.
pub fn failure_text(error: &reqwest::Error) -> &'static str {
    if is_not_allowed(error) {
        return "the name resolves to an address that is not allowed";
    }
    match cause(error) {
        Cause::Dns => "the name has no address",
        Cause::ConnectTimeout => "no connection in time",
        Cause::Timeout => "no response in time",
        Cause::Refused => "the connection is refused",
        Cause::Reset => "the connection was reset",
        Cause::Tls => "the TLS handshake failed",
        Cause::InvalidResponse => "the response is not HTTP",
    }
}

/// The cause of any error of a request, as far as its types tell.
fn known_cause(error: &(dyn Error + 'static)) -> Option<Cause> {
    chain(error).find_map(known)
}

/// Whether this process or its machine has no file descriptors left, so that no connection was made.
pub fn is_out_of_files(error: &(dyn Error + 'static)) -> bool {
    // The standard library has no names for them; the numbers are the same on every Unix.
    const ENFILE: i32 = 23;
    const EMFILE: i32 = 24;
    let number = |link: &(dyn Error + 'static)| link.downcast_ref::<io::Error>()?.raw_os_error();
    chain(error).filter_map(number).any(|number| [ENFILE, EMFILE].contains(&number))
}

/// Whether anything in the chain is a timeout.
fn timed_out(error: &reqwest::Error) -> bool {
    error.is_timeout() || chain(error).any(|link| known(link) == Some(Cause::Timeout))
}

/// Whether the connection reported the error, not the decoder above it.
fn from_connection(error: &reqwest::Error) -> bool {
    chain(error).any(<dyn Error>::is::<hyper::Error>)
}

/// The error and everything below it, outermost first.
pub(super) fn chain<'a>(
    error: &'a (dyn Error + 'static),
) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |link| below(*link))
}

/// The next error down. `io::Error::source` skips the error that it wraps, so `get_ref` comes first.
fn below<'a>(error: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    let wrapped = error.downcast_ref::<io::Error>().and_then(io::Error::get_ref);
    wrapped.map(|inner| inner as &(dyn Error + 'static)).or_else(|| error.source())
}

/// The cause that the type of one error in the chain tells, if any.
fn known(error: &(dyn Error + 'static)) -> Option<Cause> {
    if error.is::<DnsFailure>() {
        return Some(Cause::Dns);
    }
    if error.is::<rustls::Error>() || error.is::<rustls::pki_types::InvalidDnsNameError>() {
        return Some(Cause::Tls);
    }
    if let Some(error) = error.downcast_ref::<hyper::Error>() {
        return from_hyper(error);
    }
    error.downcast_ref::<io::Error>().and_then(from_io)
}

/// The cause that hyper tells; its input and output errors are further down the chain.
fn from_hyper(error: &hyper::Error) -> Option<Cause> {
    if error.is_parse() {
        Some(Cause::InvalidResponse)
    } else if error.is_incomplete_message() || error.is_canceled() || error.is_closed() {
        Some(Cause::Reset)
    } else {
        None
    }
}

/// The cause that the kind of an `io::Error` tells; `Other` only wraps another error.
fn from_io(error: &io::Error) -> Option<Cause> {
    match error.kind() {
        ErrorKind::ConnectionRefused
        | ErrorKind::HostUnreachable
        | ErrorKind::NetworkUnreachable
        | ErrorKind::NetworkDown
        | ErrorKind::AddrNotAvailable
        // The connector has no address left to try.
        | ErrorKind::NotConnected => Some(Cause::Refused),
        ErrorKind::ConnectionReset
        | ErrorKind::ConnectionAborted
        | ErrorKind::BrokenPipe
        | ErrorKind::UnexpectedEof => Some(Cause::Reset),
        ErrorKind::TimedOut => Some(Cause::Timeout),
        _ => None,
    }
}

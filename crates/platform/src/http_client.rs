//! The HTTP client: its builder, name look-ups, SSRF protection and the causes of failures.
//!
//! # Design
//!
//! HTTP clients take no proxy from the environment, follow no redirects, have no retries of their
//! own, send no `Referer`, and speak HTTP/1 with rustls, ring and the system's root certificates,
//! which are read when the first peer has sent a certificate: that takes milliseconds of the start.
//! Connections idle for four seconds at most, because Strapi closes them after five.
//!
//! The cause of a failure is derived from the types in the error's source chain, not from its text:
//! texts change and contain URLs.
//!
//! SSRF protection is in the resolver of the validator's clients: it removes forbidden addresses
//! from the result of a name look-up, and the client connects to one of the others. An IP address
//! in a base URL is not looked up and is used as configured: paths are appended as text and begin
//! with `/`, so no document can change the host.

use std::sync::Arc;
use std::time::Duration;

use rustls::ClientConfig;

mod allowed_addresses;
mod cause;
mod resolver;
mod retry_after;
mod ssrf_guard;
mod system_verifier;

pub use cause::{Cause, cause, failure_text, is_out_of_files};
pub use resolver::{LookUp, system_look_up};
pub use retry_after::retry_after;
pub use ssrf_guard::{SsrfGuard, is_not_allowed, may_redirect_to};

use resolver::SystemResolver;
use system_verifier::SystemVerifier;

/// The idle timeout of pooled connections. Strapi closes idle connections after 5 s, and a request
/// that is sent at that moment fails with a reset.
pub const POOL_IDLE: Duration = Duration::from_secs(4);

/// Why a client cannot be set up: always a fault of the build, never of a peer.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The TLS provider lacks what the default protocol versions need.
    #[error("cannot set up TLS: {0}")]
    Tls(#[from] rustls::Error),
    /// The HTTP client refuses its settings. No request was made, so the text carries no URL.
    #[error("cannot set up the HTTP client: {0}")]
    Client(#[from] reqwest::Error),
    /// The system refuses a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[from] std::io::Error),
}

/// A client builder that sends one HTTP/1 request per call, to the host of the URL.
///
/// No proxy from the environment, no redirects, no retries, no `Referer`, no timeouts (callers
/// set their own). An empty root store is not an error here: https requests then fail with
/// [`Cause::Tls`].
///
/// # Errors
///
/// [`BuildError::Tls`] when the TLS provider cannot serve the default protocol versions.
pub fn client_builder() -> Result<reqwest::ClientBuilder, BuildError> {
    Ok(reqwest::Client::builder()
        .no_proxy()
        .redirect(reqwest::redirect::Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
        .http1_only()
        .pool_idle_timeout(POOL_IDLE)
        .dns_resolver(SystemResolver)
        .tls_backend_preconfigured(tls()?))
}

/// TLS 1.2 and 1.3 by ring, named here because no process-wide default is installed.
fn tls() -> Result<ClientConfig, rustls::Error> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let verifier = Arc::new(SystemVerifier(provider.signature_verification_algorithms));
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    config.alpn_protocols = vec![b"http/1.1".to_vec()];
    Ok(config)
}

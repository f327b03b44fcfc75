//! `frontend-map health`: the health check of the container image, which has no curl.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// How long the service may take to respond.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The URL of a service that listens on this address, from its own machine.
pub(super) fn local_url(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}/livez", SocketAddr::new(ip, listen.port()))
}

/// Sends a GET, and fails unless the status is 2xx.
///
/// # Errors
/// When there is no response, or another status.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let client = crate::outgoing::client_builder()?.timeout(TIMEOUT).build()?;
    let answer = client.get(url).send().await;
    let status = answer.map_err(|error| format!("{url}: {:?}", crate::outgoing::cause(&error)))?;
    if status.status().is_success() {
        return Ok(());
    }
    Err(format!("{url}: status {}", status.status().as_u16()).into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn local_url_is_on_loopback_for_a_service_on_all_addresses() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080/livez"),
            ("[::]:80", "http://[::1]:80/livez"),
            ("10.0.0.1:80", "http://10.0.0.1:80/livez"),
        ] {
            assert_eq!(local_url(listen.parse().unwrap()), expected);
        }
    }
}

//! `frontend-map health`: for container health checks, where there is no curl.

use std::error::Error;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

/// How long the service has to say that it is alive.
const PATIENCE: Duration = Duration::from_secs(3);

/// Where a service with this address is reached from its own machine.
pub(super) fn local_url(listen: SocketAddr) -> String {
    let ip = match listen.ip() {
        ip if !ip.is_unspecified() => ip,
        IpAddr::V4(_) => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(_) => Ipv6Addr::LOCALHOST.into(),
    };
    format!("http://{}/livez", SocketAddr::new(ip, listen.port()))
}

/// Asks, and fails unless the answer is a 200.
///
/// # Errors
/// When there is no answer, or another one.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let client = crate::outgoing::client_builder()?.timeout(PATIENCE).build()?;
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
    fn a_service_on_all_addresses_is_asked_on_loopback() {
        for (listen, expected) in [
            ("0.0.0.0:8080", "http://127.0.0.1:8080/livez"),
            ("[::]:80", "http://[::1]:80/livez"),
            ("10.0.0.1:80", "http://10.0.0.1:80/livez"),
        ] {
            assert_eq!(local_url(listen.parse().unwrap()), expected);
        }
    }
}

//! `frontend-map health`: the health check of the container image, which has no curl.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

/// How long the service may take to respond.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The URL of the health check of a service that listens on this address, from its own machine.
pub(in crate::cli) fn local_url(listen: SocketAddr) -> String {
    super::local_url(listen) + "/livez"
}

/// Sends a GET, and fails unless the status is 2xx.
///
/// # Errors
/// When there is no response, or another status.
#[tokio::main(flavor = "current_thread")]
pub(in crate::cli) async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let client = frontend_map_platform::http_client::client_builder()?.timeout(TIMEOUT).build()?;
    let answer = client.get(url).send().await;
    let status = answer.map_err(|error| {
        format!("{url}: {:?}", frontend_map_platform::http_client::cause(&error))
    })?;
    if status.status().is_success() {
        return Ok(());
    }
    Err(format!("{url}: status {}", status.status().as_u16()).into())
}

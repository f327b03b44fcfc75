//! `frontend-map health`: the health check of the container image, which has no curl.

use std::error::Error;
use std::net::SocketAddr;
use std::time::Duration;

use frontend_map_platform::http_client::{cause, client_builder};

/// How long the service may take to respond.
const TIMEOUT: Duration = Duration::from_secs(3);

/// The URL of the health check of a service that listens on this address, from its own machine.
pub(in crate::cli) fn livez_url(listen: SocketAddr) -> String {
    super::local_url(listen) + "/livez"
}

/// Sends a GET, and fails unless the status is 2xx.
///
/// # Errors
/// When there is no response, or another status.
#[tokio::main(flavor = "current_thread")]
pub(in crate::cli) async fn run(url: &str) -> Result<(), Box<dyn Error>> {
    let client = client_builder()?.timeout(TIMEOUT).build()?;
    let failed = |error| format!("{url}: {:?}", cause(&error));
    let status = client.get(url).send().await.map_err(failed)?.status();
    if status.is_success() {
        return Ok(());
    }
    Err(format!("{url}: status {}", status.as_u16()).into())
}

//! The redirects of a running service.

use std::error::Error;

use secrecy::SecretString;

use super::row::{Reader, Redirects};
use crate::cli::service::lines::read_lines;

/// Requests the list, with the token if there is one.
///
/// # Errors
/// If there is no response, if it is an error, or if it is not complete.
pub(super) async fn read(
    service: &str,
    token: Option<&SecretString>,
    site: &str,
) -> Result<Redirects, Box<dyn Error>> {
    let mut reader = Reader::default();
    read_lines(service, token, "/api/redirects", site, |line| reader.take(line)).await?;
    Ok(reader.end().map_err(|error| format!("{service}: {error}"))?)
}

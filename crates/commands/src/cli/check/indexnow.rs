//! Whether frontends serve the key files of IndexNow.

use std::time::Duration;

use super::findings::{Check, Finding, Level, Place};
use crate::config::Config;
use frontend_map_outbound::webhooks::{IndexNow, TargetKind};
use frontend_map_platform::http_client::{SsrfGuard, client_builder, failure_text, system_look_up};

/// The time-out for the whole response of a key file.
const TIMEOUT: Duration = Duration::from_secs(10);
/// The most bytes of a key file: the longest key, with line breaks.
const MAX_BYTES: usize = 256;

/// Requests each key file, unless `offline`.
#[tokio::main(flavor = "current_thread")]
pub(super) async fn examine(config: &Config, offline: bool) -> Vec<Finding> {
    let mut findings = Vec::new();
    for target in &config.notify {
        let TargetKind::IndexNow(index_now) = &target.kind else { continue };
        for file in index_now.key_files() {
            let note = |text| Finding::new(Check::IndexNow, Level::Information, Place::File, text);
            findings.push(match problem(index_now, &file, offline).await {
                None if offline => note(format!("IndexNow: {file} was not requested (--offline)")),
                None => note(format!("IndexNow: {file} has the key")),
                Some(problem) => Finding::problem(
                    Check::IndexNow,
                    Place::File,
                    format!(
                        "IndexNow: {file} {problem}; let the frontend serve the key there, as text"
                    ),
                ),
            });
        }
    }
    findings
}

/// What is wrong with a key file, if it is requested.
async fn problem(index_now: &IndexNow, file: &str, offline: bool) -> Option<String> {
    if offline {
        return None;
    }
    match read(file).await {
        Err(error) => Some(format!("cannot be read: {error}")),
        Ok((200, text)) if text.trim() == index_now.key().as_str() => None,
        Ok((200, _)) => Some("does not have the key".to_owned()),
        Ok((status, _)) => Some(format!("returned status {status}")),
    }
}

/// The status and the beginning of the body.
async fn read(file: &str) -> Result<(u16, String), String> {
    let client = client_builder().map_err(|error| error.to_string())?;
    let client = client.dns_resolver(SsrfGuard::new(system_look_up())).timeout(TIMEOUT).build();
    let failure = |error: reqwest::Error| failure_text(&error).to_owned();
    let mut response = client.map_err(failure)?.get(file).send().await.map_err(failure)?;
    let mut body = Vec::new();
    while body.len() < MAX_BYTES
        && let Some(chunk) = response.chunk().await.map_err(failure)?
    {
        body.extend_from_slice(&chunk);
    }
    Ok((response.status().as_u16(), String::from_utf8_lossy(&body).into_owned()))
}

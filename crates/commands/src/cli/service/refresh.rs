//! `frontend-map refresh`: lets a running service read content types again, after an import that the
//! CMS sent no webhooks about.

use std::error::Error;
use std::io::Write;

use clap::Args;
use secrecy::SecretString;
use serde::{Deserialize, Serialize};

use super::{SecretSetting, local_url, post, route_url};
use crate::cli::output::words::count;
use crate::cli::selection;
use crate::config::Config;
use frontend_map_catalog::site::Site;

/// The setting with the secret of the service's webhook.
const SECRET_SETTING: SecretSetting =
    SecretSetting { file: "hooks.secret_file", variable: "FRONTEND_MAP__HOOKS__SECRET" };

const AFTER_HELP: &str = "\
The event frontend-map.refresh is sent to POST /hooks/cms of the service, with the secret of
hooks.secret_file or FRONTEND_MAP__HOOKS__SECRET. The lists of the content types, and of those whose
relations may lead to them, are read again in the background, as snapshots.cms_share permits.

Exit status: 0 accepted by the service, 1 failed, 2 invalid arguments, 78 invalid settings.";

/// Which content types are refreshed, and where.
#[derive(Debug, Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct RefreshArgs {
    /// Only the content types of the site with this key
    #[arg(long, value_name = "KEY")]
    site: Option<String>,
    /// Only this content type
    #[arg(long = "type", value_name = "UID")]
    uid: Option<String>,
    /// The URL of the running service; by default the address in the settings
    #[arg(long, value_name = "URL")]
    service: Option<String>,
}

/// The event as it is sent.
#[derive(Serialize)]
struct Refresh<'a> {
    event: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    site: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uid: Option<&'a str>,
}

/// The response to it.
#[derive(Deserialize)]
struct Accepted {
    data: Refreshed,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Refreshed {
    content_types: u64,
}

/// Sends the event, and prints the number of content types.
///
/// # Errors
/// When there is no such site or rule, no secret, or the service does not accept the event.
#[tokio::main(flavor = "current_thread")]
pub(in crate::cli) async fn run(config: &Config, args: &RefreshArgs) -> Result<(), Box<dyn Error>> {
    check_selection(config, args)?;
    let Some(secret) = &config.webhook_secret else {
        let SecretSetting { file, variable } = SECRET_SETTING;
        return Err(
            format!("no secret is set: set {file} or {variable} to that of the service").into()
        );
    };
    let local = || local_url(config.server.listen);
    let service = args.service.clone().unwrap_or_else(local);
    let number = send(&service, secret, args).await?;
    let types = count(number, "content type");
    let text = format!("{types} will be refreshed, as snapshots.cms_share permits\n");
    Ok(std::io::stdout().write_all(text.as_bytes())?)
}

/// The settings here are usually those of the service, and the names in its errors are only those of the
/// request.
fn check_selection(config: &Config, args: &RefreshArgs) -> Result<(), String> {
    let site = args.site.as_deref().map(|key| selection::site(&config.sites, key)).transpose()?;
    let has_type = |site: &Site, uid: &str| site.all_content_types().any(|own| own.as_str() == uid);
    match (site, &args.uid) {
        (Some(site), Some(uid)) if !has_type(site, uid) => Err(selection::no_rule(site, uid)),
        (None, Some(uid)) if !config.sites.iter().any(|site| has_type(site, uid)) => {
            Err(selection::no_site(&config.sites, uid))
        }
        _ => Ok(()),
    }
}

/// Sends the event; returns the number of content types that the service refreshes.
async fn send(
    service: &str,
    secret: &SecretString,
    args: &RefreshArgs,
) -> Result<u64, Box<dyn Error>> {
    let url = route_url(service, "/hooks/cms")?;
    let (site, uid) = (args.site.as_deref(), args.uid.as_deref());
    let event = serde_json::to_vec(&Refresh { event: "frontend-map.refresh", site, uid })?;
    let body = post(service, url, Some(secret), SECRET_SETTING, event).await?;
    let accepted: Accepted = serde_json::from_slice(&body).map_err(|_| {
        format!("{service}: the response is not that to a refresh; is its version the same?")
    })?;
    Ok(accepted.data.content_types)
}

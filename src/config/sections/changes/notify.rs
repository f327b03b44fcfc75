//! `[[notify]]`: the targets of webhooks that are sent.

use config::Value;
use reqwest::Url;

use crate::config::file;
use crate::config::section::Section;
use crate::config::value::{boolean, parsed, text};
use frontend_map_catalog::changes::log::Kind;
use frontend_map_catalog::site::Site;
use frontend_map_outbound::webhooks::{SigningKey, Target};
use frontend_map_platform::spelling::did_you_mean;

/// The targets. Without `sites`, which have a problem of their own, those of targets are not checked.
pub(in crate::config) fn read(root: &mut Section<'_>, sites: Option<&[Site]>) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    root.entries("notify", |notify| {
        let mut target = one(notify, sites)?;
        if targets.iter().any(|other| other.url == target.url) {
            notify.problem("", "`url` is that of another [[notify]]; write its sites there");
        }
        let host = target.url.host_str();
        let is_there =
            |other: &&Target| (other.url.host_str(), other.url.port()) == (host, target.url.port());
        let same_host = targets.iter().filter(is_there).count();
        if same_host > 0 {
            target.name = format!("{} {}", target.name, same_host + 1);
        }
        targets.push(target);
        Some(())
    });
    targets
}

fn one(notify: &mut Section<'_>, sites: Option<&[Site]>) -> Option<Target> {
    let url = notify.required("url", parsed(url));
    let base_dir = notify.reader.base_dir;
    let key = notify.required("secret_file", |path: &Value| {
        let secret = file::read_text(&base_dir.join(text(path)?))?;
        SigningKey::parse(secret.trim()).map_err(|error| error.to_string())
    });
    let wanted = notify.each("sites", |key| Ok::<_, String>(key.to_owned()));
    let kinds = notify.each("events", kind);
    let unlisted = notify.get("unlisted", boolean);
    let sites = notify.check("sites", selected(wanted, sites))?;
    let kinds = if kinds.is_empty() { Kind::ALL.to_vec() } else { kinds };
    let (url, key) = (url?, key?);
    let host = url.host_str().expect("an http URL has a host");
    let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Some(Target { name, url, key, sites, kinds, unlisted })
}

/// Problems do not show the URL, which may have a secret.
fn url(text: &str) -> Result<Url, &'static str> {
    let url = Url::parse(text).map_err(|_| "is not a URL")?;
    if !["http", "https"].contains(&url.scheme()) || url.host_str().is_none() {
        return Err("must begin with http:// or https://");
    }
    if !url.username().is_empty() || url.password().is_some() {
        return Err("must have no user name or password: requests are signed");
    }
    if url.fragment().is_some() {
        return Err("must have no fragment (#)");
    }
    Ok(url)
}

/// The sites with these keys; all of them if none are named.
fn selected(wanted: Vec<String>, sites: Option<&[Site]>) -> Result<Vec<String>, String> {
    let Some(sites) = sites else { return Ok(wanted) };
    let keys = || sites.iter().map(|site| &*site.key);
    if wanted.is_empty() {
        return Ok(keys().map(str::to_owned).collect());
    }
    match wanted.iter().find(|wanted| !keys().any(|key| key == **wanted)) {
        Some(unknown) => {
            let fix = did_you_mean(unknown, keys());
            Err(format!("no site has the key \"{}\"{fix}", unknown.escape_debug()))
        }
        None => Ok(wanted),
    }
}

fn kind(name: &str) -> Result<Kind, String> {
    let all = "must be added, moved, gone or updated";
    Kind::named(name).ok_or_else(|| format!("{all}, not \"{}\"", name.escape_debug()))
}

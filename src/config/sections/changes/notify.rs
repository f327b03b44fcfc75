//! `[[notify]]`: the targets of webhooks that are sent.

use std::collections::BTreeMap;
use std::path::PathBuf;

use reqwest::Url;
use serde::Deserialize;

use crate::config::sources::Context;
use crate::config::value::{Table, Value};
use crate::config::{Problems, file, table};
use frontend_map_catalog::changes::log::Kind;
use frontend_map_catalog::site::Site;
use frontend_map_outbound::webhooks::{SigningKey, Target};
use frontend_map_platform::suggestion::did_you_mean;

#[derive(Debug, Deserialize)]
struct NotifyToml {
    url: String,
    secret_file: PathBuf,
    #[serde(default)]
    sites: Vec<String>,
    #[serde(default)]
    events: Vec<String>,
    #[serde(default)]
    unlisted: bool,
}

/// The targets. Without `sites`, which have a problem of their own, those of targets are not checked.
pub(in crate::config) fn read(
    table: &mut Table,
    context: Context<'_>,
    sites: Option<&[Site]>,
    problems: &mut Problems,
) -> Vec<Target> {
    let mut targets: Vec<Target> = Vec::new();
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let values = table::list(table, "notify", "notify", "notify", problems);
    for (at, value) in values.into_iter().enumerate() {
        let place = format!("notify {}", at + 1);
        let before = problems.enter(Some(value.origin.clone()));
        let target = one(value, &place, context, sites, problems);
        problems.enter(before);
        let Some(mut target) = target else { continue };
        if targets.iter().any(|other| other.url == target.url) {
            problems.add(&place, "`url` is that of another [[notify]]; write its sites there");
        }
        let same_host = names.entry(target.name.clone()).or_default();
        *same_host += 1;
        if *same_host > 1 {
            target.name = format!("{} {same_host}", target.name);
        }
        targets.push(target);
    }
    targets
}

fn one(
    value: Value,
    place: &str,
    context: Context<'_>,
    sites: Option<&[Site]>,
    problems: &mut Problems,
) -> Option<Target> {
    let toml: NotifyToml = table::one(value, "notify", place, problems)?;
    let parsed = url(&toml.url);
    let url = problems.take(&format!("{place}, url"), parsed);
    let text = file::read_text(&context.base_dir.join(&toml.secret_file));
    let secret_place = format!("{place}, secret_file");
    let text = problems.take(&secret_place, text);
    let key = text.and_then(|text| problems.take(&secret_place, SigningKey::parse(text.trim())));
    let keys = sites.map(|sites| sites.iter().map(|site| &*site.key).collect::<Vec<_>>());
    let sites = problems.take(&format!("{place}, sites"), selected(&toml.sites, keys.as_deref()));
    let kinds = problems.take(&format!("{place}, events"), kinds(&toml.events));
    let (url, key, sites, kinds) = (url?, key?, sites?, kinds?);
    let host = url.host_str().expect("an http URL has a host");
    let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Some(Target { name, url, key, sites, kinds, unlisted: toml.unlisted })
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
fn selected(wanted: &[String], keys: Option<&[&str]>) -> Result<Vec<String>, String> {
    let Some(keys) = keys else { return Ok(wanted.to_vec()) };
    if wanted.is_empty() {
        return Ok(keys.iter().map(|key| (*key).to_owned()).collect());
    }
    match wanted.iter().find(|wanted| !keys.contains(&wanted.as_str())) {
        Some(unknown) => {
            let fix = did_you_mean(unknown, keys.iter().copied());
            Err(format!("no site has the key \"{}\"{fix}", unknown.escape_debug()))
        }
        None => Ok(wanted.to_vec()),
    }
}

fn kinds(names: &[String]) -> Result<Vec<Kind>, String> {
    if names.is_empty() {
        return Ok(Kind::ALL.to_vec());
    }
    let kind = |name: &String| {
        let all = "must be added, moved, gone or updated";
        Kind::named(name).ok_or_else(|| format!("{all}, not \"{}\"", name.escape_debug()))
    };
    names.iter().map(kind).collect()
}

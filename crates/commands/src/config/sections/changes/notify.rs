//! `[[notify]]`: the targets of webhooks that are sent.

use config::Value;
use reqwest::Url;

use crate::config::file;
use crate::config::section::Section;
use crate::config::value::{boolean, parsed, text, word};
use frontend_map_catalog::changes::log::Kind;
use frontend_map_catalog::site::Site;
use frontend_map_outbound::webhooks::{IndexNow, IndexNowKey, SigningKey, Target, TargetKind};
use frontend_map_platform::spelling::did_you_mean;

/// Where search engines that share what they get take URLs (indexnow.org).
const INDEXNOW: &str = "https://api.indexnow.org/indexnow";

/// What a target gets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TargetKindName {
    #[default]
    Changes,
    IndexNow,
}

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

fn one(notify: &mut Section<'_>, all: Option<&[Site]>) -> Option<Target> {
    let names = [("changes", TargetKindName::Changes), ("indexnow", TargetKindName::IndexNow)];
    let target_kind = notify.get("kind", word(names));
    let wanted = notify.each("sites", |key| Ok::<_, String>(key.to_owned()));
    let sites = notify.check("sites", selected(wanted, all));
    let kinds = notify.each("events", kind);
    let kinds = if kinds.is_empty() { Kind::ALL.to_vec() } else { kinds };
    let (url, target_kind, unlisted) = match target_kind {
        TargetKindName::Changes => {
            let url = notify.required("url", parsed(url));
            let base_dir = notify.reader.base_dir;
            let key = notify.required("secret_file", |path: &Value| {
                let secret = file::read_text(&base_dir.join(text(path)?))?;
                SigningKey::parse(secret.trim()).map_err(|error| error.to_string())
            });
            (url, key.map(TargetKind::Changes), notify.get("unlisted", boolean))
        }
        TargetKindName::IndexNow => {
            for (key, what) in [
                ("secret_file", "requests are not signed"),
                ("unlisted", "sitemaps do not list such pages"),
            ] {
                if notify.optional(key, |value: &Value| Ok::<_, String>(value.clone())).is_some() {
                    notify.problem(key, format_args!("is not for kind = \"indexnow\": {what}"));
                }
            }
            let default = url(INDEXNOW).expect("it is a URL");
            let url = notify.or("url", default, parsed(url));
            let key = notify.required("key", parsed(IndexNowKey::parse));
            let of = |site: &&Site| sites.as_ref().is_some_and(|keys| keys.contains(&site.key));
            let selected = || all.unwrap_or_default().iter().filter(of);
            if let Some(site) = selected().find(|site| site.hosts.all().is_empty()) {
                let key = site.key.escape_debug();
                let fix = "set one, or name other sites in `sites`";
                let problem = format_args!("the site \"{key}\" has no front_end_url: {fix}");
                notify.problem("sites", problem);
            }
            (url, key.map(|key| TargetKind::IndexNow(IndexNow::new(key, selected()))), false)
        }
    };
    let (url, target_kind, sites) = (url?, target_kind?, sites?);
    let host = url.host_str().expect("an http URL has a host");
    let name = url.port().map_or_else(|| host.to_owned(), |port| format!("{host}:{port}"));
    Some(Target { name, url, kind: target_kind, sites, kinds, unlisted })
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
    let all = "must be added, moved, gone, updated or redirect";
    name.parse().map_err(|_| format!("{all}, not \"{}\"", name.escape_debug()))
}

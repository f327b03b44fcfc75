//! `[[site]]`: the sites with their locales, base URLs and rules.

mod locales;

use std::collections::HashMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::rule;
use crate::config::table;
use crate::config::value::{Kind, Origin, Table, Value, shown_address};
use crate::config::{Environment, Problems};
use crate::frontend_url::{BaseUrl, Hosts};
use crate::rules::{LocalePrefix, RuleSet, TrailingSlash};
use crate::site::{ResolveBy, Site};

/// The longest key of a site, in bytes (D3, D11).
const MAX_KEY: usize = 64;

#[derive(Debug, Deserialize)]
struct Raw {
    key: String,
    /// Taken out before and deserialized one by one.
    #[serde(default, rename = "rule")]
    _rule: IgnoredAny,
    front_end_url: Option<String>,
    /// Copied before and deserialized one by one.
    #[serde(default, rename = "locales")]
    _locales: Vec<IgnoredAny>,
    #[serde(default)]
    locale_prefix: RawPrefix,
    #[serde(default)]
    trailing_slash: RawTrailingSlash,
    #[serde(default)]
    resolve: RawResolve,
    #[serde(default = "sitemap_path")]
    sitemap_path: String,
}

fn sitemap_path() -> String {
    "/sitemaps".to_owned()
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawResolve {
    #[default]
    Rules,
    Documents,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawPrefix {
    #[default]
    Always,
    ExceptDefault,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum RawTrailingSlash {
    #[default]
    Never,
    Always,
}

impl From<RawTrailingSlash> for TrailingSlash {
    fn from(raw: RawTrailingSlash) -> Self {
        match raw {
            RawTrailingSlash::Never => Self::Never,
            RawTrailingSlash::Always => Self::Always,
        }
    }
}

impl From<RawResolve> for ResolveBy {
    fn from(raw: RawResolve) -> Self {
        match raw {
            RawResolve::Rules => Self::Rules,
            RawResolve::Documents => Self::Documents,
        }
    }
}

impl From<RawPrefix> for LocalePrefix {
    fn from(raw: RawPrefix) -> Self {
        match raw {
            RawPrefix::Always => Self::Always,
            RawPrefix::ExceptDefault => Self::ExceptDefault,
        }
    }
}

/// All sites; `None`: one of them has a problem.
pub(in crate::config) fn read(
    table: &mut Table,
    environment: &Environment,
    problems: &mut Problems,
) -> Option<Vec<Site>> {
    let mut keys = Vec::new();
    let mut sites = Vec::new();
    let mut patterns = rule::Patterns::default();
    let values = table::list(table, "site", "site", "site", problems);
    for (at, value) in values.into_iter().enumerate() {
        sites.push(site(at + 1, value, environment, (&mut keys, &mut patterns), problems));
    }
    refuse_duplicates(&keys, problems);
    sites.into_iter().collect()
}

/// One site; its key is added to `keys` even if the site has problems.
fn site(
    position: usize,
    value: Value,
    environment: &Environment,
    seen: (&mut Vec<String>, &mut rule::Patterns),
    problems: &mut Problems,
) -> Option<Site> {
    let outer = problems.enter(Some(value.origin.clone()));
    let site = site_at_origin(position, value, environment, seen, problems);
    problems.enter(outer);
    site
}

fn site_at_origin(
    position: usize,
    mut value: Value,
    environment: &Environment,
    (keys, patterns): (&mut Vec<String>, &mut rule::Patterns),
    problems: &mut Problems,
) -> Option<Site> {
    let key = value.table().and_then(|table| table.get("key")?.text());
    let place = key.map_or(format!("site {position}"), |key| format!("site \"{key}\""));
    let rules = match &mut value.kind {
        Kind::Table(table) => table::list(table, "rule", "site.rule", &place, problems),
        _ => Vec::new(),
    };
    let locales = value.table().and_then(|table| table.get("locales").cloned());
    let raw: Option<Raw> = table::one(value, "site", &place, problems);
    let locales = raw.as_ref().and_then(|_| locales::read(locales, &place, problems));
    let rules = rule::read(rules, &place, locales.as_ref(), patterns, problems);
    let raw = raw?;
    check_key(&raw.key, &place, problems);
    keys.push(raw.key.clone());
    let base = base(&raw, environment, &place, problems);
    let path = check_sitemap_path(&raw.sitemap_path);
    let sitemap_path = problems.take(&format!("{place}, sitemap_path"), path);
    let (locales, rules, base) = (locales?, rules?, base?);
    let count = locales.as_slice().len();
    let hosts = base.map_or_else(|| Hosts::new(vec![None; count]), |base| Hosts::one(base, count));
    let rules = RuleSet::new(locales, raw.locale_prefix.into(), rules)
        .with_trailing_slash(raw.trailing_slash.into());
    for (rule, error) in rules.ambiguities() {
        problems.add(&rule::place(&place, rule, &rules.rules()[rule]), error);
    }
    problems.take(&place, rules.check_cost());
    Some(Site {
        key: raw.key,
        rules,
        hosts,
        resolve: raw.resolve.into(),
        sitemap_path: sitemap_path?,
        // Set when all sections are read.
        fingerprint: 0,
    })
}

fn check_key(key: &str, place: &str, problems: &mut Problems) {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(fine) {
        problems.add(place, "a key must have 1 to 64 letters, digits, `.`, `_` or `-`");
    }
}

/// A path that a base URL may have.
fn check_sitemap_path(text: &str) -> Result<String, String> {
    const SOME_ORIGIN: &str = "http://localhost";
    let base = BaseUrl::parse(&format!("{SOME_ORIGIN}{text}")).ok();
    let path = base.as_ref().and_then(|base| base.as_str().strip_prefix(SOME_ORIGIN));
    let path = path.filter(|path| text.starts_with('/') && !path.starts_with(':'));
    path.map(str::to_owned).ok_or_else(|| format!("`{text}` is not a path, such as /sitemaps or /"))
}

/// The base URL: the environment variable wins over the file, and empty means not configured (D15).
/// The outer `None`: there is a problem.
#[expect(clippy::option_option, reason = "not configured is valid, set but invalid is not")]
fn base(
    raw: &Raw,
    environment: &Environment,
    place: &str,
    problems: &mut Problems,
) -> Option<Option<BaseUrl>> {
    let variable = Site::base_url_variable(&raw.key);
    let in_environment = environment.get(&variable);
    let text = in_environment.or(raw.front_end_url.as_ref());
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Some(None);
    };
    let error = match BaseUrl::parse(text) {
        Ok(base) => return Some(Some(base)),
        Err(error) => format!("{} is not a base URL: {error}", shown_address(text)),
    };
    if in_environment.is_some() {
        problems.add_written(&Origin::Variable(variable), place, error);
    } else {
        problems.add(&format!("{place}, front_end_url"), error);
    }
    None
}

/// Two sites must differ in their keys and in their environment variables (D15).
fn refuse_duplicates(keys: &[String], problems: &mut Problems) {
    let mut keys_by_variable: HashMap<String, &str> = HashMap::new();
    for key in keys {
        let place = format!("site \"{key}\"");
        let variable = Site::base_url_variable(key);
        match keys_by_variable.insert(variable.clone(), key) {
            Some(other) if other == key => problems.add(&place, "another site has the same key"),
            Some(other) => {
                let what =
                    format_args!("site \"{other}\" has the same environment variable, {variable}");
                problems.add(&place, what);
            }
            None => {}
        }
    }
}

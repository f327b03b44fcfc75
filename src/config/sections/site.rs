//! `[[site]]`: the sites with their locales, base URLs and rules.

use std::collections::HashMap;

use config::Value;
use serde::Deserialize;

use super::rule;
use crate::config::problems::shown_address;
use crate::config::table::{self, Table};
use crate::config::value::{Text, one_of};
use crate::config::{Environment, Problems};
use crate::frontend_url::BaseUrl;
use crate::rules::{Locale, LocalePrefix, Locales, RuleSet};
use crate::site::{ResolveBy, Site};

/// The longest key of a site, in bytes (D3, D11).
const MAX_KEY: usize = 64;

#[derive(Debug, Deserialize)]
struct Raw {
    key: String,
    front_end_url: Option<String>,
    #[serde(default)]
    locales: Vec<String>,
    #[serde(default)]
    locale_prefix: RawPrefix,
    #[serde(default)]
    resolve: RawResolve,
    #[serde(default = "sitemap_path")]
    sitemap_path: String,
}

fn sitemap_path() -> String {
    "/sitemaps".to_owned()
}

#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Text")]
struct RawResolve(ResolveBy);

impl TryFrom<Text> for RawResolve {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        let words = [("rules", ResolveBy::Rules), ("documents", ResolveBy::Documents)];
        one_of(&text.0, &words).map(Self)
    }
}

#[derive(Debug, Default, Deserialize)]
#[serde(try_from = "Text")]
struct RawPrefix(LocalePrefix);

impl TryFrom<Text> for RawPrefix {
    type Error = String;

    fn try_from(text: Text) -> Result<Self, String> {
        let words =
            [("always", LocalePrefix::Always), ("except-default", LocalePrefix::ExceptDefault)];
        one_of(&text.0, &words).map(Self)
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
    let values = table::list(table, "site", "site", problems);
    for (at, value) in values.into_iter().enumerate() {
        sites.push(one(at + 1, value, environment, (&mut keys, &mut patterns), problems));
    }
    refuse_duplicates(&keys, problems);
    sites.into_iter().collect()
}

/// One site; its key is added to `keys` even if the site has problems.
fn one(
    position: usize,
    value: Value,
    environment: &Environment,
    (keys, patterns): (&mut Vec<String>, &mut rule::Patterns),
    problems: &mut Problems,
) -> Option<Site> {
    let place = format!("site {position}");
    let mut table = problems.take(&place, value.into_table())?;
    let key = table.get("key").cloned().and_then(|key| key.into_string().ok());
    let place = key.map_or(place, |key| format!("site \"{key}\""));
    let rules = table::list(&mut table, "rule", &place, problems);
    let raw: Option<Raw> = table::one(Value::from(table), &place, problems);
    let locales = raw.as_ref().and_then(|raw| read_locales(&raw.locales, &place, problems));
    let rules = rule::read(rules, &place, locales.as_ref(), patterns, problems);
    let raw = raw?;
    check_key(&raw.key, &place, problems);
    keys.push(raw.key.clone());
    let base = base(&raw, environment, &place, problems);
    let path = check_sitemap_path(&raw.sitemap_path);
    let sitemap_path = problems.take(&format!("{place}, sitemap_path"), path);
    let (locales, rules) = (locales?, rules?);
    let rules = RuleSet::new(locales, raw.locale_prefix.0, rules);
    for (rule, error) in rules.ambiguities() {
        problems.add(&rule::place(&place, rule, &rules.rules()[rule]), error);
    }
    problems.take(&place, rules.check_cost());
    Some(Site {
        key: raw.key,
        rules,
        base: base?,
        resolve: raw.resolve.0,
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

fn read_locales(codes: &[String], place: &str, problems: &mut Problems) -> Option<Locales> {
    let mut parse =
        |code: &String| problems.take(&format!("{place}, locale `{code}`"), Locale::parse(code));
    let locales: Vec<Option<Locale>> = codes.iter().map(&mut parse).collect();
    let locales: Option<Vec<Locale>> = locales.into_iter().collect();
    problems.take(place, Locales::new(locales?))
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
    let (name, text) = match environment.get(&variable) {
        Some(text) => (variable.as_str(), Some(text)),
        None => ("front_end_url", raw.front_end_url.as_ref()),
    };
    let Some(text) = text.filter(|text| !text.is_empty()) else {
        return Some(None);
    };
    let base = BaseUrl::parse(text)
        .map_err(|error| format!("{} is not a base URL: {error}", shown_address(text)));
    problems.take(&format!("{place}, {name}"), base).map(Some)
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

//! `[[site]]`: the sites with their locales, base URLs and rules.

mod base_urls;
mod locales;
mod pages;
mod variables;

use serde::Deserialize;
use serde::de::IgnoredAny;

use self::base_urls::Written;
use self::variables::{SiteVariables, refuse_duplicates};
use super::rule;
use crate::config::table;
use crate::config::value::{Kind, Origin, Table, Value};
use crate::config::{Environment, Problems};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{LocalePrefix, Locales, Rule, RuleSet, SiteLocale, TrailingSlash};

/// The longest key of a site, in bytes (D3).
const MAX_KEY: usize = 64;

#[derive(Debug, Deserialize)]
struct SiteToml {
    key: String,
    /// Taken out before and deserialized one by one.
    #[serde(default, rename = "rule")]
    _rule: IgnoredAny,
    /// Taken out before and deserialized one by one.
    #[serde(default, rename = "page")]
    _page: IgnoredAny,
    /// Copied before and read by locale.
    #[serde(default, rename = "front_end_url")]
    _front_end_url: IgnoredAny,
    /// Copied before and deserialized one by one.
    #[serde(default, rename = "locales")]
    _locales: Vec<IgnoredAny>,
    #[serde(default)]
    locale_prefix: LocalePrefixToml,
    #[serde(default)]
    trailing_slash: TrailingSlashToml,
    #[serde(default)]
    resolve: ResolveToml,
    #[serde(default = "sitemap_path")]
    sitemap_path: String,
}

fn sitemap_path() -> String {
    "/sitemaps".to_owned()
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum ResolveToml {
    #[default]
    Rules,
    Documents,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum LocalePrefixToml {
    #[default]
    Always,
    ExceptDefault,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum TrailingSlashToml {
    #[default]
    Never,
    Always,
}

impl From<TrailingSlashToml> for TrailingSlash {
    fn from(toml: TrailingSlashToml) -> Self {
        match toml {
            TrailingSlashToml::Never => Self::Never,
            TrailingSlashToml::Always => Self::Always,
        }
    }
}

impl From<ResolveToml> for ResolveBy {
    fn from(toml: ResolveToml) -> Self {
        match toml {
            ResolveToml::Rules => Self::Rules,
            ResolveToml::Documents => Self::Documents,
        }
    }
}

impl From<LocalePrefixToml> for LocalePrefix {
    fn from(toml: LocalePrefixToml) -> Self {
        match toml {
            LocalePrefixToml::Always => Self::Always,
            LocalePrefixToml::ExceptDefault => Self::ExceptDefault,
        }
    }
}

/// All sites; `None`: one of them has a problem.
pub(in crate::config) fn read(
    table: &mut Table,
    environment: &Environment,
    problems: &mut Problems,
) -> Option<Vec<Site>> {
    let mut variables: Vec<SiteVariables> = Vec::new();
    let mut sites = Vec::new();
    let mut patterns = rule::Patterns::default();
    let values = table::list(table, "site", "site", "site", problems);
    for (at, value) in values.into_iter().enumerate() {
        sites.push(site(at + 1, value, environment, &mut variables, &mut patterns, problems));
    }
    refuse_duplicates(&variables, problems);
    sites.into_iter().collect()
}

/// One site; its key and locales are added to those seen even if the site has problems.
fn site(
    position: usize,
    value: Value,
    environment: &Environment,
    variables: &mut Vec<SiteVariables>,
    patterns: &mut rule::Patterns,
    problems: &mut Problems,
) -> Option<Site> {
    let outer = problems.enter(Some(value.origin.clone()));
    let site = site_at_origin(position, value, environment, variables, patterns, problems);
    problems.enter(outer);
    site
}

fn site_at_origin(
    position: usize,
    mut value: Value,
    environment: &Environment,
    variables: &mut Vec<SiteVariables>,
    patterns: &mut rule::Patterns,
    problems: &mut Problems,
) -> Option<Site> {
    let key = value.table().and_then(|table| table.get("key")?.text());
    let place = key.map_or(format!("site {position}"), |key| format!("site \"{key}\""));
    let mut list = |name, header| match &mut value.kind {
        Kind::Table(table) => table::list(table, name, header, &place, problems),
        _ => Vec::new(),
    };
    let (rules, pages) = (list("rule", "site.rule"), list("page", "site.page"));
    let path_fields: Vec<Option<Origin>> = rules.iter().map(rule::path_field_origin).collect();
    let locales = value.table().and_then(|table| table.get("locales").cloned());
    let listed_at = locales.as_ref().map(|list: &Value| list.origin.clone());
    let base_urls = value.table().and_then(|table| table.get("front_end_url").cloned());
    let toml: Option<SiteToml> = table::one(value, "site", &place, problems);
    let locales = toml.as_ref().and_then(|_| locales::read(locales, &place, problems));
    let hosts = toml.as_ref().zip(locales.as_deref()).and_then(|(toml, locales)| {
        let file = base_urls;
        let written = Written { key: &toml.key, locales, file, environment };
        base_urls::read(written, &place, problems)
    });
    let locales =
        locales.and_then(|locales| on_hosts(locales, hosts.as_ref(), listed_at, &place, problems));
    let rules = rule::read(rules, &place, locales.as_ref(), patterns, problems);
    let pages = pages::read(pages, &place, locales.as_ref(), problems);
    let toml = toml?;
    check_key(&toml.key, &place, problems);
    variables.push(SiteVariables::new(&toml.key, locales.as_ref()));
    let path = check_sitemap_path(&toml.sitemap_path);
    let sitemap_path = problems.take(&format!("{place}, sitemap_path"), path);
    let (locales, rules) = (locales?, rules?);
    let rules = compiled(locales, rules, &toml, hosts.as_ref());
    check_rules(&rules, &toml, &path_fields, &place, problems);
    let (pages, hosts) = (pages?, hosts?);
    let (rules, pages) = pages::build(&pages, rules, &hosts, problems)?;
    Some(Site {
        key: toml.key,
        rules,
        hosts,
        resolve: toml.resolve.into(),
        sitemap_path: sitemap_path?,
        pages,
        // Set when all sections are read.
        fingerprint: 0,
        source: 0,
    })
}

/// The locales, of which two on one host must differ in their segments.
fn on_hosts(
    locales: Vec<SiteLocale>,
    hosts: Option<&Hosts>,
    listed_at: Option<Origin>,
    place: &str,
    problems: &mut Problems,
) -> Option<Locales> {
    // Where the hosts are not known, two locales with one segment may be on different ones.
    let host = |at| hosts.map_or(at, |hosts| hosts.host_of(at));
    let locales = Locales::on_hosts(locales, host);
    let Some(origin) = listed_at else { return problems.take(place, locales) };
    let outer = problems.enter(Some(origin));
    let locales = problems.take(place, locales);
    problems.enter(outer);
    locales
}

fn compiled(locales: Locales, rules: Vec<Rule>, toml: &SiteToml, hosts: Option<&Hosts>) -> RuleSet {
    RuleSet::new(locales, toml.locale_prefix.into(), rules)
        .with_trailing_slash(toml.trailing_slash.into())
        .with_hosts(&hosts.map(Hosts::by_locale).unwrap_or_default())
}

fn check_rules(
    rules: &RuleSet,
    toml: &SiteToml,
    path_fields: &[Option<Origin>],
    place: &str,
    problems: &mut Problems,
) {
    problems.take(place, check_default_segment(rules, toml.locale_prefix));
    if ResolveBy::from(toml.resolve) == ResolveBy::Rules {
        rule::refuse_path_fields(rules, path_fields, place, problems);
    }
    for (rule, error) in rules.ambiguities() {
        problems.add(&rule::place(place, rule, &rules.rules()[rule]), error);
    }
    problems.take(place, rules.check_cost());
}

fn check_key(key: &str, place: &str, problems: &mut Problems) {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(fine) {
        problems.add(place, "a key must have 1 to 64 letters, digits, `.`, `_` or `-`");
    }
}

/// The first locale has no prefix. If another locale had its segment, the segment would be a locale on
/// one host and an ordinary segment on another.
fn check_default_segment(rules: &RuleSet, prefix: LocalePrefixToml) -> Result<(), String> {
    let locales = rules.locales();
    let segment = locales.default_locale().segment();
    let others = locales.with_segment_of(locales.default_locale()).skip(1);
    match (prefix, others.map(|at| &locales.codes()[at]).next()) {
        (LocalePrefixToml::ExceptDefault, Some(other)) => Err(format!(
            "with locale_prefix = \"except-default\", the locale `{other}` must not have the segment of the first, `{segment}`: give it another `segment`"
        )),
        _ => Ok(()),
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

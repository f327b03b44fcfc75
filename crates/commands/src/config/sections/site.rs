//! `[[site]]`: the sites with their locales, base URLs and rules.

mod base_urls;
pub(super) mod by_locale;
mod links;
mod locales;
mod pages;
mod redirects;
mod variables;

use std::sync::Arc;

use self::variables::{SiteVariables, refuse_duplicates};
use super::rule;
use crate::config::Cms;
use crate::config::section::{Section, site_place};
use crate::config::value::{parsed, text, word};
use frontend_map_catalog::site::{ResolveBy, Site, SitePages};
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};
use frontend_map_rules::{LocalePrefix, Locales, Rule, RuleSet, SiteLocale, TrailingSlash};

/// Where a frontend publishes sitemap files, unless `sitemap_path` says it.
const SITEMAP_PATH: &str = "/sitemaps";

/// The longest key of a site, in bytes (D3).
const MAX_KEY: usize = 64;

/// All sites; `None`: one of them has a problem. What rules need of the CMS is checked if it is known.
pub(in crate::config) fn read(root: &mut Section<'_>, cms: Option<&Cms>) -> Option<Vec<Site>> {
    let mut variables: Vec<SiteVariables> = Vec::new();
    let mut patterns = rule::Patterns::default();
    let are_of_strapi = matches!(cms, Some(Cms::Strapi(_)));
    let sites =
        root.entries("site", |site| one(site, are_of_strapi, &mut variables, &mut patterns));
    refuse_duplicates(&variables, root.reader);
    sites
}

/// One site; its key and locales are added to those seen even if the site has problems.
fn one(
    site: &mut Section<'_>,
    are_of_strapi: bool,
    variables: &mut Vec<SiteVariables>,
    patterns: &mut rule::Patterns,
) -> Option<Site> {
    if let Some(key) = site.peek("key") {
        site.place = site_place(&key);
    }
    let key = site.required("key", text);
    let prefixes =
        [("always", LocalePrefix::Always), ("except-default", LocalePrefix::ExceptDefault)];
    let prefix = site.or("locale_prefix", LocalePrefix::default(), word(prefixes));
    let slashes = [("never", TrailingSlash::Never), ("always", TrailingSlash::Always)];
    let trailing_slash = site.or("trailing_slash", TrailingSlash::default(), word(slashes));
    let deciding = [("rules", ResolveBy::Rules), ("documents", ResolveBy::Documents)];
    let resolve = site.or("resolve", ResolveBy::default(), word(deciding));
    let sitemap_path = site.or("sitemap_path", SITEMAP_PATH.to_owned(), parsed(sitemap_path));
    let locales = locales::read(site);
    let hosts = base_urls::read(site, key.as_deref(), locales.as_deref());
    let locales = locales.and_then(|locales| on_hosts(locales, hosts.as_ref(), site));
    let mut of_rules = rule::Rules { locales: locales.as_ref(), resolve, are_of_strapi, patterns };
    let rules = site.entries("rule", |rule| rule::read(rule, &mut of_rules));
    let pages = pages::read(site, locales.as_ref());
    let redirects = redirects::read(site, resolve, hosts.as_ref());
    let links = links::read(site, resolve);
    let key = key?;
    check_key(&key, site);
    variables.push(SiteVariables::new(&key, locales.as_ref(), site.origin.clone()));
    let prefix = prefix?;
    let rules = RuleSet::new(locales?, prefix, rules?)
        .with_trailing_slash(trailing_slash?)
        .with_hosts(&hosts.as_ref().map(Hosts::by_locale).unwrap_or_default());
    check_rules(&rules, prefix, site);
    let (pages, hosts, redirects) = (pages?, hosts?, redirects?);
    redirects::check_without_rule(site, &redirects, rules.rules());
    let (rules, pages) = pages::build(&pages, rules, &hosts, site.reader)?;
    let site = Site {
        key,
        rules,
        hosts,
        resolve: resolve?,
        sitemap_path: sitemap_path?,
        pages,
        redirects: None,
        links: links?,
        links_fingerprint: 0,
        // Set when all sections are read.
        fingerprint: 0,
        source: 0,
    };
    Some(with_redirects(site, redirects))
}

/// The site with the rules of its redirects, if it has any.
fn with_redirects(site: Site, redirects: Vec<Rule>) -> Site {
    if redirects.is_empty() {
        return site;
    }
    let rules = RuleSet::new(site.rules.locales().clone(), LocalePrefix::Always, redirects);
    let rules = rules.with_hosts(&site.hosts.by_locale());
    let redirects = Site { rules, pages: SitePages::default(), ..site.clone() };
    Site { redirects: Some(Arc::new(redirects)), ..site }
}

/// The locales, of which two on one host must differ in their segments.
fn on_hosts(
    locales: Vec<SiteLocale>,
    hosts: Option<&Hosts>,
    site: &Section<'_>,
) -> Option<Locales> {
    // Where the hosts are not known, two locales with one segment may be on different ones.
    let host = |at| hosts.map_or(at, |hosts| hosts.host_of(at));
    let problem = |error| site.problem_of("locales", "", error);
    Locales::on_hosts(locales, host).map_err(problem).ok()
}

fn check_rules(rules: &RuleSet, prefix: LocalePrefix, site: &Section<'_>) {
    site.check("", check_default_segment(rules, prefix));
    for (at, error) in rules.ambiguities() {
        site.problem_of("", &rule::place(at, &rules.rules()[at]), error);
    }
    site.check("", rules.check_cost());
}

fn check_key(key: &str, site: &Section<'_>) {
    let fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if key.is_empty() || key.len() > MAX_KEY || !key.bytes().all(fine) {
        site.problem("", "a key must have 1 to 64 letters, digits, `.`, `_` or `-`");
    }
}

/// The first locale has no prefix. If another locale had its segment, the segment would be a locale on
/// one host and an ordinary segment on another.
fn check_default_segment(rules: &RuleSet, prefix: LocalePrefix) -> Result<(), String> {
    let locales = rules.locales();
    let segment = locales.default_locale().segment();
    let others = locales.with_segment_of(locales.default_locale()).skip(1);
    match (prefix, others.map(|at| &locales.codes()[at]).next()) {
        (LocalePrefix::ExceptDefault, Some(other)) => Err(format!(
            "with locale_prefix = \"except-default\", the locale `{other}` must not have the segment of the first, `{segment}`: give it another `segment`"
        )),
        _ => Ok(()),
    }
}

/// A path that a base URL may have.
fn sitemap_path(text: &str) -> Result<String, String> {
    const SOME_ORIGIN: &str = "http://localhost";
    let base = BaseUrl::parse(&format!("{SOME_ORIGIN}{text}")).ok();
    let path = base.as_ref().and_then(|base| base.as_str().strip_prefix(SOME_ORIGIN));
    let path = path.filter(|path| text.starts_with('/') && !path.starts_with(':'));
    path.map(str::to_owned).ok_or_else(|| format!("`{text}` is not a path, such as /sitemaps or /"))
}

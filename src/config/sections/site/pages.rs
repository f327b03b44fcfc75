//! `[[site.page]]`: the pages of a site outside the CMS.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::config::value::{Origin, Value};
use crate::config::{Problems, table};
use frontend_map_catalog::site::{PAGES, SitePages};
use frontend_map_catalog::snapshot::{Builder, Listing, PageVersion, read_w3c};
use frontend_map_platform::suggestion::did_you_mean;
use frontend_map_rules::frontend_url::{Hosts, is_too_long};
use frontend_map_rules::{Locale, Locales, PagePaths, RuleSet, SiteLocale, Template, Templates};

/// The longest name of a page, in bytes, as that of a key of a site.
const MAX_NAME: usize = 64;

#[derive(Debug, Deserialize)]
struct PageToml {
    name: String,
    path: PathToml,
    #[serde(default = "yes")]
    sitemap: bool,
    lastmod: Option<String>,
}

/// A page is in the sitemap by default.
fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be a path in quotes, or a table with one for each locale")]
enum PathToml {
    One(String),
    PerLocale(BTreeMap<String, String>),
}

/// A page whose paths are not built yet.
pub(super) struct Page {
    origin: Origin,
    place: String,
    name: String,
    paths: Templates,
    listed: bool,
    modified: Option<i64>,
}

/// A page in one locale.
struct PathOf<'p> {
    page: usize,
    locale: &'p SiteLocale,
    at: usize,
    path: String,
}

/// All pages of a site; `None`: one of them has a problem. Without `locales`, which have a problem of
/// their own, those of paths are not checked.
pub(super) fn read(
    values: Vec<Value>,
    place: &str,
    locales: Option<&Locales>,
    problems: &mut Problems,
) -> Option<Vec<Page>> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut pages = Vec::new();
    for (at, value) in values.into_iter().enumerate() {
        let outer = problems.enter(Some(value.origin.clone()));
        let place = format!("{place}, page {}", at + 1);
        let page = page(value, &place, locales, problems);
        if let Some(page) = &page
            && let Some(other) = names.insert(page.name.clone(), at + 1)
        {
            let what = format_args!("page {other} has the same name: rename one of them");
            problems.add(&page.place, what);
        }
        problems.enter(outer);
        pages.push(page);
    }
    pages.into_iter().collect()
}

fn page(
    value: Value,
    place: &str,
    locales: Option<&Locales>,
    problems: &mut Problems,
) -> Option<Page> {
    let origin = value.origin.clone();
    let toml: PageToml = table::one(value, "site.page", place, problems)?;
    let place = format!("{place} ({})", toml.name.escape_debug());
    problems.take(&place, check_name(&toml.name));
    let paths = paths(toml.path, locales, &place, problems);
    let modified = toml.lastmod.map(|text| {
        let read = read_w3c(&text).ok_or_else(|| {
            let text = text.escape_debug();
            format!("\"{text}\" is not a date such as 2024-03-06, or a time with an offset such as 2024-03-06T22:19:54+01:00")
        });
        problems.take(&format!("{place}, lastmod"), read)
    });
    let modified = modified.map_or(Some(None), |modified| modified.map(Some));
    let (name, listed) = (toml.name, toml.sitemap);
    Some(Page { origin, place, name, paths: paths?, listed, modified: modified? })
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_fine) {
        return Err("a name must have 1 to 64 letters, digits, `.`, `_` or `-`");
    }
    Ok(())
}

fn paths(
    toml: PathToml,
    locales: Option<&Locales>,
    place: &str,
    problems: &mut Problems,
) -> Option<Templates> {
    let by_locale = match toml {
        PathToml::One(text) => {
            return problems.take(&format!("{place}, path"), path(&text)).map(Templates::One);
        }
        PathToml::PerLocale(paths) => paths,
    };
    if by_locale.is_empty() {
        problems.add(place, "`path` needs a path for at least one locale");
        return None;
    }
    let mut read = Vec::new();
    for (code, text) in by_locale {
        let place = format!("{place}, path.{}", code.escape_debug());
        let locale = problems.take(&place, Locale::parse(&code));
        if let (Some(_), Some(all)) = (&locale, locales.filter(|all| all.get(&code).is_none())) {
            let suggestion = did_you_mean(&code, all.codes().iter().map(Locale::as_str));
            problems.add(&place, format_args!("the site has no locale `{code}`{suggestion}"));
        }
        read.push(locale.zip(problems.take(&place, path(&text))));
    }
    read.into_iter().collect::<Option<_>>().map(Templates::PerLocale)
}

/// A path as text, in which only `{locale}` may stand.
fn path(text: &str) -> Result<Template, String> {
    let template = Template::parse(text).map_err(|error| error.to_string())?;
    match template.placeholder_besides_locale() {
        Some(other) => Err(format!(
            "`{}`: `{other}` needs a document, and a page has none: write its path as text, in which only `{{locale}}` may stand",
            text.escape_debug()
        )),
        None => Ok(template),
    }
}

/// The rules with the paths of the pages, and the pages. `None`: there is a problem.
pub(super) fn build(
    pages: &[Page],
    rules: RuleSet,
    hosts: &Hosts,
    problems: &mut Problems,
) -> Option<(RuleSet, SitePages)> {
    let before = problems.count();
    let mut paths = PagePaths::new(hosts.by_locale());
    let mut part = Listing { rules: &rules, hosts, uid: PAGES }.part();
    let mut known: Vec<PathOf<'_>> = Vec::new();
    for (position, page) in pages.iter().enumerate() {
        let outer = problems.enter(Some(page.origin.clone()));
        for own in versions(position, page, &rules) {
            if is_too_long(&rules, hosts, own.locale, &own.path) {
                problems.add(&page.place, "its URL has 2,048 characters or more");
            }
            let is_other = |other: &PathOf<'_>| other.page != position;
            if paths.has(&own.path, own.at)
                && let Some(other) = known.iter().filter(|other| is_other(other)).find(|other| {
                    let is_same_host = hosts.host_of(other.at) == hosts.host_of(own.at);
                    is_same_host && other.path == own.path
                })
            {
                let (path, name) = (&own.path, &pages[other.page].name);
                let what = format_args!("the page `{name}` has the path {path} on the same host");
                problems.add(&page.place, what);
            }
            paths.add(&own.path, own.at);
            part.add_page(PageVersion {
                name: &page.name,
                position,
                path: &own.path,
                locale: own.at,
                listed: page.listed,
                modified: page.modified,
            });
            known.push(own);
        }
        problems.enter(outer);
    }
    drop(known);
    let snapshot = (problems.count() == before)
        .then(|| Builder { path_table: true }.finish(vec![part]).ok())
        .flatten()?;
    Some((rules.with_pages(paths), SitePages::new(snapshot)))
}

/// The paths of a page in the locales of the site.
fn versions<'p>(page: usize, own: &Page, rules: &'p RuleSet) -> Vec<PathOf<'p>> {
    let locales = rules.locales().as_slice().iter().enumerate();
    let version = |(at, locale): (usize, &'p SiteLocale)| {
        let path = rules.page_path(own.paths.get(locale.code())?, locale)?;
        Some(PathOf { page, locale, at, path })
    };
    locales.filter_map(version).collect()
}

//! `[[site.page]]`: the pages of a site outside the CMS.

use std::collections::BTreeMap;

use super::by_locale;
use crate::config::section::{Reader, Section};
use crate::config::value::{boolean, text};
use frontend_map_catalog::site::{PAGES, SitePages};
use frontend_map_catalog::snapshot::{Builder, Listing, PageVersion, read_w3c};
use frontend_map_rules::frontend_url::{Hosts, is_too_long};
use frontend_map_rules::{Locales, PagePaths, RuleSet, SiteLocale, Template, Templates};

/// The longest name of a page, in bytes, as that of a key of a site.
const MAX_NAME: usize = 64;

/// A page whose paths are not built yet.
pub(super) struct Page {
    origin: Option<String>,
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
pub(super) fn read(site: &mut Section<'_>, locales: Option<&Locales>) -> Option<Vec<Page>> {
    let mut names: BTreeMap<String, usize> = BTreeMap::new();
    let mut number = 0;
    site.entries("page", |entry| {
        number += 1;
        let page = page(entry, locales)?;
        if let Some(other) = names.insert(page.name.clone(), number) {
            let what = format_args!("page {other} has the same name: rename one of them");
            entry.problem("", what);
        }
        Some(page)
    })
}

fn page(page: &mut Section<'_>, locales: Option<&Locales>) -> Option<Page> {
    let (name, paths) =
        (page.required("name", text), page.required("path", by_locale::read("a path")));
    let listed = page.or("sitemap", true, boolean);
    let lastmod = page.optional("lastmod", text);
    if let Some(name) = &name {
        page.title(name.escape_debug());
        page.check("", check_name(name));
    }
    let paths = paths.and_then(|paths| paths.parse(page, "path", "path", locales, path));
    let modified = lastmod.and_then(|text| {
        let read = read_w3c(&text).ok_or_else(|| {
            let text = text.escape_debug();
            format!("\"{text}\" is not a date such as 2024-03-06, or a time with an offset such as 2024-03-06T22:19:54+01:00")
        });
        page.check("lastmod", read)
    });
    let (origin, place) = (page.origin.clone(), page.named(""));
    Some(Page { origin, place, name: name?, paths: paths?, listed: listed?, modified })
}

fn check_name(name: &str) -> Result<(), &'static str> {
    let is_fine = |b: u8| b.is_ascii_alphanumeric() || b"._-".contains(&b);
    if name.is_empty() || name.len() > MAX_NAME || !name.bytes().all(is_fine) {
        return Err("a name must have 1 to 64 letters, digits, `.`, `_` or `-`");
    }
    Ok(())
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
    reader: &Reader<'_>,
) -> Option<(RuleSet, SitePages)> {
    let before = reader.count();
    let mut paths = PagePaths::new(hosts.by_locale());
    let mut part = Listing { rules: &rules, hosts, uid: PAGES }.part();
    let mut known: Vec<PathOf<'_>> = Vec::new();
    for (position, page) in pages.iter().enumerate() {
        let problem = |what: &str| reader.add(page.origin.as_deref(), &page.place, what);
        for own in versions(position, page, &rules) {
            if is_too_long(&rules, hosts, own.locale, &own.path) {
                problem("its URL has 2,048 characters or more");
            }
            let is_other = |other: &PathOf<'_>| other.page != position;
            if paths.has(&own.path, own.at)
                && let Some(other) = known.iter().filter(|other| is_other(other)).find(|other| {
                    let is_same_host = hosts.host_of(other.at) == hosts.host_of(own.at);
                    is_same_host && other.path == own.path
                })
            {
                let (path, name) = (&own.path, &pages[other.page].name);
                problem(&format!("the page `{name}` has the path {path} on the same host"));
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
    }
    drop(known);
    let snapshot = (reader.count() == before)
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

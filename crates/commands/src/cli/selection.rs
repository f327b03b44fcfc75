//! What the arguments of a command select: the site, its base URL and its content types.

use std::sync::Arc;

use frontend_map_catalog::site::{PAGES, Site, Sites};
use frontend_map_platform::spelling::did_you_mean;
use frontend_map_rules::frontend_url::HostName;
use frontend_map_rules::{ContentTypeUid, Locale};

/// The most names that an error lists.
const MAX_NAMES: usize = 10;

/// The site with this key.
pub(super) fn site<'s>(sites: &'s Sites, key: &str) -> Result<&'s Arc<Site>, String> {
    sites.get(key).ok_or_else(|| {
        let keys: Vec<&str> = sites.iter().map(|site| site.key.as_str()).collect();
        let suggestion = did_you_mean(key, keys.iter().copied());
        let all = if suggestion.is_empty() {
            format!("; there are: {}", shortened(&keys))
        } else {
            suggestion
        };
        format!("unknown site `{key}`{all}")
    })
}

/// The error for a content type without a rule.
pub(super) fn no_rule(site: &Site, uid: &str) -> String {
    let uids = site.rules.content_types();
    let suggestion = did_you_mean(uid, uids.iter().map(|uid| uid.as_str()));
    format!("site \"{}\" has no rule for `{uid}`{suggestion}", site.key)
}

/// The error for a content type of which no site has a rule.
pub(super) fn no_site(sites: &Sites, uid: &str) -> String {
    let uids: Vec<_> = sites.iter().flat_map(|site| site.rules.content_types()).collect();
    let suggestion = did_you_mean(uid, uids.iter().map(|uid| uid.as_str()));
    format!("no site has a rule for `{uid}`{suggestion}")
}

/// The first of these names; the others are counted.
fn shortened(names: &[&str]) -> String {
    let shown = names.len().min(MAX_NAMES);
    let more = match names.len() - shown {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    names[..shown].join(", ") + &more
}

/// Whether the pages outside the CMS are selected: the site has some, and all is selected or they are
/// named.
pub(super) fn has_pages(site: &Site, uids: &[String]) -> bool {
    !site.pages.is_empty() && (uids.is_empty() || uids.iter().any(|uid| uid == PAGES))
}

/// Refuses content types that can have URLs in a locale without a base URL.
pub(super) fn check_base_urls(
    site: &Site,
    uids: &[&ContentTypeUid],
    with_pages: bool,
) -> Result<(), String> {
    let missing = site.first_without_base(uids.iter().map(|uid| uid.as_str()));
    let of_pages = || site.first_page_without_base().filter(|_| with_pages);
    let Some(locale) = missing.or_else(of_pages) else {
        return Ok(());
    };
    let (missing, remedy) = missing_base_url(site, locale);
    Err(format!("site \"{}\" has {missing}: {remedy}", site.key))
}

/// What is missing where a locale (by its position) has no base URL, and what to do about it.
pub(super) fn missing_base_url(site: &Site, locale: usize) -> (String, String) {
    let suffix = match site.hosts.all() {
        [] => String::new(),
        _ => format!(" for the locale `{}`", site.rules.locales().codes()[locale]),
    };
    let variable = site.missing_variable(locale);
    (format!("no base URL{suffix}"), format!("set front_end_url or {variable}"))
}

/// The position of a host among those of the site; `None` if the site has one.
pub(super) fn host(site: &Site, text: &str) -> Result<Option<usize>, String> {
    let name = HostName::parse(text);
    let name =
        name.map_err(|error| format!("{text:?} is not a host such as example.com: {error}"))?;
    if site.hosts.position(&name).is_none() {
        let all: Vec<&str> = site.hosts.all().iter().map(|host| host.base.host()).collect();
        let (key, text) = (&site.key, text.escape_debug());
        return Err(format!("site \"{key}\" has no host `{text}`; there are: {}", shortened(&all)));
    }
    Ok(site.hosts.position_if_several(&name))
}

/// The position of a locale of the site.
pub(super) fn locale(site: &Site, code: &str) -> Result<usize, String> {
    site.rules.locales().position(code).ok_or_else(|| {
        let codes = site.rules.locales().codes().iter().map(Locale::as_str);
        let codes: Vec<&str> = codes.collect();
        format!("site \"{}\" has no locale `{code}`; there are: {}", site.key, shortened(&codes))
    })
}

/// The content types of the site with these UIDs, or all of them if there are none.
pub(super) fn content_types<'s>(
    site: &'s Site,
    uids: &[String],
) -> Result<Vec<&'s ContentTypeUid>, String> {
    for uid in uids {
        if !site.has_group(uid) {
            return Err(no_rule(site, uid));
        }
    }
    let is_selected =
        |uid: &&ContentTypeUid| uids.is_empty() || uids.iter().any(|other| other == uid.as_str());
    Ok(site.rules.content_types().into_iter().filter(is_selected).collect())
}

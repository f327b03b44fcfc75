//! Settings that are accepted although they are probably a mistake: `check` prints them, and
//! `serve` logs them.

use super::environment::Environment;
use super::known_keys::KnownKeys;
use super::variable_names::similar_setting;
use super::{Cms, Lines, Problem};
use frontend_map_catalog::site::{Site, Sites};
use frontend_map_platform::spelling::did_you_mean;

/// The variables with the base URLs of sites.
const BASE_URL: &str = "FRONT_END_URL_";

/// All of them, in an order that does not change between starts.
pub(super) fn find(
    sites: &Sites,
    cms: &Cms,
    environment: &Environment,
    known: &KnownKeys,
    lines: &Lines,
) -> Vec<Problem> {
    let unlocated = |text| Problem { line: None, text };
    let mut found: Vec<Problem> =
        unused_content_types(sites, cms).into_iter().map(unlocated).collect();
    let in_site = |site: &Site, text| Problem { line: lines.site(&site.key), text };
    let empty = sites.iter().filter(|site| site.rules.rules().is_empty());
    found.extend(empty.map(|site| {
        let key = &site.key;
        let what = "it has no rules, so no pathname matches; add [[site.rule]]";
        in_site(site, format!("site \"{key}\": {what}"))
    }));
    for site in sites.iter() {
        found.extend(bad_language_tags(site).map(|text| in_site(site, text)));
    }
    let mut names: Vec<&str> = environment.keys().map(String::as_str).collect();
    names.sort_unstable();
    let variables = names.into_iter().filter_map(|name| variable(name, sites, known));
    found.extend(variables.map(unlocated));
    found
}

/// Locales whose code is their `hreflang` and is no language tag.
fn bad_language_tags(site: &Site) -> impl Iterator<Item = String> {
    let locales = site.rules.locales().as_slice().iter();
    locales.filter_map(move |locale| {
        let error = locale.check_hreflang().err()?;
        Some(format!("site \"{}\", locale `{}`, hreflang: {error}", site.key, locale.as_str()))
    })
}

/// Endpoints of content types without a rule.
fn unused_content_types(sites: &Sites, cms: &Cms) -> Vec<String> {
    let Cms::Strapi(settings) = cms else {
        return Vec::new();
    };
    let ruled: Vec<&str> = sites
        .iter()
        .flat_map(|site| site.all_content_types())
        .map(frontend_map_rules::ContentTypeUid::as_str)
        .collect();
    let unused = settings.endpoints.keys().filter(|uid| !ruled.contains(&uid.as_str()));
    let mut found: Vec<String> = unused
        .map(|uid| {
            let suggestion = did_you_mean(uid.as_str(), ruled.iter().copied());
            format!("[[content_type]] {uid}: no rule names this content type{suggestion}")
        })
        .collect();
    found.sort_unstable();
    found
}

/// All variables that may have a base URL of a site.
fn base_url_variables(site: &Site) -> impl Iterator<Item = String> {
    let codes = site.rules.locales().codes().iter();
    let of_locales = codes.map(|code| Site::locale_variable(&site.key, code.as_str()));
    std::iter::once(Site::base_url_variable(&site.key)).chain(of_locales)
}

fn variable(name: &str, sites: &Sites, known: &KnownKeys) -> Option<String> {
    if name.starts_with(BASE_URL) {
        let own: Vec<String> = sites.iter().flat_map(|site| base_url_variables(site)).collect();
        let is_unused = !own.iter().any(|own| own == name);
        let suggestion = did_you_mean(name, own.iter().map(String::as_str));
        return is_unused.then(|| format!("{name}: no site uses this variable{suggestion}"));
    }
    let intended = similar_setting(name, known)?;
    let is_other = !intended.eq_ignore_ascii_case(name);
    is_other.then(|| format!("{name}: this variable is ignored; did you mean {intended}?"))
}

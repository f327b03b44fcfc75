//! `/rules`: what is loaded.

use serde::Serialize;

use crate::rules::{Locale, Rule, Template};
use crate::site::{ResolveBy, Site, Sites};

#[derive(Serialize)]
struct Loaded<'a> {
    sites: Vec<OfSite<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct OfSite<'a> {
    key: &'a str,
    locales: Vec<&'a str>,
    /// Whether there is one; which one is a setting of its own.
    has_base_url: bool,
    resolve: &'static str,
    rules: Vec<OneRule<'a>>,
}

#[derive(PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct OneRule<'a> {
    content_type: &'a str,
    template: &'a str,
    /// Those that have this template, where not all have the same.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locales: Vec<&'a str>,
}

/// All sites in the order of the settings, each with its rules in the order of evaluation.
pub(super) fn text(sites: &Sites) -> Vec<u8> {
    let loaded = Loaded { sites: sites.iter().map(of_site).collect() };
    // Text alone: there is nothing in it that JSON cannot hold.
    serde_json::to_vec(&loaded).unwrap_or_default()
}

fn of_site(site: &Site) -> OfSite<'_> {
    let locales = site.rules.locales().as_slice();
    let mut rules: Vec<OneRule<'_>> = Vec::new();
    for rule in site.rules.in_order().map(|(rule, template)| one_rule(rule, template)) {
        // A template with several forms stands where the first of them is tried.
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    OfSite {
        key: &site.key,
        locales: locales.iter().map(Locale::as_str).collect(),
        has_base_url: site.base.is_some(),
        resolve: match site.resolve {
            ResolveBy::Rules => "rules",
            ResolveBy::Documents => "documents",
        },
        rules,
    }
}

fn one_rule<'a>(rule: &'a Rule, template: &'a Template) -> OneRule<'a> {
    let own = rule.templates().filter(|(_, own)| *own == template);
    OneRule {
        content_type: rule.content_type.as_str(),
        template: template.as_str(),
        locales: own.filter_map(|(locale, _)| locale).map(Locale::as_str).collect(),
    }
}

//! `/rules`: the rules in use.

use std::sync::Arc;

use axum::http::{HeaderMap, StatusCode};
use serde::Serialize;

use crate::app::App;
use crate::http::response::envelope::{HttpResponse, json_response};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::{Locale, Rule, Template};

#[derive(Serialize)]
struct Loaded<'a> {
    sites: Vec<SiteRules<'a>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct SiteRules<'a> {
    key: &'a str,
    locales: Vec<&'a str>,
    /// The URL itself is not shown.
    has_base_url: bool,
    resolve: &'static str,
    rules: Vec<RuleEntry<'a>>,
}

#[derive(PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct RuleEntry<'a> {
    content_type: &'a str,
    template: &'a str,
    /// The locales that have this template, if the rule has several templates.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    locales: Vec<&'a str>,
}

/// All sites in the order of the settings, each with its rules in the order of evaluation.
pub(in crate::http) fn get(app: &Arc<App>) -> HttpResponse {
    let loaded = Loaded { sites: app.sites.iter().map(|site| site_rules(site)).collect() };
    let text = serde_json::to_vec(&loaded).expect("text and flags are JSON");
    json_response(StatusCode::OK, text, HeaderMap::new())
}

fn site_rules(site: &Site) -> SiteRules<'_> {
    let locales = site.rules.locales().codes();
    let mut rules: Vec<RuleEntry<'_>> = Vec::new();
    for rule in site.rules.in_order().map(|(rule, template)| rule_entry(rule, template)) {
        // A template may be tried at several positions; it is listed at the first.
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    SiteRules {
        key: &site.key,
        locales: locales.iter().map(Locale::as_str).collect(),
        has_base_url: site.hosts.first_locale_without_base().is_none(),
        resolve: match site.resolve {
            ResolveBy::Rules => "rules",
            ResolveBy::Documents => "documents",
        },
        rules,
    }
}

fn rule_entry<'a>(rule: &'a Rule, template: &'a Template) -> RuleEntry<'a> {
    let own = rule.templates().filter(|(_, own)| *own == template);
    RuleEntry {
        content_type: rule.content_type.as_str(),
        template: template.as_str(),
        locales: own.filter_map(|(locale, _)| locale).map(Locale::as_str).collect(),
    }
}

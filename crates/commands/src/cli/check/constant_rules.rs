//! Rules that build the same path for every document of a type with many documents.

use std::collections::HashSet;

use super::findings::{Check, Finding, Level, Place};
use crate::config::{Cms, Config};
use frontend_map_cms::EndpointKind;
use frontend_map_rules::{ContentTypeUid, Rule, Source};

/// A warning for each of them, except for types that the CMS says to be single types.
pub(super) fn find(config: &Config, single_types: &HashSet<ContentTypeUid>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for site in config.sites.iter() {
        for (at, rule) in
            site.rules.rules().iter().enumerate().filter(|(_, rule)| is_constant(rule))
        {
            let uid = &rule.content_type;
            if single_types.contains(uid) || is_known_single(&config.cms, uid) {
                continue;
            }
            let key = &site.key;
            let text = format!("site {key}: a rule builds one path for all documents");
            let place = Place::Rule(key.clone(), at);
            let mut finding = Finding::new(Check::ConstantRule, Level::Warning, place, text);
            finding.detail("rule", format_args!("{uid} {}", rule.first_template()));
            finding.detail(
                "fix",
                "add a placeholder such as {slug}, or `where`; or set kind = \"single\" in [[content_type]]",
            );
            findings.push(finding);
        }
    }
    findings
}

/// Whether nothing in the rule depends on the document but its locale.
fn is_constant(rule: &Rule) -> bool {
    let is_locale = |source: &Source| *source == Source::Locale;
    let mut templates = rule.templates().map(|(_, template)| template);
    rule.conditions.is_empty()
        && templates.all(|template| template.placeholders().all(|p| is_locale(&p.source)))
}

fn is_known_single(cms: &Cms, uid: &ContentTypeUid) -> bool {
    match cms {
        Cms::Strapi(settings) => {
            settings.endpoints.get(uid).is_some_and(|e| e.kind() == EndpointKind::Single)
        }
        Cms::Files { content, .. } => content.has_at_most_one_document(uid),
    }
}

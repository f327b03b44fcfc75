//! What the rules of all sites, and the links in content, need of each content type.

use frontend_map_catalog::site::{Site, Sites};
use frontend_map_cms::{FieldUse, Purpose, TypeUse};
use frontend_map_rules::{Condition, ContentTypeUid, FieldPath, Rule, Source};

/// The needs of the rules of each content type, in the order of the settings, then those of the links.
pub(super) fn type_uses(sites: &Sites) -> Vec<TypeUse> {
    let (mut of_rules, mut of_links) = (Vec::new(), Vec::new());
    for site in sites.with_redirects() {
        for uid in site.rules.content_types() {
            let alternatives = site.rules.alternatives(uid.as_str());
            let fields = site.rules.of_type(uid.as_str()).flat_map(fields);
            add_use(&mut of_rules, site, uid, alternatives, fields);
        }
        for source in &site.links {
            let fields = source.fields.iter().map(|field| (Purpose::Links, vec![field]));
            add_use(&mut of_links, site, &source.content_type, Vec::new(), fields);
        }
    }
    of_rules.append(&mut of_links);
    of_rules
}

/// Adds what a site needs of a content type.
fn add_use<'r>(
    uses: &mut Vec<TypeUse>,
    site: &Site,
    uid: &ContentTypeUid,
    alternatives: Vec<Vec<Condition>>,
    fields: impl Iterator<Item = (Purpose, Vec<&'r FieldPath>)>,
) {
    let locales = site.rules.locales();
    if let Some(known) = uses.iter_mut().find(|known| known.uid == *uid) {
        for locale in locales.codes() {
            if *locale != known.locale && !known.other_locales.contains(locale) {
                known.other_locales.push(locale.clone());
            }
        }
        // Without alternatives a site reads all documents.
        if alternatives.is_empty() || known.alternatives.is_empty() {
            known.alternatives.clear();
        } else {
            known.alternatives.extend(alternatives);
        }
        return add(&mut known.fields, fields);
    }
    let locale = locales.default_locale().code().clone();
    let other_locales = locales.codes().iter().filter(|other| **other != locale);
    let other_locales = other_locales.cloned().collect();
    let mut all = Vec::new();
    add(&mut all, fields);
    uses.push(TypeUse { uid: uid.clone(), fields: all, alternatives, locale, other_locales });
}

/// Adds the fields that are new.
fn add<'r>(all: &mut Vec<FieldUse>, groups: impl Iterator<Item = (Purpose, Vec<&'r FieldPath>)>) {
    for (purpose, paths) in groups {
        let group = all.last().map_or(0, |last| last.group + 1);
        for path in paths {
            if !all.iter().any(|known| known.path == *path && known.purpose == purpose) {
                all.push(FieldUse { path: path.clone(), purpose, group });
            }
        }
    }
}

/// The fields that a rule names: those of each placeholder, then one at a time.
fn fields(rule: &Rule) -> impl Iterator<Item = (Purpose, Vec<&FieldPath>)> {
    let redirect = rule.redirect.iter().flat_map(|redirect| {
        let texts = [&redirect.to, &redirect.document, &redirect.status].into_iter().flatten();
        let texts = texts.map(|field| (Purpose::Placeholder, vec![field]));
        texts.chain(redirect.force.iter().map(|field| (Purpose::Condition, vec![field])))
    });
    let placeholders = rule.templates().flat_map(|(_, template)| template.placeholders());
    let values = placeholders.map(|placeholder| {
        let purpose = match placeholder.source {
            Source::Date(..) => Purpose::Date,
            _ => Purpose::Placeholder,
        };
        (purpose, placeholder.source.fields().collect())
    });
    let conditions = rule.conditions.iter().chain(&rule.sitemap.exclude_when);
    let conditions = conditions.map(|condition| (Purpose::Condition, vec![&condition.field]));
    // As in a template, only text can be in a path or be shown.
    let texts = rule.path_field.iter().chain(&rule.title);
    let texts = texts.map(|field| (Purpose::Placeholder, vec![field]));
    let date = (Purpose::Date, vec![&rule.sitemap.modified]);
    values.chain(conditions).chain([date]).chain(texts).chain(redirect)
}

//! D16, on rules with every feature: a path that was built resolves to the rule and values it was built from,
//! or to a pattern of a rule that comes earlier by D8.

use std::cmp::Ordering;

use frontend_map_rules::frontend_url::{FrontendPath, Hosts, frontend_path};
use frontend_map_rules::{
    Document, FieldValue, Match, Pathname, Placeholder, Rule, RuleSet, Segment, Source, Template,
    TrailingSlash, without_trailing_slash,
};
use proptest::prelude::*;

use super::{by_segment, features, versions};

proptest! {
    #[test]
    fn built_path_resolves_to_its_values_or_to_an_earlier_rule(
        rules in features::rule_set(),
        documents in prop::collection::vec(features::document(), 1..4),
    ) {
        for (document, uid) in versions(&documents) {
            if let Some(Ok(built)) = frontend_path(&rules, &Hosts::default(), uid, document, true) {
                resolves(&rules, document, &built)?;
            }
        }
    }
}

proptest! {
    #[test]
    fn trailing_slash_changes_the_end_of_a_path_alone(
        rules in features::rule_set(),
        documents in prop::collection::vec(features::document(), 1..4),
    ) {
        let [never, always] = [TrailingSlash::Never, TrailingSlash::Always]
            .map(|slash| rules.clone().with_trailing_slash(slash));
        for (document, uid) in versions(&documents) {
            let path = |rules| frontend_path(rules, &Hosts::default(), uid, document, true)?.ok();
            let [bare, slashed] = [&never, &always].map(|rules| path(rules).map(|built| built.path));
            let (Some(bare), Some(slashed)) = (&bare, &slashed) else {
                // A slash more may be too long.
                prop_assert!(slashed.is_none() && bare.is_none_or(|bare| bare.len() == 2_047));
                continue;
            };
            // Then a later rule builds another path.
            if bare.len() == 2_047 && slashed.len() < 2_047 {
                continue;
            }
            prop_assert_eq!(bare, without_trailing_slash(slashed));
            prop_assert!(bare == "/" || !bare.ends_with('/'));
            let is_file = bare.rsplit('/').next().is_some_and(|last| last.contains('.'));
            prop_assert!(slashed.ends_with('/') || is_file, "{}", slashed);
        }
    }
}

proptest! {
    /// With one host or several.
    #[test]
    fn built_path_leads_to_a_template_of_its_host(
        (rules, hosts) in features::site(),
        documents in prop::collection::vec(features::document(), 1..4),
    ) {
        for (document, uid) in versions(&documents) {
            let built = frontend_path(&rules, &hosts, uid, document, true);
            let Some(Ok(built)) = built else { continue };
            let pathname = Pathname::parse(&built.path);
            let locale = rules.locales().position(built.locale.as_str());
            let host = locale.and_then(|locale| hosts.host_if_several(locale));
            let found = rules.find_on(&pathname, host);
            let Some(found) = found.map(|found| rules.with_locale_of_host(found, host)) else {
                return Err(TestCaseError::fail(format!("{} does not resolve", built.path)));
            };
            let mut own = rules.locales().codes().iter().enumerate();
            let is_own = own.any(|(at, code)| {
                hosts.host_if_several(at) == host && found.rule.template(code) == Some(found.template)
            });
            prop_assert!(is_own, "{}", built.path);
        }
    }
}

fn resolves(
    rules: &RuleSet,
    document: &Document<'_>,
    built: &FrontendPath<'_>,
) -> Result<(), TestCaseError> {
    let pathname = Pathname::parse(&built.path);
    prop_assert_eq!(&pathname.normalized(), without_trailing_slash(&built.path));
    let Some(found) = rules.find(&pathname) else {
        return Err(TestCaseError::fail(format!("{} does not resolve", built.path)));
    };
    let all = values(document, built);
    // The path has all of these, except `{locale}` when the default locale is omitted.
    let bare = all.iter().filter(|(name, _)| *name != "locale");
    let bare: Vec<(&str, String)> = bare.cloned().collect();
    let params = found.params.iter().map(|(name, value)| (name, value.to_owned()));
    let params: Vec<(&str, String)> = params.collect();
    let same = std::ptr::eq(found.rule, built.rule) && found.template == built.template;
    if same && (params == all || params == bare) {
        // Two locales may have one template, and then one path.
        let locale = found.locale.unwrap_or(built.locale);
        let own = built.rule.template(locale.code());
        prop_assert!(locale == built.locale || own == Some(built.template), "{}", built.path);
        return Ok(());
    }
    let shadowed = [all, bare].iter().any(|values| {
        let names: Vec<&str> = values.iter().map(|(name, _)| *name).collect();
        shadows(rules, &found, built.template, built.rule, &names)
    });
    prop_assert!(
        shadowed,
        "{}: {} is found, {} built it",
        built.path,
        found.template,
        built.template
    );
    Ok(())
}

/// Whether the pattern that was found is evaluated before the one with these placeholders.
pub(super) fn shadows(
    rules: &RuleSet,
    found: &Match<'_>,
    template: &Template,
    rule: &Rule,
    names: &[&str],
) -> bool {
    let found_names: Vec<&str> = found.params.iter().map(|(name, _)| name).collect();
    let place = |wanted: &Rule| rules.rules().iter().position(|rule| std::ptr::eq(rule, wanted));
    match by_segment(&pattern(found.template, &found_names), &pattern(template, names)) {
        Ordering::Less => true,
        Ordering::Equal => place(found.rule) <= place(rule),
        Ordering::Greater => false,
    }
}

/// The segments of a template without the placeholders that the path omits.
fn pattern<'t>(template: &'t Template, names: &[&str]) -> Vec<&'t Segment> {
    let all = template.segments().iter();
    let is_present = |p: &Placeholder| names.contains(&p.name.as_str());
    all.filter(|segment| segment.placeholder().is_none_or(is_present)).collect()
}

/// The values of the document for the template, without missing optional ones.
fn values<'t>(document: &Document<'_>, built: &FrontendPath<'t>) -> Vec<(&'t str, String)> {
    let all = built.template.segments().iter();
    let named = all.filter_map(|segment| {
        let placeholder = segment.placeholder()?;
        let value = value(document, built.locale.as_str(), placeholder);
        let empty = value.as_ref().is_none_or(|value| value.trim().is_empty());
        let omitted = empty && matches!(segment, Segment::Optional(_));
        let value = value.unwrap_or_else(|| "no text".to_owned());
        (!omitted).then_some((placeholder.name.as_str(), value))
    });
    named.collect()
}

fn value(document: &Document<'_>, locale: &str, placeholder: &Placeholder) -> Option<String> {
    let text = |value: &FieldValue<'_>| match value {
        FieldValue::Text(text) => Some(text.clone().into_owned()),
        _ => None,
    };
    match &placeholder.source {
        Source::Locale => Some(locale.to_owned()),
        Source::DocumentId => Some(document.id.clone().into_owned()),
        Source::Field(path) => text(document.field(path)),
        Source::Date(path, part) => features::date_part(&text(document.field(path))?, *part),
        Source::Ancestors(steps) => {
            let parents = steps.iter().skip(1);
            let ids = parents.take_while(|step| text(document.field(&step.id)).is_some());
            let own = steps.first().into_iter().chain(ids);
            let values = own.map(|step| text(document.field(&step.value)));
            let mut values = values.collect::<Option<Vec<String>>>()?;
            values.reverse();
            Some(values.join("/"))
        }
    }
}

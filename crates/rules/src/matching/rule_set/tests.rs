//! Rule sets: their content types, fields and templates, and what a match contains.

use super::*;
use crate::fixtures::{field, locale, locales, per_locale, rule, set};
use crate::{Literal, Source};

/// A rule of `api::t.t0` with these conditions.
fn rule_where(template: &str, conditions: &[(&str, &str)]) -> Rule {
    let mut rule = rule(0, template);
    let condition = |(path, value): &(&str, &str)| Condition {
        field: field(path),
        equals: Literal::Text((*value).to_owned()),
    };
    rule.conditions = conditions.iter().map(condition).collect();
    rule
}

fn rule_set(rules: Vec<Rule>) -> RuleSet {
    RuleSet::new(locales(), LocalePrefix::Always, rules)
}

fn joined(fields: &[FieldPath]) -> String {
    fields.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
}

#[test]
fn rules_of_a_type_keep_the_order_of_the_settings() {
    let rules = rule_set(vec![rule(1, "/b/{slug}"), rule(0, "/a/{slug}"), rule(1, "/b")]);
    let uids: Vec<&str> = rules.content_types().into_iter().map(ContentTypeUid::as_str).collect();
    assert_eq!(uids, ["api::t.t1", "api::t.t0"]);
    for (uid, positions) in [("api::t.t1", &[0, 2][..]), ("api::t.t0", &[1]), ("api::t.t2", &[])] {
        assert_eq!(rules.positions_of_type(uid).collect::<Vec<_>>(), positions, "{uid}");
        let of_type: Vec<_> = rules.of_type(uid).collect();
        assert_eq!(of_type, positions.iter().map(|at| &rules.rules()[*at]).collect::<Vec<_>>());
    }
    let in_order: Vec<String> = rules
        .in_order()
        .map(|(rule, template)| format!("{} {template}", rule.content_type))
        .collect();
    assert_eq!(in_order, ["api::t.t1 /b", "api::t.t1 /b/{slug}", "api::t.t0 /a/{slug}"]);
}

#[test]
fn alternatives_are_the_conditions_of_each_rule_of_the_type() {
    let news = [("kind", "news")];
    let both = [("kind", "news"), ("section", "a")];
    for (rules, expected) in [
        (vec![rule_where("/a", &news)], vec!["kind"]),
        (vec![rule_where("/a", &news), rule_where("/b", &news)], vec!["kind"]),
        (vec![rule_where("/a", &both), rule_where("/b", &news)], vec!["kind section", "kind"]),
        (vec![rule_where("/a", &news), rule_where("/b", &[])], vec![]),
        (vec![rule_where("/a", &news), rule(1, "/b")], vec!["kind"]),
        (vec![rule(1, "/b")], vec![]),
    ] {
        let rules = rule_set(rules);
        let fields =
            |all: &Vec<Condition>| joined(&all.iter().map(|c| c.field.clone()).collect::<Vec<_>>());
        let alternatives: Vec<String> =
            rules.alternatives("api::t.t0").iter().map(fields).collect();
        assert_eq!(alternatives, expected);
    }
}

#[test]
fn fields_of_a_type_are_those_of_its_rules_each_once() {
    let mut pages = rule(0, "/p/{*path}");
    let source = Some(Source::ancestors(&field("slug"), &field("up"), 0));
    assert!(pages.set_param("path", &crate::Param { source, constraint: None }));
    let mut dated = rule_where("/{locale}/{on:year}/{on:day}/{documentId}", &[("kind", "a")]);
    dated.sitemap.modified = field("changed");
    dated.sitemap.exclude_when = rule_where("/", &[("hidden", "1")]).conditions;
    for (rules, fields, listing) in [
        (
            vec![rule(0, "/{category.slug}/{slug}")],
            "category.slug slug",
            "category.slug slug updatedAt category.documentId",
        ),
        (
            vec![rule(0, "/{slug}"), rule(0, "/{slug}/{title}"), rule(1, "/{x}")],
            "slug title",
            "slug updatedAt title",
        ),
        (
            vec![pages],
            "documentId slug up.documentId up.slug",
            "documentId slug up.documentId up.slug updatedAt",
        ),
        (vec![dated], "on kind", "on kind hidden changed"),
        (vec![per_locale(&[("en", "/a/{a}"), ("de", "/b/{b}")])], "a b", "a b updatedAt"),
        (vec![rule(1, "/{x}")], "", ""),
    ] {
        let rules = rule_set(rules);
        assert_eq!(joined(&rules.fields("api::t.t0")), fields);
        assert_eq!(joined(&rules.listing_fields("api::t.t0")), listing);
    }
}

#[test]
fn templates_of_a_rule_keep_the_order_of_the_locales_of_the_site() {
    let rules = rule_set(vec![per_locale(&[("de", "/neues/{slug}"), ("en", "/news/{slug}")])]);
    let rule = &rules.rules()[0];
    let templates =
        rule.templates().map(|(locale, template)| format!("{} {template}", locale.unwrap()));
    assert_eq!(templates.collect::<Vec<_>>(), ["en /news/{slug}", "de /neues/{slug}"]);
    assert_eq!(rule.first_template().as_str(), "/news/{slug}");
    for (code, expected) in
        [("en", Some("/news/{slug}")), ("de", Some("/neues/{slug}")), ("fr", None)]
    {
        assert_eq!(rule.template(&locale(code)).map(Template::as_str), expected);
    }
}

#[test]
fn match_has_the_values_and_the_locale_of_the_pathname() {
    let mut rules: Vec<Rule> = ["/{locale}/a-{slug}.html/{*rest}", "/{slug}", "/{x}/{y}/{slug}"]
        .iter()
        .map(|t| rule(0, t))
        .collect();
    rules.push(per_locale(&[("en", "/news/{slug}"), ("de", "/neues/{slug}")]));
    rules.push(per_locale(&[("en", "/faq/{slug}"), ("de", "/faq/{slug}")]));
    let rules = rule_set(rules);
    for (pathname, params, locale, shared) in [
        (
            "/de/a-%C3%A9.html/b/c%20d",
            r#"{"locale": "de", "slug": "é", "rest": "b/c d"}"#,
            Some("de"),
            0,
        ),
        ("/x", r#"{"slug": "x"}"#, None, 0),
        ("/1/2/3", r#"{"x": "1", "y": "2", "slug": "3"}"#, None, 0),
        ("/news/x", r#"{"slug": "x"}"#, Some("en"), 0),
        ("/neues/x", r#"{"slug": "x"}"#, Some("de"), 0),
        ("/faq/x", r#"{"slug": "x"}"#, None, 2),
    ] {
        let pathname = Pathname::parse(pathname);
        let found = rules.find(&pathname).unwrap();
        assert_eq!(format!("{:?}", found.params), params);
        assert_eq!(found.locale.map(SiteLocale::as_str), locale, "{params}");
        assert_eq!(found.shared.len(), shared, "{params}");
        assert_eq!(found.params.has_locale(), params.contains("locale"), "{params}");
    }
    let [one, same, other] = ["/x", "/%78/", "/y"].map(Pathname::parse);
    assert_eq!(rules.find(&one), rules.find(&same));
    assert_ne!(rules.find(&one), rules.find(&other));
}

#[test]
fn ambiguities_are_templates_whose_omitted_locale_cannot_be_recognized() {
    let template = |at: usize, text: &str, problem: &str| {
        (at, format!("template `{text}`: with locale_prefix = \"except-default\" {problem}"))
    };
    let taken = "may not stand where {locale} is left out, as it is the segment of a locale";
    let optional = "an optional segment before {locale} could be taken for it";
    let templates = [
        "/{locale}/{a?}/de",
        "/{a?}/{locale}/de",
        "/a/{locale}/en/{slug}",
        "/{locale}/fr",
        "/{locale}/{a?}",
        "/{locale}",
        "/de/{locale}",
    ];
    let found: Vec<_> = set(LocalePrefix::ExceptDefault, &templates)
        .ambiguities()
        .map(|(at, error)| (at, error.to_string()))
        .collect();
    let expected = [
        template(0, templates[0], &format!("`de` {taken}")),
        template(1, templates[1], optional),
        template(2, templates[2], &format!("`en` {taken}")),
    ];
    assert_eq!(found, expected);
    assert_eq!(set(LocalePrefix::Always, &templates).ambiguities().count(), 0);
}

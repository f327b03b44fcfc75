//! Paths built from templates and values, or the fault of a placeholder.

use super::*;
use crate::fixtures::{Holds, field, locale, locales, per_locale, rule, text};
use crate::{Condition, Literal, Param, RuleSet};

type Row<'a> = (&'a str, &'a str, &'a [(&'a str, &'a str)], &'a str, &'a str);

/// Template, locale and fields; the path or the reason, and the output of each segment.
fn check(prefix: LocalePrefix, rows: &[Row<'_>]) {
    for (template, code, fields, path, segments) in rows {
        let rules = RuleSet::new(locales(), prefix, vec![rule(0, template)]);
        let (holds, rule) = (Holds::texts(code, fields), &rules.rules()[0]);
        let mut written = String::new();
        let built = rules.write_path(rule, &locale(code), &holds, &mut written);
        let built = match built {
            Ok(_) => written,
            Err(NoPath::Unusable(unusable)) => unusable.to_string(),
            Err(other) => panic!("{template}: {other:?}"),
        };
        assert_eq!(built, *path, "{template} {fields:?}");
        let parts = rules.built_segments(rule.first_template(), &locale(code), &holds);
        let parts: Vec<String> = parts.iter().map(summary).collect();
        assert_eq!(parts.join(" / "), *segments, "{template} {fields:?}");
    }
}

fn summary(part: &BuiltSegment<'_>) -> String {
    match &part.output {
        SegmentOutput::Static(text) => (*text).to_owned(),
        SegmentOutput::Value(value) => format!("={}", value.text),
        SegmentOutput::Omitted => "-".to_owned(),
        SegmentOutput::Fault(fault) => format!("!{fault}"),
    }
}

#[test]
fn write_path_gives_a_path_or_the_fault_of_the_leftmost_placeholder() {
    check(
        LocalePrefix::Always,
        &[
            ("/", "en", &[], "/", ""),
            (
                "/{locale}/ü b/{slug}",
                "de",
                &[("slug", "a b")],
                "/de/%C3%BC%20b/a%20b",
                "=de / ü b / =a b",
            ),
            ("/{*slug}", "en", &[("slug", "a b/c")], "/a%20b/c", "=a b/c"),
            ("/é{slug}.html", "en", &[("slug", "ä")], "/%C3%A9%C3%A4.html", "=ä"),
            ("/é{slug}.html", "en", &[("slug", "a/b")], "slug_has_slash", "!has_slash"),
            ("/{a}/{b}", "en", &[("b", "2")], "a_missing", "!missing / =2"),
            ("/{a}/{b}", "en", &[("a", "..")], "a_dot_segment", "!dot_segment / !missing"),
            ("/{documentId}/{locale}", "en", &[], "/id/en", "=id / =en"),
            ("/{slug} = a,b", "en", &[("slug", "c")], "slug_not_allowed", "!not_allowed"),
            ("/{locale}/{slug}", "en", &[("slug", "de")], "/en/de", "=en / =de"),
        ],
    );
}

#[test]
fn null_on_the_path_of_a_placeholder_is_named() {
    use FieldValue::{Missing, NullAt};
    let by_alias = |param: &str| {
        let mut rule = rule(0, "/{name}");
        let source = Some(Source::Field(field(param)));
        assert!(rule.set_param("name", &Param { source, constraint: None }));
        rule
    };
    for (rule, path, value, expected) in [
        (rule(0, "/{a.b.slug}"), "a.b.slug", NullAt(0), "a_missing"),
        (rule(0, "/{a.b.slug}"), "a.b.slug", NullAt(1), "a.b_missing"),
        (rule(0, "/{a.b.slug}"), "a.b.slug", NullAt(2), "a.b.slug_missing"),
        (rule(0, "/{a.b.slug}"), "a.b.slug", Missing, "a.b.slug_missing"),
        (rule(0, "/{a.b.slug}"), "a.b.slug", text(""), "a.b.slug_empty"),
        (rule(0, "/{a.on:year}"), "a.on", NullAt(0), "a_missing"),
        (rule(0, "/{a.slug?}/{slug?}"), "a.slug", NullAt(0), "a_missing"),
        (by_alias("a.slug"), "a.slug", NullAt(0), "a_missing"),
        (by_alias("a.slug"), "a.slug", NullAt(1), "name_missing"),
        (by_alias("a.slug"), "a.slug", Missing, "name_missing"),
    ] {
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![rule]);
        let holds = Holds::new("en", &[(path, value.clone()), ("slug", text("x"))]);
        let built = rules.write_path(&rules.rules()[0], &locale("en"), &holds, &mut String::new());
        let Err(NoPath::Unusable(unusable)) = built else { panic!("{path} {value:?} {built:?}") };
        assert_eq!(unusable.to_string(), expected, "{path} {value:?}");
    }
}

#[test]
fn write_path_omits_optional_segments_from_the_right() {
    check(
        LocalePrefix::Always,
        &[
            ("/{a?}", "en", &[], "/", "-"),
            ("/{a?}", "en", &[("a", " ")], "/", "-"),
            ("/{a?}/{slug}", "en", &[("slug", "x")], "/x", "- / =x"),
            (
                "/{a?}/{slug}",
                "en",
                &[("a", "b/c"), ("slug", "x")],
                "a_has_slash",
                "!has_slash / =x",
            ),
            ("/{a?}/{b?}/x", "en", &[("a", "1")], "/1/x", "=1 / - / x"),
            ("/{a?}/{b?}/x", "en", &[("a", "1"), ("b", "2")], "/1/2/x", "=1 / =2 / x"),
            ("/{a?}/{b?}/x", "en", &[("b", "2")], "a_missing", "!missing / =2 / x"),
            ("/{a?}/{b?}/{c?}", "en", &[("c", "3")], "a_missing", "!missing / !missing / =3"),
            ("/{a?}/{b?}/{c?}", "en", &[("b", "2")], "a_missing", "!missing / =2 / -"),
        ],
    );
}

#[test]
fn write_path_refuses_a_locale_in_place_of_the_omitted_one() {
    check(
        LocalePrefix::ExceptDefault,
        &[
            ("/{locale}", "en", &[], "/", "-"),
            ("/{locale}", "de", &[], "/de", "=de"),
            ("/{locale}/{slug}", "en", &[("slug", "x")], "/x", "- / =x"),
            ("/{locale}/{slug}", "en", &[("slug", "de")], "slug_not_allowed", "- / !not_allowed"),
            ("/{locale}/{slug}", "en", &[("slug", "den")], "/den", "- / =den"),
            ("/{locale}/{slug}", "de", &[("slug", "de")], "/de/de", "=de / =de"),
            ("/{locale}/d{slug}", "en", &[("slug", "e")], "slug_not_allowed", "- / !not_allowed"),
            ("/{locale}/{slug}n", "en", &[("slug", "e")], "slug_not_allowed", "- / !not_allowed"),
            (
                "/{locale}/{*slug}",
                "en",
                &[("slug", "de/x")],
                "slug_not_allowed",
                "- / !not_allowed",
            ),
            ("/{locale}/{*slug}", "en", &[("slug", "x/de")], "/x/de", "- / =x/de"),
            ("/{locale}/a/{slug}", "en", &[("slug", "de")], "/a/de", "- / a / =de"),
            ("/{locale}/{a}/{slug}", "en", &[("a", "x"), ("slug", "de")], "/x/de", "- / =x / =de"),
            ("/{locale}/{a?}", "en", &[("a", "x")], "/x", "- / =x"),
            (
                "/{locale}/{a?}/{slug}",
                "en",
                &[("slug", "de")],
                "slug_not_allowed",
                "- / - / !not_allowed",
            ),
            ("/a/{slug}", "en", &[("slug", "de")], "/a/de", "a / =de"),
        ],
    );
}

#[test]
fn write_path_checks_conditions_before_the_template_of_the_locale() {
    let mut rule = per_locale(&[("de", "/neues/{slug}")]);
    let equals = Literal::Text("news".to_owned());
    rule.conditions.push(Condition { field: field("section"), equals });
    let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![rule]);
    for (code, section, expected) in [
        ("de", "news", Ok("/neues/{slug}")),
        ("en", "news", Err(NoPath::Locale)),
        ("de", "press", Err(NoPath::Conditions)),
        ("en", "press", Err(NoPath::Conditions)),
    ] {
        let holds = Holds::texts(code, &[("section", section), ("slug", "x")]);
        let rule = &rules.rules()[0];
        let built = rules.write_path(rule, &locale(code), &holds, &mut String::new());
        assert_eq!(built.map(Template::as_str), expected, "{code} {section}");
    }
}

//! The patterns of a rule's templates.

use super::*;
use crate::fixtures::{locale, per_locale, rule, translated_locales};

/// Each pattern with its locales, those that `{locale}` matches, and where `{locale}` was omitted.
fn summaries(rule: &Rule, default: Option<&str>) -> Vec<String> {
    let prefix = default.map_or(LocalePrefix::Always, |_| LocalePrefix::ExceptDefault);
    let mut codes = vec!["en", "de", "fr"];
    codes.sort_by_key(|code| Some(*code) != default);
    let locales = Locales::new(codes.into_iter().map(locale).collect()).unwrap();
    summaries_with(rule, &locales, prefix)
}

fn summaries_with(rule: &Rule, locales: &Locales, prefix: LocalePrefix) -> Vec<String> {
    let summary = |pattern: &Pattern| {
        let segments: Vec<String> = pattern.segments.iter().map(ToString::to_string).collect();
        let mut summary = format!("/{}", segments.join("/"));
        for locale in &pattern.locales {
            summary = summary + " " + locale.as_str();
        }
        let accepts = match &pattern.accepts {
            AcceptedLocales::All => String::new(),
            AcceptedLocales::Only(segment) => format!(", only {segment}"),
            AcceptedLocales::AllBut(segment) => format!(", not {segment}"),
        };
        let omitted =
            pattern.locale_omitted_at.map(|at| format!(", omitted at {at}")).unwrap_or_default();
        summary + &accepts + &omitted
    };
    patterns(0, rule, locales, prefix).iter().map(summary).collect()
}

#[test]
fn template_has_a_pattern_for_each_combination_of_omitted_segments() {
    for (template, default, expected) in [
        ("/a/{slug}", Some("en"), &["/a/{slug}"][..]),
        ("/{locale}/{slug}", None, &["/{locale}/{slug}"]),
        ("/{locale}/{slug}", Some("en"), &["/{locale}/{slug}, not en", "/{slug} en, omitted at 0"]),
        ("/a/{locale}", Some("en"), &["/a/{locale}, not en", "/a en, omitted at 1"]),
        ("/{a?}/x/{b?}", None, &["/{a}/x/{b}", "/{a}/x", "/x"]),
        (
            "/{locale}/{a?}",
            Some("de"),
            &[
                "/{locale}/{a}, not de",
                "/{a} de, omitted at 0",
                "/{locale}, not de",
                "/ de, omitted at 0",
            ],
        ),
    ] {
        assert_eq!(summaries(&rule(0, template), default), expected, "{template} {default:?}");
    }
}

#[test]
fn equal_templates_of_several_locales_share_a_pattern() {
    for (templates, default, expected) in [
        (&[("en", "/a/{slug}"), ("de", "/a/{slug}")][..], Some("en"), &["/a/{slug} en de"][..]),
        (&[("en", "/a"), ("de", "/b"), ("fr", "/a")], None, &["/a en fr", "/b de"]),
        (
            &[("en", "/{locale}"), ("de", "/{locale}")],
            None,
            &["/{locale} en, only en", "/{locale} de, only de"],
        ),
        (
            &[("en", "/{locale}/a"), ("de", "/{locale}/b")],
            Some("en"),
            &["/a en, omitted at 0", "/{locale}/b de, only de"],
        ),
    ] {
        assert_eq!(summaries(&per_locale(templates), default), expected, "{templates:?}");
    }
}

#[test]
fn locales_of_a_pattern_are_codes_and_those_in_a_path_are_segments() {
    let own = per_locale(&[("en", "/{locale}/a"), ("de", "/{locale}/b")]);
    for (rule, prefix, expected) in [
        (
            &own,
            LocalePrefix::Always,
            &["/{locale}/a en, only english", "/{locale}/b de, only en"][..],
        ),
        (&own, LocalePrefix::ExceptDefault, &["/a en, omitted at 0", "/{locale}/b de, only en"]),
        (
            &rule(0, "/{locale}"),
            LocalePrefix::ExceptDefault,
            &["/{locale}, not english", "/ en, omitted at 0"],
        ),
    ] {
        assert_eq!(summaries_with(rule, &translated_locales(), prefix), expected, "{prefix:?}");
    }
}

//! The forms of a rule's templates.

use super::*;
use crate::rules::fixtures::{locale, per_locale, rule};

/// Each form with what it says of the locale: those it is for, what `{locale}` takes, and where it
/// was left out.
fn forms(rule: &Rule, default: Option<&str>) -> Vec<String> {
    let default = default.map(locale);
    let told = |pattern: &Pattern| {
        let segments: Vec<String> = pattern.segments.iter().map(ToString::to_string).collect();
        let mut told = format!("/{}", segments.join("/"));
        for locale in &pattern.locales {
            told = told + " " + locale.as_str();
        }
        let accepts = match &pattern.accepts {
            AcceptedLocales::All => String::new(),
            AcceptedLocales::Only(locale) => format!(", only {locale}"),
            AcceptedLocales::AllBut(locale) => format!(", not {locale}"),
        };
        let gap =
            pattern.locale_omitted_at.map(|at| format!(", left out at {at}")).unwrap_or_default();
        told + &accepts + &gap
    };
    patterns(0, rule, default.as_ref()).iter().map(told).collect()
}

#[test]
fn a_template_has_a_form_for_each_way_to_leave_something_out() {
    for (template, default, expected) in [
        ("/a/{slug}", Some("en"), &["/a/{slug}"][..]),
        ("/{locale}/{slug}", None, &["/{locale}/{slug}"]),
        (
            "/{locale}/{slug}",
            Some("en"),
            &["/{locale}/{slug}, not en", "/{slug} en, left out at 0"],
        ),
        ("/a/{locale}", Some("en"), &["/a/{locale}, not en", "/a en, left out at 1"]),
        ("/{a?}/x/{b?}", None, &["/{a}/x/{b}", "/{a}/x", "/x"]),
        (
            "/{locale}/{a?}",
            Some("de"),
            &[
                "/{locale}/{a}, not de",
                "/{a} de, left out at 0",
                "/{locale}, not de",
                "/ de, left out at 0",
            ],
        ),
    ] {
        assert_eq!(forms(&rule(0, template), default), expected, "{template} {default:?}");
    }
}

#[test]
fn templates_of_several_locales_are_one_where_nothing_tells_them_apart() {
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
            &["/a en, left out at 0", "/{locale}/b de, only de"],
        ),
    ] {
        assert_eq!(forms(&per_locale(templates), default), expected, "{templates:?}");
    }
}

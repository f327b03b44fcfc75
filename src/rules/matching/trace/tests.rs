//! How forms look at pathnames.

use super::*;
use crate::rules::LocalePrefix;
use crate::rules::fixtures::set;

/// The form, then each segment with what stands there, and what is wrong with the last.
fn told(trace: &PatternTrace<'_>) -> String {
    let more = if trace.open_ended { "+" } else { "" };
    let mut told = format!("{} ({}{more})", trace.pattern, trace.segment_count);
    for TraceStep { expected, found, reason } in &trace.steps {
        let reason = reason.map(|reason| format!(" {}", reason.as_str())).unwrap_or_default();
        told = format!("{told}; {expected} {found}{reason}");
    }
    let mismatch = trace.mismatch.map(|m| format!(": {}", m.reason.as_str()));
    told + &mismatch.unwrap_or_default()
}

#[test]
fn each_form_tells_how_far_it_comes() {
    let rules = set(LocalePrefix::ExceptDefault, &["/{locale}/a/{*slug}", "/{x?}", "/"]);
    for (pathname, expected) in [
        (
            "/",
            [
                "/ (0)",
                "/ (0)",
                "/a/{*slug} (2+): segment_count",
                "/{x} (1): segment_count",
                "/{locale}/a/{*slug} (3+): segment_count",
            ],
        ),
        (
            "/a/b%20c/d",
            [
                "/ (0): segment_count",
                "/ (0): segment_count",
                "/a/{*slug} (2+); a a; {*slug} b c/d",
                "/{x} (1): segment_count",
                "/{locale}/a/{*slug} (3+); {locale} a unknown_locale: unknown_locale",
            ],
        ),
        (
            "/de/a/b/..",
            [
                "/ (0): segment_count",
                "/ (0): segment_count",
                "/a/{*slug} (2+); a de static_mismatch: static_mismatch",
                "/{x} (1): segment_count",
                "/{locale}/a/{*slug} (3+); {locale} de; a a; {*slug} b/.. constraint: constraint",
            ],
        ),
    ] {
        let pathname = Pathname::parse(pathname);
        assert_eq!(rules.trace(&pathname).map(|t| told(&t)).collect::<Vec<_>>(), expected);
    }
}

//! Traces: each pattern compared with a pathname.

use super::*;
use crate::LocalePrefix;
use crate::fixtures::set;

/// The pattern, then each compared segment with its text in the pathname and its mismatch.
fn summary(trace: &PatternTrace<'_>) -> String {
    let more = if trace.open_ended { "+" } else { "" };
    let mut summary = format!("{} ({}{more})", trace.pattern, trace.segment_count);
    for TraceStep { expected, found, reason } in &trace.steps {
        let reason = reason.map(|reason| format!(" {}", reason.as_str())).unwrap_or_default();
        summary = format!("{summary}; {expected} {found}{reason}");
    }
    let mismatch = trace.mismatch.map(|m| format!(": {}", m.reason.as_str()));
    summary + &mismatch.unwrap_or_default()
}

#[test]
fn trace_compares_the_segments_up_to_the_first_mismatch() {
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
        assert_eq!(rules.trace(&pathname).map(|t| summary(&t)).collect::<Vec<_>>(), expected);
    }
}

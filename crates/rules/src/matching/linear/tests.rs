//! Which pathnames a rule matches, and the mismatch of the others (D10).

use super::*;
use crate::LocalePrefix;
use crate::fixtures::set;

/// `matches`, or the reason and the segment of the mismatch.
fn outcome(prefix: LocalePrefix, template: &str, pathname: &str) -> String {
    let rules = set(prefix, &[template]);
    let pathname = Pathname::parse(pathname);
    if rules.find(&pathname).is_some() {
        return "matches".to_owned();
    }
    let Mismatch { reason, segment } = rules.candidates(&pathname).next().unwrap().mismatch;
    let segment = segment.map(|at| format!(" {at}")).unwrap_or_default();
    format!("{}{segment}", reason.as_str())
}

#[test]
fn mismatch_has_a_reason_and_a_segment() {
    for (template, pathname, expected) in [
        ("/", "/", "matches"),
        ("/", "/a", "segment_count"),
        ("/a/b", "/a/b", "matches"),
        ("/a/b", "/a", "segment_count"),
        ("/a/b", "/a/b/c", "segment_count"),
        ("/a/b", "/x/..", "static_mismatch 0"),
        ("/a/b", "/a/B", "static_mismatch 1"),
        ("/a/{slug}", "/a/..", "constraint 1"),
        ("/a/{slug}", "/a/b%2Fc", "constraint 1"),
        ("/a/{*slug}", "/a", "segment_count"),
        ("/a/{*slug}", "/a/b/c", "matches"),
        ("/a/{*slug}", "/x/b/c", "static_mismatch 0"),
        ("/a/{*slug}", "/a/../c", "constraint 1"),
        ("/a/{*slug}", "/a/b/%zz", "constraint 2"),
        ("/a/{*slug}", "/a/b/c/%2F", "constraint 3"),
        ("/{locale}/{slug}", "/de/x", "matches"),
        ("/{locale}/{slug}", "/fr/..", "unknown_locale 0"),
        ("/{locale}/{slug}", "/EN/x", "unknown_locale 0"),
        ("/{slug}", "/de", "matches"),
        ("/a-{slug}.html", "/a-b.html", "matches"),
        ("/a-{slug}.html", "/a-.html", "constraint 0"),
        ("/a-{slug}.html", "/a.html", "static_mismatch 0"),
        ("/a-{slug}.html", "/a-b.htm", "static_mismatch 0"),
        ("/aa{slug}aa", "/aaa", "static_mismatch 0"),
        ("/{slug} = a,b", "/b", "matches"),
        ("/{slug} = a,b", "/c", "constraint 0"),
        ("/x/{slug} | [a-z]+", "/x/b2", "constraint 1"),
        ("/{*slug} = a/b,c", "/a/b", "matches"),
        ("/{*slug} = a/b,c", "/a", "constraint 0"),
        ("/{on:year}/{on:month}", "/2024/12", "matches"),
        ("/{on:year}/{on:month}", "/24/12", "constraint 0"),
        ("/{on:year}/{on:month}", "/2024/13", "constraint 1"),
    ] {
        assert_eq!(
            outcome(LocalePrefix::Always, template, pathname),
            expected,
            "{template} {pathname}"
        );
    }
}

#[test]
fn locale_of_the_site_in_place_of_the_omitted_one_does_not_match() {
    for (template, pathname, expected) in [
        ("/{locale}/{slug}", "/x", "matches"),
        ("/{locale}/{slug}", "/de", "constraint 0"),
        ("/{locale}/{slug}", "/en", "constraint 0"),
        ("/{locale}/{slug}", "/de/x", "matches"),
        ("/{locale}/{slug}", "/de/en", "matches"),
        ("/{locale}/{*slug}", "/x/de", "matches"),
        ("/{locale}/{*slug}", "/en/x", "unknown_locale 0"),
        ("/{locale}/a/{slug}", "/a/de", "matches"),
        ("/{locale}/a/{slug}", "/de/a/de", "matches"),
        ("/{locale}/d{slug}", "/de", "constraint 0"),
        ("/{locale}/d{slug}", "/den", "matches"),
    ] {
        let outcome = outcome(LocalePrefix::ExceptDefault, template, pathname);
        assert_eq!(outcome, expected, "{template} {pathname}");
    }
}

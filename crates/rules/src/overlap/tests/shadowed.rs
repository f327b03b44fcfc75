//! Rules that never match, because earlier ones match all their paths.

use super::*;

#[test]
fn rules_whose_paths_earlier_rules_match_are_shadowed() {
    use LocalePrefix::{Always, ExceptDefault};
    for (prefix, templates, expected) in [
        (Always, &["/{slug}", "/{name}"][..], &["1 by t0 /{slug}"][..]),
        (Always, &["/{slug}", "/{locale}"], &["1 by t0 /{slug}"]),
        (Always, &["/{locale}", "/{slug}"], &[]),
        (Always, &["/a", "/a", "/a"], &["1 by t0 /a", "2 by t0 /a"]),
        (Always, &["/a", "/{slug} = a"], &["1 by t0 /a"]),
        (Always, &["/a", "/{slug} = a,b"], &[]),
        (Always, &["/{slug} = a,b", "/{slug} = b"], &["1 by t0 /{slug}"]),
        (Always, &["/{x}", "/{slug} = b"], &["1 by t0 /{x}"]),
        (Always, &[r"/{slug} | \d+", r"/{slug} | \d+"], &["1 by t0 /{slug}"]),
        (Always, &[r"/{slug} | \d+", r"/{slug} | \d\d"], &["1 by t0 /{slug}"]),
        (Always, &[r"/{slug} | \d\d", r"/{slug} | \d+"], &[]),
        (Always, &[r"/{slug} | \d+", "/{x}"], &[]),
        (Always, &["/{x}", r"/{slug} | \d+"], &["1 by t0 /{x}"]),
        (Always, &[r"/{slug} | \d+", "/{date:year}"], &["1 by t0 /{slug}"]),
        (Always, &[r"/{slug} | [1-9]\d*", "/{date:year}"], &[]),
        (Always, &[r"/{slug} | \d+", "/{date:day}"], &["1 by t0 /{slug}"]),
        (Always, &["/{date:year}", "/{other:year}"], &["1 by t0 /{date:year}"]),
        (Always, &["/{date:year}", "/{x}"], &[]),
        (Always, &["/{date:month}", "/{x:year}"], &[]),
        (Always, &["/a/b{date:year}", "/{slug}/b1{x:year} = a"], &[]),
        (Always, &["/a/b{x}", "/{slug}/b1{y} = a"], &["1 by t0 /a/b{x}"]),
        (Always, &["/a{date:year}", "/b{x:year}"], &[]),
        (Always, &["/{x}", "/{date:year}"], &["1 by t0 /{x}"]),
        (Always, &["/a{slug}", "/{name}"], &[]),
        (Always, &["/a{slug}", "/b{name}"], &[]),
        (Always, &["/a-{slug}", "/{name}-b"], &[]),
        (Always, &["/a-{x}", "/a-{y}"], &["1 by t0 /a-{x}"]),
        (Always, &["/{*path}", "/{*other}"], &["1 by t0 /{*path}"]),
        (Always, &[r"/{*slug} | \d+", "/{*other}"], &[]),
        (Always, &["/a/{*path}", "/{*other}"], &[]),
        (Always, &["/{slug}", "/{*path}"], &[]),
        (Always, &["/{a}/{b}", "/{c}"], &[]),
        (Always, &["/{a}/{b}", "/{c}", "/{locale}/{slug?}"], &["2 by t1 /{c}, t0 /{a}/{b}"]),
        (Always, &["/{a}/{b?}", "/{locale}/{slug?}"], &["1 by t0 /{a}/{b?}"]),
        (Always, &["/{c}", "/{locale}/{slug?}"], &[]),
        (Always, &["/{slug} = a/b", "/x"], &["0 by "]),
        (ExceptDefault, &["/{locale}/{x}", "/{slug}"], &[]),
        (ExceptDefault, &["/{locale}/{x}", "/{locale}/{y}"], &["1 by t0 /{locale}/{x}"]),
        (ExceptDefault, &["/{slug}", "/{locale}/{x}"], &[]),
        (ExceptDefault, &["/{locale}/{*x}", "/{*slug}"], &[]),
        (ExceptDefault, &["/{locale}/{*x}", "/{locale}/{*y}"], &["1 by t0 /{locale}/{*x}"]),
    ] {
        let rules = set(prefix, templates);
        let summary = |never: &ShadowedRule<'_>| {
            let place = rules.rules().iter().position(|rule| std::ptr::eq(rule, never.rule));
            let by: Vec<String> = never.hidden_by.iter().map(ToString::to_string).collect();
            format!("{} by {}", place.unwrap(), by.join(", ").replace("api::t.", ""))
        };
        let never: Vec<String> =
            rules.overlaps(TieBreak::Order).shadowed.iter().map(summary).collect();
        assert_eq!(never, expected, "{templates:?}");
    }
}

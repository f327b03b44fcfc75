//! The trie finds the first pattern, in the order of evaluation, that matches; and its cost.

use proptest::prelude::*;

use crate::fixtures::set;
use crate::matching::linear::match_pattern;
use crate::matching::pattern::Pattern;
use crate::template::Segment;
use crate::{
    Constraint, ContentTypeUid, Locale, LocalePrefix, Locales, Param, Pathname, Rule, RuleSet,
    SiteLocale, SitemapOptions, Template, Templates, TooCostly,
};

const SEGMENTS: [&str; 18] = [
    "a", "b", "ab", "en", "de", "2024", "{locale}", "{x}", "{y}", "{z}", "a{x}", "{x}b", "a{y}b",
    "{y?}", "{z?}", "{d:year}", "{d:day}", "{*rest}",
];
const PATH_SEGMENTS: [&str; 20] = [
    "a", "b", "ab", "aab", "abb", "aéb", "en", "de", "fr", "2024", "12", "99", "a%62", "..", "%2f",
    "", "c", "%C3%A9", "aa", "bb",
];

/// A template that the grammar allows: a segment that it refuses becomes `c`.
fn template() -> impl Strategy<Value = Template> {
    prop::collection::vec(prop::sample::select(&SEGMENTS[..]), 0..5).prop_map(|segments| {
        let mut text = String::new();
        for segment in segments {
            let longer = format!("{text}/{segment}");
            text = if Template::parse(&longer).is_ok() { longer } else { format!("{text}/c") };
            if text.ends_with("{*rest}/c") {
                text.truncate(text.len() - 2);
            }
        }
        if text.is_empty() {
            text.push('/');
        }
        Template::parse(&text).expect("only segments that the grammar allows")
    })
}

fn templates() -> impl Strategy<Value = Templates> {
    let locale = |code| Locale::parse(code).expect("a locale");
    prop_oneof![
        3 => template().prop_map(Templates::One),
        1 => template().prop_map(move |t| Templates::PerLocale(vec![(locale("de"), t)])),
        1 => (template(), template())
            .prop_map(move |(a, b)| Templates::PerLocale(vec![(locale("en"), a), (locale("fr"), b)])),
    ]
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let values = |values: &[&str]| Constraint::values(values.iter().map(|&v| v.to_owned()));
    let pattern = |text| Constraint::pattern(text).expect("a pattern");
    prop_oneof![
        Just(values(&["a", "b"]).expect("values")),
        Just(values(&["de", "ab", "a/b"]).expect("values")),
        Just(pattern("a+|é")),
        Just(pattern(".*b")),
    ]
}

fn rules() -> impl Strategy<Value = Vec<Rule>> {
    let params =
        prop::collection::vec((prop::sample::select(&["x", "y", "rest"][..]), constraint()), 0..2);
    let rule = (templates(), params).prop_map(|(templates, params)| {
        let content_type = ContentTypeUid::parse("api::a.a").expect("a UID");
        let (conditions, sitemap) = (Vec::new(), SitemapOptions::default());
        let mut rule = Rule {
            content_type,
            templates,
            path_field: None,
            conditions,
            sitemap,
            title: None,
            redirect: None,
        };
        for (name, constraint) in params {
            let _ = rule.set_param(name, &Param { source: None, constraint: Some(constraint) });
        }
        rule
    });
    prop::collection::vec(rule, 0..12)
}

fn locales() -> Locales {
    let locales = ["en", "de", "fr"].map(|code| Locale::parse(code).expect("a locale"));
    Locales::new(locales.to_vec()).expect("locales")
}

/// Two codes have each other's segment.
fn swapped_locales() -> Locales {
    let locale = |(code, segment)| {
        let locale = SiteLocale::from(Locale::parse(code).expect("a locale"));
        locale.with_segment(segment).expect("a segment")
    };
    let locales = [("en", "de"), ("de", "en"), ("fr", "é")].map(locale);
    Locales::new(locales.to_vec()).expect("locales")
}

/// The values of the placeholders of a pattern in a pathname that it matches.
fn params<'a>(pattern: &'a Pattern, pathname: &'a Pathname<'_>) -> Vec<(&'a str, &'a str)> {
    let segments = pattern.segments.iter().enumerate();
    let named = segments.filter_map(|(at, segment)| Some((at, segment, segment.placeholder()?)));
    let value = |at: usize, segment: &Segment| match segment {
        Segment::CatchAll(_) => pathname.text(at, pathname.count()),
        Segment::Placeholder { prefix, suffix, .. } => {
            let text = pathname.text(at, at + 1);
            &text[prefix.len()..text.len() - suffix.len()]
        }
        Segment::Static(_) | Segment::Optional(_) => pathname.text(at, at + 1),
    };
    named.map(|(at, segment, p)| (p.name.as_str(), value(at, segment))).collect()
}

#[test]
fn cost_is_that_of_the_most_expensive_pathname() {
    for (templates, cost) in [
        // A node, and a look-up of its static text.
        (&["/a"][..], 3),
        (&["/a", "/b"], 3),
        (&["/a", "/b", "/b/c"], 5),
        // A node and a check of the value; a list of values takes another look-up.
        (&["/{x}"], 3),
        (&["/{*x}"], 3),
        (&["/{slug} = a,b"], 4),
        (&["/{slug} = a", "/{slug} = b"], 7),
        (&["/{x}", "/a"], 5),
        (&["/{x}/a", "/{y}/b"], 5),
        (&["/{x}/a", "/a/b"], 9),
        // One look-up for texts of the same lengths.
        (&["/a{x}"], 4),
        (&["/a{x}", "/b{y}"], 4),
        (&["/a{x}", "/b{slug} = c"], 5),
        (&["/a{x}", "/bb{y}"], 7),
        (&["/a{x}", "/{y}b"], 7),
        // Each byte of a value, and each line of a table that comes from main memory.
        (&["/{slug} | [a-z]"], 4),
        (&["/a/{slug} | [a-z]", "/b/{slug} | [a-z]"], 6),
        (&["/{x}/{slug} | [a-z]", "/{slug}/{x} | [a-z]"], 10),
        (&[r"/{slug} | \w{3,60}"], 254),
        (&[r"/{slug} | \w+"], 2_153),
    ] {
        assert_eq!(set(LocalePrefix::Always, templates).trie.cost(), cost, "{templates:?}");
    }
    let ascii = set(LocalePrefix::Always, &["/{slug} | [a-z]+"]).trie.cost();
    assert!((29..100).contains(&ascii), "{ascii}");
}

#[test]
fn check_cost_refuses_rules_above_the_limit() {
    let templates = [r"/{slug} | \w+", r"/{slug} | \w+-", r"/{slug} | -\w+"];
    for (count, cost) in [(2, Ok(())), (3, Err(TooCostly { cost: 6_457 }))] {
        assert_eq!(set(LocalePrefix::Always, &templates[..count]).check_cost(), cost);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2_000, ..ProptestConfig::default() })]
    #[test]
    fn find_agrees_with_the_first_pattern_that_matches(
        rules in rules(),
        prefix in prop::sample::select(&[LocalePrefix::Always, LocalePrefix::ExceptDefault][..]),
        locales in prop::sample::select(vec![locales(), swapped_locales()]),
        paths in prop::collection::vec(
            prop::collection::vec(prop::sample::select(&PATH_SEGMENTS[..]), 0..6), 1..16),
    ) {
        let set = RuleSet::new(locales, prefix, rules);
        for path in paths {
            let path = format!("/{}", path.join("/"));
            let pathname = Pathname::parse(&path);
            let matches = |p: &_| match_pattern(p, &pathname, set.locales()).is_ok();
            let expected = set.patterns.iter().position(matches);
            let found = set.trie.find(&pathname, set.locales());
            prop_assert_eq!(found, expected, "{}", path);
            if let Some(found) = set.find(&pathname) {
                let pattern = &set.patterns[expected.expect("the trie found one")];
                let mut params = params(pattern, &pathname);
                let in_path = params.iter_mut().find(|(name, _)| *name == "locale");
                let in_path = in_path.map(|(_, value)| {
                    let locale = set.locales().of_segment(value).expect("a locale of the site");
                    *value = locale.as_str();
                    locale.code()
                });
                prop_assert!(found.params.iter().eq(params.iter().copied()), "{}", path);
                let one = pattern.locales.first().filter(|_| pattern.locales.len() == 1);
                prop_assert_eq!(found.locale.map(SiteLocale::code), in_path.or(one));
                let shared = if pattern.locales.len() > 1 { &pattern.locales[..] } else { &[] };
                prop_assert_eq!(found.shared, shared);
            }
        }
    }
}

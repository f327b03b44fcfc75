//! Overlaps: pairs with their examples and reasons, and the property of all overlaps of a rule set.

mod bounds;
mod shadowed;

use proptest::prelude::*;

use super::*;
use crate::fixtures::{locales, per_locale, rule, set, translated_locales};
use crate::{LocalePrefix, Pathname, RuleSet};

/// The winner's and the loser's place in the settings, the example and the reason.
fn pairs(rules: &RuleSet) -> Vec<(usize, usize, String, String)> {
    let place = |side: &RuleTemplate<'_>| {
        rules.rules().iter().position(|rule| std::ptr::eq(rule, side.rule)).unwrap()
    };
    let pairs = rules.overlaps(TieBreak::Order).pairs;
    let summary = |c: &Overlap<'_>| {
        let third = c.taken_by.as_ref().map(|side| format!("; taken by {}", place(side)));
        let why = c.why.to_string() + &third.unwrap_or_default();
        (place(&c.winner), place(&c.loser), c.example.clone(), why)
    };
    pairs.iter().map(summary).collect()
}

#[test]
fn overlapping_pair_has_an_example_and_a_reason() {
    use LocalePrefix::{Always, ExceptDefault};
    let settings = "same shape: order of the settings";
    let static_1 = "static text before a placeholder in segment 1";
    let static_2 = "static text before a placeholder in segment 2";
    let more = "more static text in segment 1";
    let catch_all_2 = "a placeholder before a catch-all in segment 2";
    let catch_all = "a placeholder before a catch-all in segment 1";
    for (prefix, templates, expected) in [
        (Always, ["/{slug}", "/about"], Some((1, 0, "/about", static_1))),
        (Always, ["/{locale}/{slug}", "/{slug}/b"], Some((1, 0, "/en/b", static_2))),
        (Always, ["/{locale}/{slug}", "/{slug}"], None),
        (Always, ["/{slug}", "/{*path}"], Some((0, 1, "/x", catch_all))),
        (Always, ["/a/{*path}", "/{x}/b/{y}"], Some((0, 1, "/a/b/x", static_1))),
        (Always, ["/a/{*path}", "/{*path}"], Some((0, 1, "/a/x", static_1))),
        (Always, ["/{slug}", "/{name}"], Some((0, 1, "/x", settings))),
        (Always, ["/{slug}", "/{locale}"], Some((0, 1, "/en", settings))),
        (Always, ["/{slug}.html", "/{slug}"], Some((0, 1, "/x.html", more))),
        (Always, ["/a-{slug}", "/{slug}-b"], Some((0, 1, "/a-x-b", settings))),
        (Always, ["/a-{slug}", "/b-{slug}"], None),
        (Always, ["/a-b-{slug}", "/a-{slug}"], Some((0, 1, "/a-b-x", more))),
        (Always, ["/a/b", "/a/c"], None),
        (Always, ["/{slug} = news,press", "/press"], Some((1, 0, "/press", static_1))),
        (Always, ["/{slug} = news,press", "/{slug} = press"], Some((0, 1, "/press", settings))),
        (Always, ["/{slug} = news", "/{slug} = press"], None),
        (Always, [r"/{slug} | \d{4}", "/{name}"], Some((0, 1, "/2222", settings))),
        (Always, [r"/{slug} | \d{4}", "/{slug} | [a-z]+"], None),
        (Always, [r"/{slug} | \d{4}", "/{date:year}"], Some((0, 1, "/2222", settings))),
        (Always, ["/{date:month}", "/{slug}"], Some((0, 1, "/01", settings))),
        (Always, ["/{date:month}", "/{slug} = 13"], None),
        (Always, ["/a/{*slug} = b/c,d", "/a/{x}/c"], Some((1, 0, "/a/b/c", catch_all_2))),
        (Always, ["/{locale}/{a?}/{slug}", "/en/x"], Some((1, 0, "/en/x", static_1))),
        (Always, ["/", "/{slug}"], None),
        (ExceptDefault, ["/{locale}/{slug}", "/{slug}"], Some((0, 1, "/x", settings))),
        (ExceptDefault, ["/{locale}/{slug}", "/de/{slug}"], Some((1, 0, "/de/x", static_1))),
        (ExceptDefault, ["/{locale}/{slug}", "/de"], None),
        (ExceptDefault, ["/{locale}/{slug}", "/en/{slug}"], None),
        (Always, ["/docs/a", "/docs/{*slug} | [a-z/-]+"], Some((0, 1, "/docs/a", static_2))),
        (Always, ["/{locale}/{a}", "/{*slug} | [a-z/-]+"], Some((0, 1, "/en/x", catch_all))),
        (Always, ["/{a}/{slug} = 1,2,k", "/{*slug} | [a-z/-]+"], Some((0, 1, "/x/k", catch_all))),
        (Always, ["/{a}/{slug} = 1,2", "/{*slug} | [a-z/-]+"], None),
        (
            Always,
            ["/{slug}/{*f} = 1,k", "/{*slug} | [a-z]+(/[a-z]+)?"],
            Some((0, 1, "/k/x", catch_all)),
        ),
        (Always, ["/{*slug} | [ab]+/c", "/{*slug} | a/[c-f]"], Some((0, 1, "/a/c", settings))),
        (
            Always,
            ["/{*slug} | [a-m]/[a-m]", "/{*slug} | [k-z]/[k-z]"],
            Some((0, 1, "/k/k", settings)),
        ),
        (
            Always,
            ["/{slug}/a-{x} | [a-m]+", "/{slug}/{x}-b | [k-z]+"],
            Some((0, 1, "/k/a-x-b", settings)),
        ),
        (Always, ["/{slug} | [a-m]+", "/{slug} | [k-z]+"], Some((0, 1, "/k", settings))),
        (Always, ["/{slug} | [a-m]+", "/{*slug} | [k-z]+"], Some((0, 1, "/k", catch_all))),
        (Always, ["/p-{slug} | [a-m]+", "/p-{slug} | [k-z]+"], Some((0, 1, "/p-k", settings))),
        (Always, ["/{slug} | [A-Z]{2}", "/{slug} | [A-Za-z]{2,}"], Some((0, 1, "/XX", settings))),
        (Always, ["/x/{a}", "/x/x"], Some((1, 0, "/x/x", static_2))),
        (Always, ["/é b/{slug}", "/{slug}/x"], Some((0, 1, "/%C3%A9%20b/x", static_1))),
    ] {
        let expected = expected.map(|(w, l, path, why)| (w, l, path.to_owned(), why.to_owned()));
        let expected: Vec<_> = expected.into_iter().collect();
        let rules = set(prefix, &templates);
        assert_eq!(pairs(&rules), expected, "{templates:?}");
    }
}

#[test]
fn overlaps_of_a_locale_are_those_of_its_segment() {
    use LocalePrefix::{Always, ExceptDefault};
    for (prefix, templates, expected) in [
        (Always, ["/{locale}/{slug}", "/english/x"], Some("/english/x")),
        (Always, ["/{locale}/{slug}", "/de/x"], None),
        (Always, ["/{locale}", "/{slug} | [a-z]{3,}"], Some("/english")),
        (ExceptDefault, ["/{locale}/{slug}", "/de"], Some("/de")),
        (ExceptDefault, ["/{locale}/{slug}", "/english"], None),
        (ExceptDefault, ["/{locale}/{slug}", "/{slug} | english|en|de"], Some("/de")),
    ] {
        let rules = templates.iter().enumerate().map(|(at, text)| rule(at, text)).collect();
        let rules = RuleSet::new(translated_locales(), prefix, rules);
        let found = pairs(&rules);
        let examples: Vec<&str> = found.iter().map(|(_, _, example, _)| &**example).collect();
        assert_eq!(examples, expected.into_iter().collect::<Vec<_>>(), "{templates:?}");
    }
}

#[test]
fn overlapping_templates_of_one_rule_are_reported() {
    use LocalePrefix::{Always, ExceptDefault};
    for (prefix, en, de, expected) in [
        (Always, "/{locale}/{slug}", "/{section}/{slug}", Some("/en/x en over de")),
        (Always, "/news/{slug}", "/{section}/{slug}", Some("/news/x en over de")),
        (Always, "/{section}/{slug}", "/news/{slug}", Some("/news/x de over en")),
        (Always, "/about/{slug}", "/about/{slug}", None),
        (Always, "/about/{slug}", "/about/{title}", Some("/about/x en over de")),
        (Always, "/{locale}/{slug}", "/{locale}/{slug}", None),
        (Always, "/{locale}/{a?}/{slug}", "/{locale}/{slug}", None),
        (ExceptDefault, "/{locale}/{slug}", "/{locale}/{slug}", None),
        (ExceptDefault, "/{locale}/{a}/{b}/{c}", "/x/{locale}/{b}", Some("/x/de/x de over en")),
    ] {
        let rule = per_locale(&[("en", en), ("de", de)]);
        let rules = RuleSet::new(locales(), prefix, vec![rule]);
        let name = |side: &RuleTemplate<'_>| if side.template.as_str() == en { "en" } else { "de" };
        let pairs = rules.overlaps(TieBreak::Order).pairs;
        let summaries = pairs
            .iter()
            .map(|c| format!("{} {} over {}", c.example, name(&c.winner), name(&c.loser)));
        assert!(pairs.iter().all(|c| c.taken_by.is_none()), "{en} {de}");
        assert_eq!(
            summaries.collect::<Vec<_>>().first().map(String::as_str),
            expected,
            "{en} {de}"
        );
    }
}

#[test]
fn example_avoids_a_third_rule_or_names_it() {
    let rules = set(LocalePrefix::Always, &["/x", "/{slug}", "/{name}"]);
    let settings = "same shape: order of the settings".to_owned();
    assert!(pairs(&rules).contains(&(1, 2, "/x-1".to_owned(), settings.clone())));
    let templates = ["/x/{a}/{b}", "/{slug}/{c}/{d}", "/{e}/{f}/{g}"];
    let rules = set(LocalePrefix::Always, &templates);
    assert!(pairs(&rules).contains(&(1, 2, "/x-1/x/x".to_owned(), settings)));
    let rules = set(LocalePrefix::Always, &["/x", "/{slug} = x", "/{name}"]);
    let taken = "same shape: order of the settings; taken by 0".to_owned();
    assert!(pairs(&rules).contains(&(1, 2, "/x".to_owned(), taken)));
}

#[test]
fn equal_shape_overlaps_are_pairs_of_two_types() {
    let templates = ["/a/{slug}", "/{slug}", "/about", "/{name}", "/{a}-b", "/a-{b}"];
    let rules = set(LocalePrefix::Always, &templates);
    let equal = rules.equal_shape_overlaps();
    let summaries: Vec<String> =
        equal.pairs.iter().map(|c| c.winner.to_string() + " " + &c.example).collect();
    assert_eq!(summaries, ["api::t.t4 /{a}-b /a-x-b", "api::t.t1 /{slug} /x"]);
    assert_eq!((equal.shadowed.len(), equal.incomplete), (0, None));
    let of_one_type = ["/{slug}", "/{name}"].map(|text| rule(0, text)).to_vec();
    let rules = RuleSet::new(locales(), LocalePrefix::Always, of_one_type);
    assert_eq!(
        (rules.equal_shape_overlaps().pairs.len(), rules.overlaps(TieBreak::Order).pairs.len()),
        (0, 1)
    );
}

fn template() -> impl Strategy<Value = String> {
    let segments = ["a", "x", "en", "{@}", "{@}", "{locale}", "a{@}", "{@}.html", "{@?}"];
    let segments = prop::collection::vec(prop::sample::select(segments.to_vec()), 1..4);
    let tails = ["", "", "/{*tail}", " = a,x,2024", r" | \d{4}", " | [a-x]+(-1)?"];
    (segments, prop::sample::select(tails.to_vec())).prop_map(|(segments, tail)| {
        let mut has_locale = false;
        let segments = segments.iter().enumerate().map(|(at, segment)| {
            let twice = *segment == "{locale}" && std::mem::replace(&mut has_locale, true);
            let segment = if twice || (segment.ends_with("?}") && tail.starts_with('/')) {
                "{@}"
            } else {
                segment
            };
            let named = if at == 0 { "slug".to_owned() } else { format!("f{at}") };
            format!("/{}", segment.replace('@', &named))
        });
        let text: String = segments.collect();
        if tail.starts_with(' ') && !text.contains("slug") { text } else { text + tail }
    })
}

proptest! {
    #[test]
    fn overlaps_are_proven_and_complete_and_shadowed_rules_never_match(
        templates in prop::collection::vec(template(), 1..6), bare in any::<bool>(),
    ) {
        let prefix = if bare { LocalePrefix::ExceptDefault } else { LocalePrefix::Always };
        let rules = set(prefix, &templates.iter().map(String::as_str).collect::<Vec<_>>());
        let overlaps = rules.overlaps(TieBreak::Order);
        for pair in &overlaps.pairs {
            let path = Pathname::parse(&pair.example);
            prop_assert_eq!(path.normalized(), pair.example.clone());
            for side in [pair.winner, pair.loser] {
                let matches = rules.trace(&path).any(|t| {
                    std::ptr::eq(t.rule, side.rule) && t.mismatch.is_none()
                });
                prop_assert!(matches, "{side} does not match {}", pair.example);
            }
            let wanted = pair.taken_by.unwrap_or(pair.winner);
            let found = rules.find(&path).map(|found| std::ptr::from_ref(found.rule));
            prop_assert_eq!(found, Some(std::ptr::from_ref(wanted.rule)));
        }
        prop_assert_eq!(overlaps.incomplete, None);
        let texts = ["a", "x", "en", "de", "2024", "ax", "x.html", "x-1", "1", "a.html"];
        let one = texts.iter().map(|text| format!("/{text}"));
        let two = texts.iter().flat_map(|a| texts.iter().map(move |b| format!("/{a}/{b}")));
        let three = ["a", "x", "en", "2024"];
        let three = three.iter().flat_map(|a| three.iter().map(move |b| (a, b)))
            .flat_map(|(a, b)| texts.iter().map(move |c| format!("/{a}/{b}/{c}")));
        for path in one.chain(two).chain(three) {
            let pathname = Pathname::parse(&path);
            let Some(found) = rules.find(&pathname) else { continue };
            for shadowed in &overlaps.shadowed {
                let hit = std::ptr::eq(found.rule, shadowed.rule);
                prop_assert!(!hit, "{} is matched at {path}", shadowed.rule.first_template());
            }
            let matching = rules.trace(&pathname).filter(|trace| trace.mismatch.is_none());
            for other in matching.filter(|trace| !std::ptr::eq(trace.rule, found.rule)) {
                let reported = overlaps.pairs.iter().any(|pair| {
                    std::ptr::eq(pair.winner.rule, found.rule)
                        && std::ptr::eq(pair.loser.rule, other.rule)
                });
                prop_assert!(reported, "{} over {} at {path}", found.template, other.template);
            }
        }
    }
}

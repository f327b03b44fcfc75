//! Matches of equal precedence, among which only the order of the settings decides (D8).

use super::{Match, RuleSet};
use crate::locale::Locales;
use crate::matching::linear::match_pattern;
use crate::matching::pattern::Pattern;
use crate::matching::specificity::same_shape;
use crate::matching::trie::Trie;
use crate::pathname::Pathname;
use crate::rule::Rule;

/// Some rules of a rule set, compiled by themselves.
#[derive(Clone, Debug)]
pub struct RuleSubset {
    /// The position in the rule set of each pattern.
    positions: Box<[usize]>,
    trie: Trie,
}

impl RuleSubset {
    /// The position in the rule set of the first pattern that matches.
    pub(super) fn first(&self, pathname: &Pathname<'_>, locales: &Locales) -> Option<usize> {
        Some(self.positions[self.trie.find(pathname, locales)?])
    }

    /// Whether the pattern at a position of the rule set is one of them.
    pub(super) fn has(&self, position: usize) -> bool {
        self.positions.binary_search(&position).is_ok()
    }
}

impl RuleSet {
    /// The match of this rule, if one of its patterns matches with the precedence of the first
    /// pattern that matches. Templates of the host come before those of other hosts' locales.
    ///
    /// The cost does not depend on how many other rules have the same shape.
    pub fn tie_on<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        rule: usize,
        host: Option<usize>,
    ) -> Option<Match<'a>> {
        self.ties_of_rule(pathname, rule, host)?.next()
    }

    /// As [`RuleSet::tie_on`], for the path of a version: the positions of its rule and of its locale.
    /// The match has this locale; a rule may have a template for each.
    pub fn tie_of_version<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        rule: usize,
        locale: usize,
        host: Option<usize>,
    ) -> Option<Match<'a>> {
        let mut ties = self.ties_of_rule(pathname, rule, host)?;
        ties.find_map(|found| self.for_version(found, locale))
    }

    fn ties_of_rule<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        rule: usize,
        host: Option<usize>,
    ) -> Option<impl Iterator<Item = Match<'a>>> {
        let first = self.first_position_on(pathname, host)?;
        let shape = &self.patterns[first].segments;
        // Patterns of one shape are neighbours, in the order of the settings.
        let rest = &self.patterns[first..];
        let rest = &rest[..rest.partition_point(|p| same_shape(shape, &p.segments))];
        let start = rest.partition_point(|pattern| pattern.rule < rule);
        let own = rest[start..].iter().take_while(move |pattern| pattern.rule == rule);
        let own = own.zip(first + start..).filter(move |(_, at)| self.counts_on(*at, first, host));
        Some(self.matching(own, pathname))
    }

    /// All matches with the precedence of the first pattern that matches, in the order of the
    /// settings: one for each pattern, of which a rule may have several.
    pub fn ties<'a>(&'a self, pathname: &'a Pathname<'_>, host: Option<usize>) -> Vec<Match<'a>> {
        let Some(first) = self.first_position_on(pathname, host) else { return Vec::new() };
        let shape = &self.patterns[first].segments;
        let rest = self.patterns[first..].iter().zip(first..);
        let tied = rest.take_while(|(pattern, _)| same_shape(shape, &pattern.segments));
        let tied = tied.filter(|(_, at)| self.counts_on(*at, first, host));
        self.matching(tied, pathname).collect()
    }

    /// Whether the pattern at a position counts on a host. `first` is the position of the first match:
    /// if that one is not for the host, no pattern of the host matches, and those of all hosts count.
    fn counts_on(&self, at: usize, first: usize, host: Option<usize>) -> bool {
        self.patterns_on(host).is_none_or(|own| own.has(at) || !own.has(first))
    }

    /// All matches of a content type's rules, in the order of evaluation.
    pub fn matches_of_type<'a>(&'a self, pathname: &'a Pathname<'_>, uid: &str) -> Vec<Match<'a>> {
        let is_of_type =
            |pattern: &Pattern| *self.rules[pattern.rule].content_type.as_str() == *uid;
        let own = self.patterns.iter().zip(0..).filter(|(pattern, _)| is_of_type(pattern));
        self.matching(own, pathname).collect()
    }

    /// All matches, in the order of evaluation.
    pub fn matches<'a>(&'a self, pathname: &'a Pathname<'_>) -> Vec<Match<'a>> {
        self.matching(self.patterns.iter().zip(0..), pathname).collect()
    }

    fn matching<'a>(
        &'a self,
        patterns: impl Iterator<Item = (&'a Pattern, usize)>,
        pathname: &'a Pathname<'_>,
    ) -> impl Iterator<Item = Match<'a>> {
        let matches =
            move |pattern: &Pattern| match_pattern(pattern, pathname, &self.locales).is_ok();
        let matching = patterns.filter(move |(pattern, _)| matches(pattern));
        matching.map(move |(_, position)| self.matched(position, pathname))
    }

    /// The rules for which `has` is true.
    pub fn subset(&self, has: impl Fn(&Rule) -> bool) -> RuleSubset {
        self.subset_of_patterns(|pattern| has(&self.rules[pattern.rule]))
    }

    /// The patterns for which `has` is true.
    pub(super) fn subset_of_patterns(&self, has: impl Fn(&Pattern) -> bool) -> RuleSubset {
        let has_pattern = |(_, pattern): &(usize, &Pattern)| has(pattern);
        let patterns = self.patterns.iter().enumerate().filter(has_pattern);
        let (positions, patterns): (Vec<usize>, Vec<Pattern>) =
            patterns.map(|(at, pattern)| (at, pattern.clone())).unzip();
        RuleSubset { positions: positions.into(), trie: Trie::new(&patterns) }
    }

    /// The position in the settings of the first rule of a subset that matches with the precedence
    /// of the first pattern that matches.
    ///
    /// The cost does not depend on how many rules the subset has.
    pub fn first_tie_in(
        &self,
        subset: &RuleSubset,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<usize> {
        let first_at = self.first_position_on(pathname, host)?;
        let first = &self.patterns[first_at];
        if self.patterns_on(host).is_some() {
            // The first match of the subset may be for another host.
            let start = subset.positions.partition_point(|at| *at < first_at);
            let own = subset.positions[start..].iter().map(|at| (&self.patterns[*at], *at));
            let own = own.take_while(|(own, _)| same_shape(&first.segments, &own.segments));
            let own = own.filter(|(_, at)| self.counts_on(*at, first_at, host));
            let is_match = |own: &Pattern| match_pattern(own, pathname, &self.locales).is_ok();
            return { own }.find(|(own, _)| is_match(own)).map(|(own, _)| own.rule);
        }
        let own = &self.patterns[subset.first(pathname, &self.locales)?];
        same_shape(&first.segments, &own.segments).then_some(own.rule)
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{locales, per_locale, rule};
    use crate::{ContentTypeUid, Locale, LocalePrefix, Locales, Pathname, Rule, RuleSet, Template};

    #[test]
    fn tie_exists_for_each_matching_rule_of_the_most_specific_shape() {
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let templates = ["/{*path}", "/a/{slug}", "/b/{x}", "/a/{title}", "/{locale}/{slug}"];
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let rule = |text: &&str| Rule::new(uid.clone(), Template::parse(text).unwrap());
        let rules = templates.iter().map(rule).collect();
        let rules = RuleSet::new(locales, LocalePrefix::Always, rules);
        let expected: [(&str, &[usize]); 5] =
            [("/a/x", &[1, 3]), ("/b/x", &[2]), ("/en/x", &[4]), ("/c", &[0]), ("/..", &[])];
        for (pathname, expected) in expected {
            let pathname = Pathname::parse(pathname);
            for (rule, template) in templates.iter().enumerate() {
                let tie = rules.tie_on(&pathname, rule, None);
                let template = expected.contains(&rule).then_some(*template);
                assert_eq!(tie.map(|tie| tie.template.as_str()), template);
            }
        }
    }

    #[test]
    fn ties_are_all_matches_of_one_shape_and_matches_of_a_type_those_of_any_shape() {
        let all =
            [rule(1, "/a/{slug}"), rule(2, "/{x?}/{y?}"), rule(1, "/{*path}"), rule(2, "/{y}")];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, all.into());
        let uid = rules.rules()[1].content_type.clone();
        let texts = |matches: Vec<super::Match<'_>>| -> Vec<String> {
            matches.iter().map(|found| format!("{} {:?}", found.template, found.params)).collect()
        };
        let expected: [(&str, &[&str], &[&str]); 3] = [
            (
                "/b",
                &["/{x?}/{y?} {\"x\": \"b\"}", "/{y} {\"y\": \"b\"}"],
                &["/{x?}/{y?} {\"x\": \"b\"}", "/{y} {\"y\": \"b\"}"],
            ),
            (
                "/a/b",
                &["/a/{slug} {\"slug\": \"b\"}"],
                &["/{x?}/{y?} {\"x\": \"a\", \"y\": \"b\"}"],
            ),
            ("/..", &[], &[]),
        ];
        for (pathname, ties, of_type) in expected {
            let pathname = Pathname::parse(pathname);
            assert_eq!(texts(rules.ties(&pathname, None)), ties);
            assert_eq!(texts(rules.matches_of_type(&pathname, uid.as_str())), of_type);
        }
    }

    #[test]
    fn first_tie_in_a_subset_is_its_first_rule_of_the_most_specific_shape() {
        let locales = Locales::new(vec![Locale::parse("en").unwrap()]).unwrap();
        let templates = ["/{*path}", "/a/{slug}", "/b/{x}", "/a/{title}", "/{locale}/{slug}"];
        let uid = ContentTypeUid::parse("api::a.a").unwrap();
        let rule = |text: &&str| Rule::new(uid.clone(), Template::parse(text).unwrap());
        let rules: Vec<Rule> = templates.iter().map(rule).collect();
        let rules = RuleSet::new(locales, LocalePrefix::Always, rules);
        for chosen in 0..1 << templates.len() {
            let is_chosen = |at: usize| chosen & 1 << at != 0;
            let has =
                |rule: &Rule| is_chosen(rules.rules().iter().position(|r| r == rule).unwrap());
            let subset = rules.subset(has);
            for pathname in ["/a/x", "/b/x", "/en/x", "/c", "/..", "/"] {
                let pathname = Pathname::parse(pathname);
                let tied =
                    |at: &usize| is_chosen(*at) && rules.tie_on(&pathname, *at, None).is_some();
                let expected = (0..templates.len()).find(tied);
                assert_eq!(rules.first_tie_in(&subset, &pathname, None), expected, "{chosen:b}");
            }
        }
    }

    #[test]
    fn tie_of_a_rule_has_its_matching_template() {
        let own = per_locale(&[("en", "/news/{slug}"), ("de", "/neues/{slug}")]);
        let rules = vec![rule(1, "/neues/{title}"), own];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, rules);
        let pathname = Pathname::parse("/neues/x");
        let ties =
            [0, 1].map(|rule| rules.tie_on(&pathname, rule, None).unwrap().template.to_string());
        assert_eq!(ties, ["/neues/{title}", "/neues/{slug}"]);
    }
}

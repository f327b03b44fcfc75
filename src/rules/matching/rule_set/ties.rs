//! Matches of equal precedence, among which only the order of the settings decides (D8).

use super::{Match, RuleSet};
use crate::rules::matching::linear::match_pattern;
use crate::rules::matching::precedence::same_shape;
use crate::rules::pathname::Pathname;

impl RuleSet {
    /// The match of this rule, if one of its patterns matches with the precedence of the first
    /// pattern that matches.
    ///
    /// The cost does not depend on how many other rules have the same shape.
    #[must_use]
    pub fn tie<'a>(&'a self, pathname: &'a Pathname<'_>, rule: usize) -> Option<Match<'a>> {
        let first = self.first_position(pathname)?;
        let shape = &self.patterns[first].segments;
        // Patterns of one shape are neighbours, in the order of the settings.
        let rest = &self.patterns[first..];
        let rest = &rest[..rest.partition_point(|p| same_shape(shape, &p.segments))];
        let start = rest.partition_point(|pattern| pattern.rule < rule);
        let own = rest[start..].iter().take_while(|pattern| pattern.rule == rule);
        let matching = |pattern| match_pattern(pattern, pathname, &self.locales).is_ok();
        let at = own.map(matching).position(|matches| matches)?;
        Some(self.matched(first + start + at, pathname))
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::fixtures::{locales, per_locale, rule};
    use crate::rules::{
        ContentTypeUid, Locale, LocalePrefix, Locales, Pathname, Rule, RuleSet, Template,
    };

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
                let tie = rules.tie(&pathname, rule);
                let template = expected.contains(&rule).then_some(*template);
                assert_eq!(tie.map(|tie| tie.template.as_str()), template);
            }
        }
    }

    #[test]
    fn tie_of_a_rule_has_its_matching_template() {
        let own = per_locale(&[("en", "/news/{slug}"), ("de", "/neues/{slug}")]);
        let rules = vec![rule(1, "/neues/{title}"), own];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, rules);
        let pathname = Pathname::parse("/neues/x");
        let ties = [0, 1].map(|rule| rules.tie(&pathname, rule).unwrap().template.to_string());
        assert_eq!(ties, ["/neues/{title}", "/neues/{slug}"]);
    }
}

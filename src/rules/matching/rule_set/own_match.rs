//! The match of the rule that built a path: the values that the path was built from.

use super::{Match, RuleSet};
use crate::rules::locale::Locale;
use crate::rules::matching::linear::match_pattern;
use crate::rules::matching::pattern::Pattern;
use crate::rules::pathname::Pathname;

/// The positions of each rule's patterns, for many look-ups by rule.
#[derive(Clone, Debug)]
pub struct PatternsByRule {
    /// Rule and position, in order: the patterns of a rule stay in the order of evaluation.
    positions: Box<[(u32, u32)]>,
}

impl RuleSet {
    /// The patterns of all rules.
    ///
    /// # Panics
    /// If there are four billion rules or patterns.
    #[must_use]
    pub fn patterns_by_rule(&self) -> PatternsByRule {
        let rule = |pattern: &Pattern| u32::try_from(pattern.rule).expect("fewer rules");
        let mut positions: Vec<(u32, u32)> = self.patterns.iter().map(rule).zip(0..).collect();
        positions.sort_unstable();
        PatternsByRule { positions: positions.into() }
    }

    /// The match of one rule for a path in this locale, whichever rule matches the path first.
    #[must_use]
    pub fn own_match<'a>(
        &'a self,
        patterns: &PatternsByRule,
        pathname: &'a Pathname<'_>,
        rule: usize,
        locale: &Locale,
    ) -> Option<Match<'a>> {
        let is_before = |(own, _): &(u32, u32)| (*own as usize) < rule;
        let rest = &patterns.positions[patterns.positions.partition_point(is_before)..];
        let own = rest.iter().take_while(|(own, _)| *own as usize == rule);
        let matches = |position: usize| {
            let pattern = &self.patterns[position];
            let is_for_locale = pattern.locales.is_empty() || pattern.locales.contains(locale);
            let is_match = is_for_locale && match_pattern(pattern, pathname, &self.locales).is_ok();
            let found = is_match.then(|| self.matched(position, pathname))?;
            let found = self.on_host(found, |at| self.locales.codes()[at] == *locale);
            found.locale.is_none_or(|found| found.code() == locale).then_some(found)
        };
        { own }.find_map(|(_, position)| matches(*position as usize))
    }
}

#[cfg(test)]
mod tests {
    use crate::rules::fixtures::{locales, per_locale, rule};
    use crate::rules::{Locale, LocalePrefix, Pathname, RuleSet};

    #[test]
    fn own_match_is_that_of_the_rule_and_the_locale_that_built_the_path() {
        let own = per_locale(&[("en", "/news/{slug}"), ("de", "/{name}/x")]);
        let rules =
            vec![rule(1, "/{*path}"), own, rule(2, "/{locale}/{slug}"), rule(3, "/{a}/{b?}/{c?}")];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, rules);
        let patterns = rules.patterns_by_rule();
        for (path, rule, locale, expected) in [
            ("/news/x", 0, "en", Some("path=news/x")),
            ("/news/x", 1, "en", Some("slug=x")),
            ("/news/x", 1, "de", Some("name=news")),
            ("/de/x", 1, "en", None),
            ("/de/x", 2, "de", Some("locale=de slug=x")),
            ("/de/x", 2, "en", None),
            ("/de/x", 3, "en", Some("a=de b=x")),
            ("/a", 3, "de", Some("a=a")),
            ("/a/b/c", 3, "de", Some("a=a b=b c=c")),
            ("/a%2Db/%C3%A9", 3, "de", Some("a=a-b b=é")),
            ("/a/b/c/d", 3, "de", None),
            ("/a", 9, "de", None),
        ] {
            let pathname = Pathname::parse(path);
            let locale = Locale::parse(locale).unwrap();
            let found = rules.own_match(&patterns, &pathname, rule, &locale);
            let params = found.map(|found| {
                let pairs = found.params.iter().map(|(name, value)| format!("{name}={value}"));
                pairs.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(params.as_deref(), expected, "{path} {rule} {locale}");
        }
    }
}

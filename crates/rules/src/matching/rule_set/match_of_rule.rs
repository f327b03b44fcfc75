//! The match of the rule that built a path: the values that the path was built from.

use super::{Match, RuleSet};
use crate::matching::linear::match_pattern;
use crate::matching::pattern::Pattern;
use crate::pathname::Pathname;

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
    pub fn patterns_by_rule(&self) -> PatternsByRule {
        let rule = |pattern: &Pattern| u32::try_from(pattern.rule).expect("fewer rules");
        let mut positions: Vec<(u32, u32)> = self.patterns.iter().map(rule).zip(0..).collect();
        positions.sort_unstable();
        PatternsByRule { positions: positions.into() }
    }

    /// The match of one rule for the path of a version in the locale at a position, whichever rule
    /// matches the path first.
    pub fn match_of_rule<'a>(
        &'a self,
        patterns: &PatternsByRule,
        pathname: &'a Pathname<'_>,
        rule: usize,
        locale: usize,
    ) -> Option<Match<'a>> {
        let is_before = |(own, _): &(u32, u32)| (*own as usize) < rule;
        let rest = &patterns.positions[patterns.positions.partition_point(is_before)..];
        let own = rest.iter().take_while(|(own, _)| *own as usize == rule);
        self.match_of_version(own.map(|(_, at)| *at as usize), pathname, locale)
    }

    /// As [`RuleSet::match_of_rule`], by a search through all patterns, for a look-up that is rare.
    pub fn search_match_of_rule<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        rule: usize,
        locale: usize,
    ) -> Option<Match<'a>> {
        let of_rule = |at: &usize| self.patterns[*at].rule == rule;
        self.match_of_version((0..self.patterns.len()).filter(of_rule), pathname, locale)
    }

    /// The match for a version whose URL a rule of the content type of the first match has built: the
    /// first match, or if that is for other locales, the match of the rule.
    pub fn first_for_version<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        first: Match<'a>,
        rule: usize,
        locale: usize,
    ) -> Match<'a> {
        let found = self.for_version(first.clone(), locale);
        let found = found.or_else(|| self.search_match_of_rule(pathname, rule, locale));
        found.unwrap_or(first)
    }

    /// The first match of the patterns at these positions that is for versions in a locale.
    fn match_of_version<'a>(
        &'a self,
        positions: impl IntoIterator<Item = usize>,
        pathname: &'a Pathname<'_>,
        locale: usize,
    ) -> Option<Match<'a>> {
        let is_match =
            |at: &usize| match_pattern(&self.patterns[*at], pathname, &self.locales).is_ok();
        let mut matching = positions.into_iter().filter(is_match);
        matching.find_map(|at| self.for_version(self.matched(at, pathname), locale))
    }

    /// A match of the path of a version in the locale at a position, with this locale. `None`: the
    /// template is for other locales, or the path has the segment of another one.
    ///
    /// Where the paths of the rule have no locale, the path can be that of the locales from this one
    /// on: a version in an earlier one would own it (D22).
    pub fn for_version<'a>(&'a self, found: Match<'a>, locale: usize) -> Option<Match<'a>> {
        let found = self.with_locale_among(found, |at| at == locale);
        let codes = self.locales.codes();
        if let Some(own) = found.locale {
            return (*own.code() == codes[locale]).then_some(found);
        }
        let shared = if found.shared.is_empty() { codes } else { found.shared };
        let from = shared.iter().position(|own| *own == codes[locale])?;
        Some(Match { shared: &shared[from..], ..found })
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{locales, per_locale, rule};
    use crate::{Locale, LocalePrefix, Match, Pathname, RuleSet, SiteLocale};

    #[test]
    fn match_of_rule_is_that_of_the_rule_and_the_locale_that_built_the_path() {
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
            let position = rules.locales().position(locale).unwrap();
            let found = rules.match_of_rule(&patterns, &pathname, rule, position);
            assert_eq!(
                rules.search_match_of_rule(&pathname, rule, position),
                found,
                "{path} {rule}"
            );
            let params = found.map(|found| {
                let pairs = found.params.iter().map(|(name, value)| format!("{name}={value}"));
                pairs.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(params.as_deref(), expected, "{path} {rule} {locale}");
        }
    }

    #[test]
    fn match_for_a_version_has_its_locale_or_is_none() {
        let by_locale = per_locale(&[("en", "/{locale}/x/{slug}"), ("de", "/x/{slug}")]);
        let shared = per_locale(&[("en", "/s/{slug}"), ("de", "/s/{slug}")]);
        let rules = vec![by_locale, rule(1, "/y/{slug}"), rule(2, "/{locale}/{slug}"), shared];
        let rules = RuleSet::new(locales(), LocalePrefix::ExceptDefault, rules);
        for (path, rule, locale, expected) in [
            ("/x/a", 0, 0, Some("/{locale}/x/{slug} en []")),
            ("/x/a", 0, 1, Some("/x/{slug} de []")),
            ("/y/a", 1, 0, Some("/y/{slug} - [\"en\", \"de\"]")),
            ("/y/a", 1, 1, Some("/y/{slug} - [\"de\"]")),
            ("/de/a", 2, 1, Some("/{locale}/{slug} de []")),
            ("/de/a", 2, 0, None),
            ("/a", 2, 0, Some("/{locale}/{slug} en []")),
            ("/a", 2, 1, None),
            ("/s/a", 3, 1, Some("/s/{slug} - [\"de\"]")),
        ] {
            let pathname = Pathname::parse(path);
            let show = |found: Match<'_>| {
                let shared: Vec<&str> = found.shared.iter().map(Locale::as_str).collect();
                let locale = found.locale.map_or("-", SiteLocale::as_str);
                format!("{} {locale} {shared:?}", found.template)
            };
            let tie = rules.tie_of_version(&pathname, rule, locale, None).map(show);
            assert_eq!(tie.as_deref(), expected, "{path} {rule} {locale}");
        }
    }
}

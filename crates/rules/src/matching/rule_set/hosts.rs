//! Matches on a site with several hosts: templates of other hosts' locales come last, and two locales
//! may have the same segment.

use super::ties::RuleSubset;
use super::{Match, RuleSet};
use crate::matching::pattern::Pattern;
use crate::pathname::Pathname;

impl RuleSet {
    /// These rules for a site with several hosts; `hosts` has the host of each locale, and is
    /// empty if there is one host.
    pub fn with_hosts(self, hosts: &[u16]) -> Self {
        let has_own = |pattern: &Pattern| !pattern.locales.is_empty();
        let count = hosts.iter().max().map_or(0, |last| usize::from(*last) + 1);
        if count < 2 {
            return self;
        }
        let differ = self.patterns.iter().any(has_own);
        let of_host = |host: usize| {
            self.subset_of_patterns(|pattern| {
                let positions = pattern.locales.iter();
                let mut positions = positions.filter_map(|own| self.locales.position(own.as_str()));
                !has_own(pattern) || positions.any(|at| usize::from(hosts[at]) == host)
            })
        };
        let by_host = (0..count).map(|host| differ.then(|| of_host(host))).collect();
        Self { by_host, hosts: hosts.into(), ..self }
    }

    /// Whether the locale at a position is on a host; true if none is given, or if there is one.
    pub fn has_locale_on(&self, locale: usize, host: Option<usize>) -> bool {
        let own = self.hosts.get(locale).map(|own| usize::from(*own));
        own.is_none() || host.is_none() || own == host
    }

    /// Whether the site has several hosts.
    pub fn has_several_hosts(&self) -> bool {
        !self.by_host.is_empty()
    }

    /// Of a site with several hosts, those with a template that may match a pathname, in order.
    pub fn hosts_of<'a>(&'a self, pathname: &'a Pathname<'_>) -> impl Iterator<Item = usize> + 'a {
        (0..self.host_count()).filter(|host| self.may_match_on(pathname, *host))
    }

    /// Whether one of several hosts has a template that may match a pathname.
    pub fn may_match_on(&self, pathname: &Pathname<'_>, host: usize) -> bool {
        let has_match = |own: &RuleSubset| own.first(pathname, &self.locales).is_some();
        self.patterns_on(Some(host)).is_none_or(has_match)
    }

    /// How many hosts the site has; 0 if it has one.
    pub fn host_count(&self) -> usize {
        self.by_host.len()
    }

    /// [`RuleSet::find`] for a host, whose templates come before those of other hosts' locales.
    #[inline]
    pub fn find_on<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Match<'a>> {
        Some(self.matched(self.first_position_on(pathname, host)?, pathname))
    }

    /// The position of the first pattern that matches.
    #[inline]
    pub(super) fn first_position_on(
        &self,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<usize> {
        let of_host = self.patterns_on(host).and_then(|own| own.first(pathname, &self.locales));
        of_host.or_else(|| self.first_position(pathname))
    }

    /// Whether the pattern at a position in the order of evaluation is for a host, if one is given.
    pub fn is_for_host(&self, position: usize, host: Option<usize>) -> bool {
        self.patterns_on(host).is_none_or(|own| own.has(position))
    }

    /// The patterns of a host; `None`: all.
    pub(super) fn patterns_on(&self, host: Option<usize>) -> Option<&RuleSubset> {
        self.by_host.get(host?)?.as_ref()
    }

    /// Whether some host has both patterns, which are given by their positions.
    pub(crate) fn share_a_host(&self, one: usize, other: usize) -> bool {
        let has_both = |own: &RuleSubset| own.has(one) && own.has(other);
        let mut hosts = self.by_host.iter().flatten().peekable();
        hosts.peek().is_none() || hosts.any(has_both)
    }

    /// Whether each host that has the pattern `other` has `one` too; both are positions.
    pub(crate) fn is_on_all_hosts_of(&self, one: usize, other: usize) -> bool {
        self.by_host.iter().flatten().all(|host| host.has(one) || !host.has(other))
    }

    /// The match with the host's locale that has the segment in the path. Unchanged without a host, if
    /// the host has no such locale, or if the path has no locale.
    pub fn with_locale_of_host<'a>(&'a self, found: Match<'a>, host: Option<usize>) -> Match<'a> {
        if host.is_none() {
            return found;
        }
        self.with_locale_among(found, |locale| self.has_locale_on(locale, host))
    }

    /// The match with the first locale that has the segment in the path and for whose position
    /// `is_wanted` is true. Unchanged if there is none, or if the path has no locale.
    pub(super) fn with_locale_among<'a>(
        &'a self,
        found: Match<'a>,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Match<'a> {
        // An own path has the segment of its locale, but no params.
        let is_in_path = || found.params.iter().len() == 0 && found.template.has_locale();
        let is_in_path = found.params.has_locale() || is_in_path();
        let Some(locale) = found.locale.filter(|_| is_in_path) else {
            return found;
        };
        let all = self.locales.as_slice();
        let own_template = |at: &usize| {
            let own = found.rule.template(all[*at].code());
            own.is_some_and(|own| std::ptr::eq(own, found.template))
        };
        let mut same = self.locales.with_segment_of(locale).filter(own_template);
        let Some(at) = same.find(|at| is_wanted(*at)) else { return found };
        let locale = &all[at];
        Match { locale: Some(locale), params: found.params.with_locale(locale.as_str()), ..found }
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{per_locale, rule};
    use crate::{Locale, LocalePrefix, Locales, Pathname, RuleSet, SiteLocale, TieBreak};

    /// `us` and `gb` have one segment on different hosts.
    fn locales() -> Locales {
        let locale = |code: &str| SiteLocale::from(Locale::parse(code).unwrap());
        let [us, gb] = ["us", "gb"].map(|code| locale(code).with_segment("en").unwrap());
        Locales::on_hosts(vec![us, gb, locale("de")], |at| at).unwrap()
    }

    fn found(rules: &RuleSet, path: &str, host: Option<usize>) -> String {
        let pathname = Pathname::parse(path);
        let found = rules.find_on(&pathname, host).unwrap();
        let found = rules.with_locale_of_host(found, host);
        let locale = found.locale.map_or("", SiteLocale::as_str);
        format!("{locale} {} {:?}", found.template, found.params)
    }

    #[test]
    fn locale_of_a_segment_is_that_of_the_host() {
        let own = per_locale(&[("us", "/{locale}/a/{slug}"), ("gb", "/{locale}/b/{slug}")]);
        let rules = vec![rule(1, "/{locale}/{slug}"), own];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, rules).with_hosts(&[0, 1, 2]);
        for (path, host, expected) in [
            ("/en/x", None, "us"),
            ("/en/x", Some(0), "us"),
            ("/en/x", Some(1), "gb"),
            ("/en/x", Some(2), "us"),
            ("/de/x", Some(1), "de"),
            // The template is for one locale.
            ("/en/a/x", Some(1), "us"),
            ("/en/b/x", None, "gb"),
            ("/en/b/x", Some(0), "gb"),
        ] {
            let found = found(&rules, path, host);
            let parts =
                (found.split(' ').next(), found.contains(&format!("\"locale\": \"{expected}\"")));
            assert_eq!(parts, (Some(expected), true), "{path} {host:?}: {found}");
        }
    }

    #[test]
    fn templates_of_the_host_come_before_more_specific_ones_of_other_hosts() {
        let first = per_locale(&[("us", "/a/{slug}")]);
        let second = per_locale(&[("gb", "/a/{name}"), ("de", "/{*path}")]);
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![first, second])
            .with_hosts(&[0, 1, 2]);
        for (path, host, expected) in [
            ("/a/x", None, "us /a/{slug} {\"slug\": \"x\"}"),
            ("/a/x", Some(0), "us /a/{slug} {\"slug\": \"x\"}"),
            ("/a/x", Some(1), "gb /a/{name} {\"name\": \"x\"}"),
            ("/a/x", Some(2), "de /{*path} {\"path\": \"a/x\"}"),
            ("/b", Some(0), "de /{*path} {\"path\": \"b\"}"),
        ] {
            assert_eq!(found(&rules, path, host), expected, "{path} {host:?}");
        }
        let pathname = Pathname::parse("/a/x");
        let tie = |rule, host| rules.tie_on(&pathname, rule, host).is_some();
        assert_eq!([tie(0, None), tie(1, None)], [true, true]);
        assert_eq!([tie(0, Some(1)), tie(1, Some(1))], [false, true]);
        let second = rules.subset(|rule| *rule == rules.rules()[1]);
        assert_eq!(rules.first_tie_in(&second, &pathname, Some(2)), Some(1));
        assert_eq!(rules.first_tie_in(&second, &pathname, Some(0)), None);
        let overlaps = rules.overlaps(TieBreak::Order);
        assert!(overlaps.pairs.is_empty() && overlaps.shadowed.is_empty(), "{overlaps:?}");
        let together = RuleSet::new(locales(), LocalePrefix::Always, rules.rules().to_vec());
        assert!(!together.overlaps(TieBreak::Order).pairs.is_empty());
    }
}

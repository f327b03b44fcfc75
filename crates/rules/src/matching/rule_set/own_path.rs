//! Matches of documents that have a path of their own, which no template decides about (D41).

use std::borrow::Cow;

use super::{Match, RuleSet};
use crate::building::TemplateValues;
use crate::encode::encode;
use crate::locale::{Locale, LocalePrefix, SiteLocale};
use crate::matching::captures::Params;
use crate::pathname::{PathSegment, Pathname};
use crate::rule::{Rule, Templates};
use crate::template::Template;
use crate::url_safety::Fault;

impl RuleSet {
    /// The positions of the rules that name a path field, in the order of the settings.
    pub fn with_path_field(&self) -> impl Iterator<Item = usize> {
        let has_field = |(_, rule): &(usize, &Rule)| rule.path_field.is_some();
        self.rules.iter().enumerate().filter(has_field).map(|(at, _)| at)
    }

    /// The match of a pathname that is the own path of a document of a rule. Its params are empty.
    /// `locale` is the position of the version's locale, or for a document that is not localized, of
    /// that of the pathname.
    ///
    /// Where the paths of the rule have no locale, the pathname can be that of the locales from this
    /// one on: a version in an earlier one would own the path.
    pub fn own_path_match<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
        rule: usize,
        locale: usize,
    ) -> Match<'a> {
        let (rule, codes) = (&self.rules[rule], self.locales.codes());
        let template = rule.template(&codes[locale]).unwrap_or(rule.first_template());
        let is_shared = matches!(rule.templates, Templates::One(_)) && !template.has_locale();
        let params = Params::none(pathname);
        if is_shared {
            Match { rule, template, params, locale: None, shared: &codes[locale..] }
        } else {
            let locale = self.locales.as_slice().get(locale);
            Match { rule, template, params, locale, shared: &[] }
        }
    }

    /// The own paths, in the site's first locale, of documents that are not localized to which a
    /// pathname can lead (D19): the pathname with the first locale in place of the one at its beginning,
    /// then, if the request has a `host`, the pathname as it is. Each comes with the position of the
    /// locale that was replaced, or 0.
    pub fn own_paths_in_default_locale<'p>(
        &self,
        pathname: &Pathname<'p>,
        host: Option<usize>,
    ) -> impl Iterator<Item = (usize, Cow<'p, str>)> + use<'p> {
        let same = host.map(|_| (0, pathname.normalized()));
        let own = self.own_path_in_default_locale(pathname);
        own.map(|(locale, path)| (locale, Cow::Owned(path))).into_iter().chain(same)
    }

    fn own_path_in_default_locale(&self, pathname: &Pathname<'_>) -> Option<(usize, String)> {
        let PathSegment::Text(first) = pathname.segments().next()? else { return None };
        let locale = self.locales.of_segment(first)?;
        let default = self.locales.default_locale();
        if locale == default {
            return None;
        }
        let path = pathname.normalized();
        let rest = path.split_once('/')?.1.split_once('/')?.1;
        let path = match self.prefix {
            LocalePrefix::Always => format!("/{}/{rest}", encode(default.segment())),
            LocalePrefix::ExceptDefault => format!("/{rest}"),
        };
        Some((self.locales.position(locale.as_str())?, path))
    }

    /// Whether a path of [`RuleSet::own_paths_in_default_locale`] stands for the own path of a document
    /// that is not localized, by a rule at its position in the settings: one that comes with 0 is the
    /// same in all locales, and for another one own paths must begin with a locale.
    pub fn leads_to_own_path(&self, rule: usize, replaced_locale: usize) -> bool {
        replaced_locale == 0 || self.own_path_has_locale(rule)
    }

    fn own_path_has_locale(&self, rule: usize) -> bool {
        let template = self.rules[rule].template(self.locales.default_locale().code());
        template.is_some_and(Template::has_locale)
    }

    /// Whether a document could have this own path on a host, by the rule at a position in the settings.
    pub fn may_be_own_path(
        &self,
        pathname: &Pathname<'_>,
        rule: usize,
        host: Option<usize>,
    ) -> bool {
        let is_on_host = |locale| self.has_locale_on(locale, host);
        !self.own_path_values(pathname, &self.rules[rule], is_on_host).is_empty()
    }

    /// Why the own path of a document cannot be used; `None` too if it has none.
    pub fn own_path_fault(
        &self,
        rule: &Rule,
        locale: &Locale,
        values: &impl TemplateValues,
    ) -> Option<Fault> {
        let template = rule.template(locale).unwrap_or(rule.first_template());
        let path = &mut String::new();
        let unusable =
            rule.write_own_path(template, self.path_form(), locale, values, path)?.err()?;
        Some(unusable.fault)
    }

    /// The values of a rule's path field, without a slash in front, with which a document has this
    /// path, each with the locales of such documents. Only locales for whose positions `is_wanted` is
    /// true.
    pub fn own_path_values(
        &self,
        pathname: &Pathname<'_>,
        rule: &Rule,
        is_wanted: impl Fn(usize) -> bool,
    ) -> Vec<(String, Vec<Locale>)> {
        let mut values: Vec<(String, Vec<Locale>)> = Vec::new();
        if pathname.is_unmatchable() || rule.path_field.is_none() {
            return values;
        }
        let locales = self.locales.as_slice().iter().enumerate();
        for (_, locale) in locales.filter(|(at, _)| is_wanted(*at)) {
            let template = rule.template(locale.code());
            let value = template.and_then(|own| self.own_path_value(pathname, own, locale));
            let Some(value) = value else { continue };
            let code = locale.code().clone();
            match values.iter_mut().find(|(known, _)| known == value) {
                Some((_, codes)) => codes.push(code),
                None => values.push((value.to_owned(), vec![code])),
            }
        }
        values
    }

    fn own_path_value<'p>(
        &self,
        pathname: &'p Pathname<'_>,
        template: &Template,
        locale: &SiteLocale,
    ) -> Option<&'p str> {
        let first = pathname.segments().next()?;
        let PathSegment::Text(first) = first else { return None };
        let omits = self.prefix.omits(&self.locales, locale.code());
        let from = match (template.has_locale(), omits) {
            (false, _) => 0,
            (true, true) if self.locales.of_segment(first).is_none() => 0,
            (true, false) if locale.segment() == first => 1,
            (true, _) => return None,
        };
        (from < pathname.count()).then(|| pathname.text(from, pathname.count()))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{field, locales, per_locale, rule, translated_locales};
    use crate::{Locale, LocalePrefix, Pathname, Rule, RuleSet, SiteLocale};

    /// Prefix, rule, path, and the values with their locales.
    type Case<'a> = (LocalePrefix, fn() -> Rule, &'a str, &'a str);

    fn with_field(mut rule: Rule) -> Rule {
        rule.path_field = Some(field("customPath"));
        rule
    }

    #[test]
    fn match_has_the_configured_template_and_the_locales_that_the_path_can_have() {
        let by_locale = per_locale(&[("en", "/news/{slug}"), ("de", "/neues/{slug}")]);
        let rules = vec![rule(1, "/{locale}/{slug}"), rule(2, "/a/{slug}"), by_locale];
        let rules = RuleSet::new(locales(), LocalePrefix::Always, rules);
        let pathname = Pathname::parse("/x");
        for (rule, locale, expected) in [
            (0, 1, "/{locale}/{slug} de []"),
            (1, 0, "/a/{slug} - [\"en\", \"de\"]"),
            (1, 1, "/a/{slug} - [\"de\"]"),
            (2, 0, "/news/{slug} en []"),
            (2, 1, "/neues/{slug} de []"),
        ] {
            let found = rules.own_path_match(&pathname, rule, locale);
            let shared: Vec<&str> = found.shared.iter().map(Locale::as_str).collect();
            let locale = found.locale.map_or("-", SiteLocale::as_str);
            assert_eq!(format!("{} {locale} {shared:?}", found.template), expected);
            assert_eq!((found.params.iter().len(), found.params.has_locale()), (0, false));
        }
    }

    #[test]
    fn path_in_the_default_locale_has_its_segment_or_none() {
        for (path, always, except_default) in [
            ("/en/a/%C3%A9/", Some("/english/a/%C3%A9"), Some("/a/%C3%A9")),
            ("/english/a", None, None),
            ("/en", None, None),
            ("/a/b", None, None),
            ("/", None, None),
            ("/../a", None, None),
        ] {
            for (prefix, expected) in
                [(LocalePrefix::Always, always), (LocalePrefix::ExceptDefault, except_default)]
            {
                let rules = RuleSet::new(translated_locales(), prefix, Vec::new());
                let pathname = Pathname::parse(path);
                let found = |host| rules.own_paths_in_default_locale(&pathname, host);
                let expected: Vec<_> = expected.map(|path| (1, path.into())).into_iter().collect();
                assert_eq!(found(None).collect::<Vec<_>>(), expected, "{path} {prefix:?}");
                let expected = [expected, vec![(0, pathname.normalized())]].concat();
                assert_eq!(found(Some(1)).collect::<Vec<_>>(), expected, "{path} {prefix:?}");
            }
        }
    }

    #[test]
    fn values_are_those_with_which_a_document_has_the_path() {
        use LocalePrefix::{Always, ExceptDefault};
        let one = || with_field(rule(0, "/{locale}/{slug}"));
        let plain = || with_field(rule(0, "/a/{slug}"));
        let german = || with_field(per_locale(&[("de", "/{locale}/{slug}")]));
        let cases: [Case<'_>; 11] = [
            (Always, one, "/en/a%20b/c", "a b/c de"),
            (Always, one, "/english/x", "x en"),
            (Always, one, "/x", ""),
            (Always, one, "/en", ""),
            (Always, one, "/en/..", ""),
            (Always, plain, "/en/x", "en/x en,de"),
            (Always, german, "/english/x", ""),
            (ExceptDefault, one, "/x", "x en"),
            (ExceptDefault, one, "/en/x", "x de"),
            (ExceptDefault, one, "/english/x", ""),
            (ExceptDefault, one, "/", ""),
        ];
        for (prefix, rule, path, expected) in cases {
            let rules = RuleSet::new(translated_locales(), prefix, vec![rule()]);
            let pathname = Pathname::parse(path);
            let found = rules.own_path_values(&pathname, &rules.rules()[0], |_| true);
            let shown = found.iter().map(|(value, locales)| {
                let codes: Vec<&str> = locales.iter().map(Locale::as_str).collect();
                format!("{value} {}", codes.join(","))
            });
            assert_eq!(shown.collect::<Vec<_>>().join("; "), expected, "{path} {prefix:?}");
            let german = rules.own_path_values(&pathname, &rules.rules()[0], |at| at == 1);
            assert!(german.iter().all(|(_, codes)| codes.iter().all(|own| own.as_str() == "de")));
        }
    }
}

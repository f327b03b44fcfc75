//! The path of a match in the site's first locale, in which documents that are not localized have
//! their URL (D19).

use super::{Match, RuleSet};
use crate::encode::encode;
use crate::locale::LocalePrefix;
use crate::pathname::Pathname;

impl RuleSet {
    /// The normalized path with the site's first locale in place of the one that the match has
    /// captured. If it has captured none, or the first one: the same path, if the request has a
    /// `host`, because it is another page on the host of the first locale; else `None`.
    pub fn in_default_locale(
        &self,
        found: &Match<'_>,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<String> {
        let replaced = self.with_default_locale(found, pathname);
        replaced.or_else(|| host.map(|_| pathname.normalized().into_owned()))
    }

    fn with_default_locale(&self, found: &Match<'_>, pathname: &Pathname<'_>) -> Option<String> {
        let default = self.locales.default_locale();
        found.locale.filter(|locale| *locale != default)?;
        let at = found.params.segment_of("locale")?;
        let (path, own) = (pathname.normalized(), encode(default.segment()));
        let mut segments: Vec<&str> = path.split('/').skip(1).collect();
        match self.prefix {
            LocalePrefix::Always => segments[at] = &own,
            LocalePrefix::ExceptDefault => {
                segments.remove(at);
            }
        }
        Some(format!("/{}", segments.join("/")))
    }
}

#[cfg(test)]
mod tests {
    use crate::fixtures::{locales, per_locale, rule, translated_locales};
    use crate::{LocalePrefix, Pathname, RuleSet};

    #[test]
    fn in_default_locale_replaces_or_removes_the_captured_locale() {
        let rules = || {
            let by_locale = per_locale(&[("en", "/news/{slug}"), ("de", "/neues/{slug}")]);
            vec![rule(1, "/{locale}"), rule(2, "/shop/{locale}/{*path}"), by_locale]
        };
        let cases = [
            ("/de", Some("/en"), Some("/")),
            ("/shop/de/%C3%A9/x/", Some("/shop/en/%C3%A9/x"), Some("/shop/%C3%A9/x")),
            ("/shop/en/x", None, None),
            ("/neues/x", None, None),
        ];
        for (path, always, except_default) in cases {
            for (prefix, expected) in
                [(LocalePrefix::Always, always), (LocalePrefix::ExceptDefault, except_default)]
            {
                let rules = RuleSet::new(locales(), prefix, rules());
                let pathname = Pathname::parse(path);
                let found = rules.find(&pathname);
                let other =
                    found.and_then(|found| rules.in_default_locale(&found, &pathname, None));
                assert_eq!(other.as_deref(), expected, "{path} {prefix:?}");
            }
        }
    }

    #[test]
    fn in_default_locale_has_the_segment_of_the_default_locale() {
        let rules = vec![rule(1, "/{locale}/{slug}")];
        let rules = RuleSet::new(translated_locales(), LocalePrefix::Always, rules);
        for (path, expected) in [("/en/x", Some("/english/x")), ("/english/x", None)] {
            let pathname = Pathname::parse(path);
            let found = rules.find(&pathname).unwrap();
            let other = rules.in_default_locale(&found, &pathname, None);
            assert_eq!(other.as_deref(), expected, "{path}");
            let other = rules.in_default_locale(&found, &pathname, Some(1));
            assert_eq!(other.as_deref(), Some(expected.unwrap_or(path)), "{path}");
        }
    }
}

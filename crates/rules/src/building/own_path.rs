//! The own path of a document: the value of the field that a rule names, in place of the path that
//! its template would give (D41).

use super::PathForm;
use super::path_builder::{UnusableValue, push_segments};
use super::placeholder_value::{TemplateValues, text};
use super::trailing_slash::TrailingSlash;
use crate::locale::Locale;
use crate::rule::{Rule, normalized};
use crate::template::{Segment, Template};
use crate::url_safety::{Fault, Width, check};

impl Rule {
    /// Whether a document has a value in the path field, so that the template does not apply. Null,
    /// an empty text and one of white space alone are no value.
    pub fn has_own_path(&self, values: &impl TemplateValues) -> bool {
        self.own_value(values).is_some()
    }

    /// The value of the path field; `None`: there is no such field or no value.
    pub(super) fn own_value<'v>(
        &self,
        values: &'v impl TemplateValues,
    ) -> Option<Result<&'v str, Fault>> {
        match text(values.field(self.path_field.as_ref()?)) {
            Err(Fault::Missing) => None,
            Ok(text) if text.trim().is_empty() => None,
            value => Some(value),
        }
    }

    /// Writes the own path of a document under a locale of the site to the empty `path`. `None`: it
    /// has none.
    pub(crate) fn write_own_path(
        &self,
        template: &Template,
        form: PathForm<'_>,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Option<Result<(), UnusableValue>> {
        let value = self.own_value(values);
        if self.redirect.is_some() {
            let from =
                value.unwrap_or(Err(Fault::Missing)).and_then(|text| normalized(text.trim()));
            return Some(
                from.map(|from| path.push_str(&from)).map_err(|fault| self.unusable(fault)),
            );
        }
        let value = value?;
        let PathForm { locales, prefix, trailing_slash } = form;
        let omits_locale = prefix.omits(locales, locale);
        let has_locale = template.has_locale();
        let usable = value.and_then(|text| {
            let text = text.strip_prefix('/').unwrap_or(text);
            check("", text, "", Width::Many)?;
            let first = text.split('/').next().unwrap_or_default();
            let is_locale = || locales.of_segment(first).is_some();
            if has_locale && omits_locale && is_locale() {
                return Err(Fault::NotAllowed);
            }
            Ok(text)
        });
        Some(match usable {
            Ok(text) => {
                if has_locale && !omits_locale {
                    path.push('/');
                    push_segments(path, values.locale_segment());
                }
                path.push('/');
                push_segments(path, text);
                path.push_str(if trailing_slash == TrailingSlash::Always { "/" } else { "" });
                Ok(())
            }
            Err(fault) => Err(self.unusable(fault)),
        })
    }

    fn unusable(&self, fault: Fault) -> UnusableValue {
        let field = self.path_field.as_ref().map(ToString::to_string);
        UnusableValue { placeholder: field.unwrap_or_default(), fault }
    }
}

impl Template {
    /// Whether it has `{locale}`.
    pub fn has_locale(&self) -> bool {
        self.segments().iter().any(Segment::is_locale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::building::NoPath;
    use crate::fixtures::translated_locales;
    use crate::fixtures::{Holds, field, locale, locales, per_locale, rule, text};
    use crate::locale::LocalePrefix;
    use crate::{FieldValue, RuleSet};

    fn with_field(mut rule: Rule) -> Rule {
        rule.path_field = Some(field("customPath"));
        rule
    }

    fn built(rules: &RuleSet, code: &str, values: &Holds<'_>) -> String {
        let mut path = String::new();
        match rules.write_path(&rules.rules()[0], &locale(code), values, &mut path) {
            Ok(_) => path,
            Err(NoPath::Unusable(unusable)) => unusable.to_string(),
            Err(other) => format!("{other:?}"),
        }
    }

    #[test]
    fn value_takes_the_place_of_the_template_and_an_empty_one_does_not() {
        let rules = with_field(rule(0, "/{locale}/a/{slug}"));
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![rules]);
        for (value, expected) in [
            (text("x"), "/de/x"),
            (text("/x"), "/de/x"),
            (text("ü b/c.html"), "/de/%C3%BC%20b/c.html"),
            (text(" x"), "/de/%20x"),
            (text("en/x"), "/de/en/x"),
            (text("5"), "/de/5"),
            (text(""), "/de/a/s"),
            (text(" \t"), "/de/a/s"),
            (FieldValue::Missing, "/de/a/s"),
            (text("/"), "customPath_empty"),
            (text("/ "), "customPath_empty"),
            (text("//x"), "customPath_empty_segment"),
            (text("x/"), "customPath_ends_with_slash"),
            (text("a//b"), "customPath_empty_segment"),
            (text("a/../b"), "customPath_dot_segment"),
            (text("%2e%2e"), "customPath_unsafe_after_decoding"),
            (text("a\\b"), "customPath_backslash"),
            (text("a\u{200b}"), "customPath_bidi_or_invisible"),
            (FieldValue::Boolean(false), "customPath_not_string"),
            (FieldValue::NotText, "customPath_not_string"),
        ] {
            let values = [("customPath", value.clone()), ("slug", text("s"))];
            assert_eq!(built(&rules, "de", &Holds::new("de", &values)), expected, "{value:?}");
            let is_own = !matches!(expected, "/de/a/s");
            let found = rules.rules()[0].has_own_path(&Holds::new("de", &values));
            assert_eq!(found, is_own, "{value:?}");
        }
    }

    #[test]
    fn unusable_value_of_the_template_does_not_matter() {
        let rules = with_field(rule(0, "/{locale}/{slug}"));
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![rules]);
        let values = Holds::texts("en", &[("customPath", "x"), ("slug", "a/b")]);
        assert_eq!(built(&rules, "en", &values), "/en/x");
    }

    #[test]
    fn locale_is_in_front_as_in_the_paths_of_the_template() {
        use LocalePrefix::{Always, ExceptDefault};
        for (prefix, template, code, segment, value, expected) in [
            (Always, "/{locale}/{slug}", "de", "en", "x", "/en/x"),
            (Always, "/shop/{locale}/{slug}", "en", "english", "x", "/english/x"),
            (Always, "/{slug}", "de", "en", "x", "/x"),
            (Always, "/{slug}", "de", "en", "en/x", "/en/x"),
            (ExceptDefault, "/{locale}/{slug}", "de", "en", "english/x", "/en/english/x"),
            (ExceptDefault, "/{locale}/{slug}", "en", "english", "x", "/x"),
            (ExceptDefault, "/{locale}/{slug}", "en", "english", "/en/x", "customPath_not_allowed"),
            (ExceptDefault, "/{locale}/{slug}", "en", "english", "a/en", "/a/en"),
            (ExceptDefault, "/{slug}", "en", "english", "en/x", "/en/x"),
        ] {
            let rules = vec![with_field(rule(0, template))];
            let rules = RuleSet::new(translated_locales(), prefix, rules);
            let values = Holds::texts(segment, &[("customPath", value)]);
            assert_eq!(built(&rules, code, &values), expected, "{template} {value} {prefix:?}");
        }
    }

    #[test]
    fn slash_at_the_end_is_that_of_a_catch_all() {
        let rules = with_field(rule(0, "/{slug}.html"));
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![rules]);
        let rules = rules.with_trailing_slash(TrailingSlash::Always);
        for (value, expected) in [("a/b", "/a/b/"), ("a.html", "/a.html/")] {
            let values = Holds::texts("en", &[("customPath", value)]);
            assert_eq!(built(&rules, "en", &values), expected);
        }
    }

    #[test]
    fn locale_without_a_template_has_no_own_path() {
        let own = with_field(per_locale(&[("en", "/{locale}/{slug}")]));
        let rules = RuleSet::new(locales(), LocalePrefix::Always, vec![own]);
        let values = Holds::texts("de", &[("customPath", "x")]);
        assert_eq!(built(&rules, "de", &values), "Locale");
        assert_eq!(built(&rules, "en", &Holds::texts("en", &[("customPath", "x")])), "/en/x");
    }
}

//! Paths after a change of the fields behind a relation: the segments with these fields are written
//! again, and all others stay as they are.

use super::path_builder::{UnusableValue, push};
use super::placeholder_value::TemplateValues;
use crate::rules::locale::{Locale, LocalePrefix, Locales};
use crate::rules::rule::Rule;
use crate::rules::template::{FieldPath, Segment, Source, Template};

/// The segments of a rule's paths in one locale that show fields behind a relation.
#[derive(Clone, Debug)]
pub struct RelatedSegments<'r> {
    template: &'r Template,
    /// Their positions in the template.
    related: Vec<usize>,
    /// The position of `{locale}` in the template, if the paths omit it.
    omitted: Option<usize>,
}

impl Rule {
    /// The segments that show fields behind this relation. `None`: these fields decide about more
    /// than the text of single segments.
    pub(in crate::rules) fn related_segments(
        &self,
        locales: &Locales,
        prefix: LocalePrefix,
        locale: &Locale,
        relation: &FieldPath,
    ) -> Option<RelatedSegments<'_>> {
        let conditions = self.conditions.iter().map(|condition| &condition.field);
        let mut deciding =
            conditions.chain(self.sitemap.fields()).chain(&self.title).chain(&self.path_field);
        if deciding.any(|field| field.is_behind(relation)) {
            return None;
        }
        let template = self.template(locale)?;
        let mut related = Vec::new();
        for (at, segment) in template.segments().iter().enumerate() {
            match segment {
                // The positions of the segments behind it depend on the document.
                Segment::Optional(_) => return None,
                Segment::Static(_) => {}
                Segment::Placeholder { placeholder, .. } | Segment::CatchAll(placeholder) => {
                    let source = &placeholder.source;
                    if source.fields().any(|field| field.is_behind(relation)) {
                        let is_text = matches!(source, Source::Field(_));
                        if !is_text || matches!(segment, Segment::CatchAll(_)) {
                            return None;
                        }
                        related.push(at);
                    }
                }
            }
        }
        let omits_locale = prefix.omits(locales, locale);
        let omitted = template.segments().iter().position(Segment::is_locale);
        let omitted = omitted.filter(|_| omits_locale);
        // The segment in its place must not be a locale.
        let is_next = omitted.is_some_and(|at| related.contains(&(at + 1)));
        (!is_next).then_some(RelatedSegments { template, related, omitted })
    }
}

impl RelatedSegments<'_> {
    /// Whether no segment shows such a field.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.related.is_empty()
    }

    /// Whether the rule builds no path with these values behind the relation, whatever the others are.
    #[must_use]
    pub fn lacks_value(&self, values: &impl TemplateValues) -> bool {
        self.related.iter().any(|at| self.fault(*at, values).is_some())
    }

    /// A path of the rule with these values behind the relation; `None`: the path has another shape.
    ///
    /// # Errors
    /// The leftmost value that cannot be used in a URL.
    pub fn rewrite(
        &self,
        path: &str,
        values: &impl TemplateValues,
    ) -> Option<Result<String, UnusableValue>> {
        // Whether there is a slash at the end depends on the template alone.
        let (path, end) = path.strip_suffix('/').map_or((path, ""), |path| (path, "/"));
        let mut rest = path.strip_prefix('/')?.split('/');
        let mut rewritten = String::with_capacity(path.len());
        for (at, segment) in self.template.segments().iter().enumerate() {
            if self.omitted == Some(at) {
                continue;
            }
            let own = rest.next()?;
            if !self.related.contains(&at) {
                rewritten.push('/');
                rewritten.push_str(own);
                continue;
            }
            match self.fault(at, values) {
                Some(fault) => return Some(Err(fault)),
                None => push(&mut rewritten, segment, &segment.value(values)?.ok()?),
            }
        }
        let ends_open = matches!(self.template.segments().last(), Some(Segment::CatchAll(_)));
        for own in rest {
            if !ends_open {
                return None;
            }
            rewritten.push('/');
            rewritten.push_str(own);
        }
        rewritten.push_str(end);
        Some(Ok(rewritten))
    }

    /// Why a version that had no URL for this reason has none with these values behind the relation:
    /// a new reason, or `Some(None)` for the same one. `None`: it may have a URL, or it is unknown.
    pub fn reason(&self, reason: &str, values: &impl TemplateValues) -> Option<Option<String>> {
        let is_own = |segment: &Segment| {
            let rest = segment.placeholder().and_then(|one| reason.strip_prefix(&*one.name));
            rest.is_some_and(|rest| rest.starts_with('_'))
        };
        let segments = self.template.segments();
        let mut own = (0..segments.len()).filter(|at| is_own(&segments[*at]));
        let (Some(own), None) = (own.next(), own.next()) else { return None };
        let mut before = self.related.iter().take_while(|at| **at <= own);
        match before.find_map(|at| self.fault(*at, values)) {
            Some(fault) => Some(Some(fault.to_string())),
            None if self.related.contains(&own) => None,
            None => Some(None),
        }
    }

    fn fault(&self, at: usize, values: &impl TemplateValues) -> Option<UnusableValue> {
        let segment = &self.template.segments()[at];
        let fault = segment.value(values)?.err()?;
        let placeholder = segment.placeholder()?.name.clone();
        Some(UnusableValue { placeholder, fault })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::fixtures::{Holds, field, locale, rule, set, text};
    use crate::rules::{Condition, FieldValue, Literal};

    fn rewritten(
        prefix: LocalePrefix,
        template: &str,
        (code, path): (&str, &str),
        slug: FieldValue<'_>,
    ) -> Option<String> {
        let rules = set(prefix, &[template]);
        let category = field("category");
        let segments = rules.related_segments(&rules.rules()[0], &locale(code), &category)?;
        let values = Holds::new(code, &[("category.slug", slug)]);
        match segments.rewrite(path, &values)? {
            Ok(path) => Some(path),
            Err(unusable) => Some(unusable.to_string()),
        }
    }

    #[test]
    fn rewrite_replaces_the_fields_behind_the_relation_alone() {
        use LocalePrefix::{Always, ExceptDefault};
        let own = "/{locale}/{category.slug}/{slug}";
        for (prefix, template, version, slug, expected) in [
            (Always, own, ("en", "/en/old/a%20b"), "new", Some("/en/new/a%20b")),
            (Always, own, ("en", "/en/old/a/"), "new", Some("/en/new/a/")),
            (Always, own, ("en", "/en/old/a"), "é x", Some("/en/%C3%A9%20x/a")),
            (Always, own, ("en", "/en/old/a"), "a/b", Some("category.slug_has_slash")),
            (Always, own, ("en", "/en/old/a/b"), "new", None),
            (Always, own, ("en", "/en/old"), "new", None),
            (
                Always,
                "/{locale}/x-{category.slug}.y/{*slug}",
                ("de", "/de/x-o.y/a/b"),
                "n",
                Some("/de/x-n.y/a/b"),
            ),
            (Always, "/{*category.slug}", ("en", "/old/a"), "new", None),
            (Always, "/{category.slug}/{slug?}", ("en", "/old/a"), "new", None),
            (Always, "/{category.date:year}/{slug}", ("en", "/2020/a"), "new", None),
            (ExceptDefault, own, ("de", "/de/old/a"), "new", Some("/de/new/a")),
            (ExceptDefault, own, ("en", "/old/a"), "new", None),
            (ExceptDefault, "/{locale}/a/{category.slug}", ("en", "/a/old"), "new", Some("/a/new")),
            (Always, "/{slug}", ("en", "/a"), "new", Some("/a")),
        ] {
            let found = rewritten(prefix, template, version, text(slug));
            assert_eq!(found.as_deref(), expected, "{template} {version:?} {slug}");
        }
        let without = rewritten(Always, own, ("en", "/en/old/a"), FieldValue::Missing);
        assert_eq!(without.as_deref(), Some("category.slug_missing"));
    }

    #[test]
    fn rule_that_decides_by_a_field_behind_the_relation_has_no_such_segments() {
        let (locales, category) = (crate::rules::fixtures::locales(), field("category"));
        let has = |rule: &Rule| {
            let prefix = LocalePrefix::Always;
            rule.related_segments(&locales, prefix, &locale("en"), &category).is_some()
        };
        let condition = |path: &str| {
            vec![Condition { field: field(path), equals: Literal::Text("a".to_owned()) }]
        };
        let mut own = rule(0, "/{category.slug}/{slug}");
        for (path, expected) in [("kind", true), ("category.kind", false), ("category", true)] {
            own.conditions = condition(path);
            assert_eq!(has(&own), expected, "{path}");
            own.conditions.clear();
            own.sitemap.exclude_when = condition(path);
            assert_eq!(has(&own), expected, "{path}");
            own.sitemap.exclude_when.clear();
            own.title = Some(field(path));
            assert_eq!(has(&own), expected, "{path}");
            own.title = None;
        }
        for (path, expected) in [("customPath", true), ("category.path", false)] {
            own.path_field = Some(field(path));
            assert_eq!(has(&own), expected, "{path}");
            own.path_field = None;
        }
        own.sitemap.modified = field("category.updatedAt");
        assert!(!has(&own));
    }

    #[test]
    fn reason_of_a_version_without_a_url_is_that_of_the_leftmost_fault() {
        let rules = set(LocalePrefix::Always, &["/{a.slug}/{category.slug}/{slug}"]);
        let segments = rules.related_segments(&rules.rules()[0], &locale("en"), &field("category"));
        let segments = segments.unwrap();
        let (good, bad) = (text("new"), FieldValue::Missing);
        for (reason, value, expected) in [
            ("slug_missing", &good, Some(None)),
            ("slug_missing", &bad, Some(Some("category.slug_missing"))),
            ("a.slug_missing", &bad, Some(None)),
            ("category.slug_has_slash", &good, None),
            ("category.slug_has_slash", &bad, Some(Some("category.slug_missing"))),
            ("url_too_long", &good, None),
            ("locale_unknown", &good, None),
        ] {
            let values = Holds::new("en", &[("category.slug", value.clone())]);
            let found = segments.reason(reason, &values);
            let expected = expected.map(|new| new.map(str::to_owned));
            assert_eq!(found, expected, "{reason} {value:?}");
        }
    }
}

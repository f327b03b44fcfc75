//! Short constructors of rules and documents, for the unit tests of `rules`.

use crate::{
    Constraint, ContentTypeUid, FieldPath, FieldValue, Locale, LocalePrefix, Locales, Param, Rule,
    RuleSet, SiteLocale, Template, TemplateValues, Templates,
};

pub(super) fn locale(code: &str) -> Locale {
    Locale::parse(code).unwrap()
}

/// `en`, the default, and `de`.
pub(super) fn locales() -> Locales {
    Locales::new(vec![locale("en"), locale("de")]).unwrap()
}

/// `en`, the default, with the segment `english`, and `de` with the segment `en`.
pub(super) fn translated_locales() -> Locales {
    let own = |(code, segment)| SiteLocale::from(locale(code)).with_segment(segment).unwrap();
    Locales::new([("en", "english"), ("de", "en")].map(own).to_vec()).unwrap()
}

pub(super) fn field(path: &str) -> FieldPath {
    FieldPath::parse(path).unwrap()
}

pub(super) fn text(text: &str) -> FieldValue<'_> {
    FieldValue::Text(text.into())
}

/// A template; after ` | ` the `pattern` of `slug`, or after ` = ` its values.
pub(super) fn rule(at: usize, text: &str) -> Rule {
    let (text, pattern) = text.split_once(" | ").map_or((text, None), |(t, p)| (t, Some(p)));
    let (text, values) = text.split_once(" = ").map_or((text, None), |(t, v)| (t, Some(v)));
    let uid = ContentTypeUid::parse(&format!("api::t.t{at}")).unwrap();
    let mut rule = Rule::new(uid, Template::parse(text).unwrap());
    let values = values.map(|v| Constraint::values(v.split(',').map(str::to_owned)).unwrap());
    let constraint = pattern.map(|pattern| Constraint::pattern(pattern).unwrap()).or(values);
    if constraint.is_some() {
        assert!(rule.set_param("slug", &Param { source: None, constraint }));
    }
    rule
}

/// One template for each of these locales.
pub(super) fn per_locale(templates: &[(&str, &str)]) -> Rule {
    let own = |(code, text): &(&str, &str)| (locale(code), Template::parse(text).unwrap());
    let mut rule = rule(0, templates[0].1);
    rule.templates = Templates::PerLocale(templates.iter().map(own).collect());
    rule
}

pub(super) fn set(prefix: LocalePrefix, templates: &[&str]) -> RuleSet {
    let rules = templates.iter().enumerate().map(|(at, text)| rule(at, text)).collect();
    RuleSet::new(locales(), prefix, rules)
}

/// The fields of a document in the locale with a segment. Its `documentId` is `id`.
pub(super) struct Holds<'a> {
    pub(super) segment: &'a str,
    fields: Vec<(FieldPath, FieldValue<'a>)>,
}

impl<'a> Holds<'a> {
    pub(super) fn new(segment: &'a str, fields: &[(&str, FieldValue<'a>)]) -> Self {
        let fields = fields.iter().map(|(path, value)| (field(path), value.clone())).collect();
        Self { segment, fields }
    }

    pub(super) fn texts(segment: &'a str, fields: &[(&str, &'a str)]) -> Self {
        let fields: Vec<_> = fields.iter().map(|(path, value)| (*path, text(value))).collect();
        Self::new(segment, &fields)
    }
}

impl TemplateValues for Holds<'_> {
    fn locale_segment(&self) -> &str {
        self.segment
    }

    fn document_id(&self) -> &'static str {
        "id"
    }

    fn field(&self, path: &FieldPath) -> &FieldValue<'_> {
        let own = self.fields.iter().find(|(own, _)| own == path);
        own.map_or(&FieldValue::Missing, |(_, value)| value)
    }
}

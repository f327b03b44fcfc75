//! A URL that is built stays on its base's origin, and its path resolves to the rule and values
//! it was built from, or to an earlier rule (D16).
#![no_main]

use frontend_map_rules::frontend_url::{BaseUrl, Hosts, frontend_path};
use frontend_map_rules::{
    ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Locale, LocalePrefix, Locales,
    Pathname, Rule, RuleSet, SiteLocale, Source, Template, TrailingSlash, without_trailing_slash,
};
use libfuzzer_sys::{arbitrary, fuzz_target};

const UID: &str = "api::a.a";

#[derive(Debug, arbitrary::Arbitrary)]
struct Case<'a> {
    /// Two templates, so that they can overlap; those that cannot be read are left out.
    templates: [&'a str; 2],
    id: &'a str,
    german: bool,
    /// The segment of the second locale, if it can be one.
    segment: &'a str,
    /// Whether paths end with a slash.
    slash: bool,
    slug: &'a str,
    category: &'a str,
}

fuzz_target!(|case: Case<'_>| {
    let base = BaseUrl::parse("https://www.example.com/shop").expect("a base URL");
    let rules = rules(&case);
    let hosts = Hosts::one(base.clone(), rules.locales().as_slice().len());
    let document = document(&case);
    let Some(Ok(built)) = frontend_path(&rules, &hosts, UID, &document, false) else {
        return;
    };
    let finished = base.join(&built.path);
    assert!(finished.len() < 2048);
    let url = url::Url::parse(&finished).expect("a finished URL");
    assert_eq!(url.as_str(), finished);
    assert_eq!(url.origin().ascii_serialization(), "https://www.example.com");

    let pathname = Pathname::parse(&built.path);
    assert_eq!(pathname.normalized(), without_trailing_slash(&built.path));
    let found = rules.find(&pathname).expect("a built path resolves");
    if std::ptr::eq(found.rule, built.rule) {
        let values = found.template.placeholders().map(|placeholder| match &placeholder.source {
            Source::Locale => built.locale.as_str(),
            Source::DocumentId => case.id,
            Source::Field(path) if path.segments().len() == 1 => case.slug,
            _ => case.category,
        });
        // An optional segment without a value is left out.
        let values = values.filter(|value| !value.is_empty());
        assert!(found.params.iter().map(|(_, value)| value).eq(values));
    } else {
        let place = |wanted| rules.in_order().position(|(rule, _)| std::ptr::eq(rule, wanted));
        assert!(place(found.rule) < place(built.rule));
    }
});

fn rules(case: &Case<'_>) -> RuleSet {
    let [en, de] =
        ["en", "de"].map(|code| SiteLocale::from(Locale::parse(code).expect("a locale")));
    let german = de.clone().with_segment(case.segment).unwrap_or(de.clone());
    let content_type = ContentTypeUid::parse(UID).expect("a UID");
    let readable = case.templates.iter().filter_map(|text| Template::parse(text).ok());
    // The laws in `tests/laws` cover dates: here every field is any text.
    let plain = readable.filter(|template| !template.to_string().contains(':'));
    let rules = plain.map(|template| Rule::new(content_type.clone(), template)).collect();
    let locales = Locales::new(vec![en.clone(), german]);
    // Its segment may be that of the first.
    let locales = locales.unwrap_or_else(|_| Locales::new(vec![en, de]).expect("two locales"));
    let slash = if case.slash { TrailingSlash::Always } else { TrailingSlash::Never };
    RuleSet::new(locales, LocalePrefix::Always, rules).with_trailing_slash(slash)
}

/// Has every field that the templates ask for: own fields are the slug, fields of relations the
/// category.
fn document<'a>(case: &Case<'a>) -> Document<'a> {
    let wanted = rules(case).fields(UID);
    let value = |path: &FieldPath| {
        let own = path.segments().len() == 1;
        FieldValue::Text(if own { case.slug } else { case.category }.into())
    };
    Document {
        id: case.id.into(),
        locale: if case.german { DocumentLocale::Named("de".into()) } else { DocumentLocale::None },
        unpublished: false,
        values: wanted.iter().map(value).collect(),
        fields: wanted.into(),
    }
}

//! Generated rules with every feature, and documents with all the fields that these rules may read.

use std::sync::Arc;

use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    Condition, Constraint, ContentTypeUid, DatePart, Document, FieldPath, FieldValue, Literal,
    Locale, LocalePrefix, Locales, PagePaths, Param, Rule, RuleSet, Segment, SitemapOptions,
    Source, Template, Templates, TrailingSlash,
};
use proptest::prelude::*;

use super::generate::{self, UIDS};

/// The names of placeholders; the dates are parts of one field.
const NAMES: [&str; 11] = [
    "slug",
    "category.slug",
    "a",
    "_b-1",
    "path",
    "locale",
    "locale",
    "documentId",
    "on:year",
    "on:month",
    "on:day",
];
/// Dates as Strapi writes them with their parts, and texts that are no dates.
pub(super) const DATES: [(&str, Option<[&str; 3]>); 8] = [
    ("2024-02-29", Some(["2024", "02", "29"])),
    ("2024-02-29T23:59:59.000Z", Some(["2024", "02", "29"])),
    ("2023-12-31T23:30:00.000-01:00", Some(["2024", "01", "01"])),
    ("0001-01-01", Some(["0001", "01", "01"])),
    ("2023-02-29", None),
    ("2024-2-9", None),
    ("en", None),
    ("", None),
];
/// Paths that documents often have too.
const PAGES: [&str; 12] = [
    "/", "/a", "/b", "/en", "/de", "/a/b", "/en/a", "/de/a", "/en/a/b", "/a/a", "/a.html",
    "/%C3%A9",
];
/// The most ancestors of a page; documents may have one more.
const DEPTH: usize = 2;

/// One segment of a template, before its placeholder has a name.
#[derive(Clone, Debug)]
enum Shape {
    Static(String),
    Around(String, String),
    Plain,
    Optional,
    CatchAll,
}

/// The settings of a placeholder.
#[derive(Clone, Debug)]
struct PlaceholderSettings {
    name: &'static str,
    other_field: bool,
    ancestors: bool,
    constraint: Option<Constraint>,
}

/// A template; `{locale}` and optional segments are frequent.
fn template() -> impl Strategy<Value = Template> {
    let text = || generate::static_text(1..4);
    let shape = prop_oneof![
        4 => text().prop_map(Shape::Static),
        5 => Just(Shape::Plain),
        2 => (text(), text()).prop_map(|(a, b)| Shape::Around(a, b)),
        3 => Just(Shape::Optional),
        2 => Just(Shape::CatchAll),
    ];
    (prop::collection::vec(shape, 0..5), Just(NAMES).prop_shuffle())
        .prop_map(|(shapes, names)| written(&shapes, &names))
}

/// Writes segment after segment; a segment that the grammar does not allow there becomes a word.
fn written(shapes: &[Shape], names: &[&str]) -> Template {
    let mut text = String::new();
    for (at, (shape, name)) in shapes.iter().zip(names).enumerate() {
        let segment = match shape {
            Shape::Static(text) if text == "." || text == ".." => format!("{text}x"),
            Shape::Static(text) => text.clone(),
            Shape::Around(before, after) => format!("{before}{{{name}}}{after}"),
            Shape::Optional => format!("{{{name}?}}"),
            Shape::CatchAll if at + 1 == shapes.len() => format!("{{*{name}}}"),
            Shape::Plain | Shape::CatchAll => format!("{{{name}}}"),
        };
        let longer = format!("{text}/{segment}");
        text = if Template::parse(&longer).is_ok() { longer } else { format!("{text}/w") };
    }
    if text.is_empty() {
        text.push('/');
    }
    Template::parse(&text).unwrap()
}

fn templates() -> impl Strategy<Value = Templates> {
    let [en, de] = ["en", "de"].map(|code| Locale::parse(code).unwrap());
    let german = de.clone();
    prop_oneof![
        4 => template().prop_map(Templates::One),
        1 => template().prop_map(move |t| Templates::PerLocale(vec![(german.clone(), t)])),
        2 => (template(), template())
            .prop_map(move |(a, b)| Templates::PerLocale(vec![(de.clone(), a), (en.clone(), b)])),
    ]
}

fn constraint() -> impl Strategy<Value = Constraint> {
    let words = |words: &[&str]| Constraint::values(words.iter().map(|&w| w.to_owned())).unwrap();
    let patterns = ["[a-z]+", ".*", "en|a b|é", r"\d*", "[^/]+/.*|b"];
    let patterns = patterns.map(|pattern| Constraint::pattern(pattern).unwrap());
    let values = [words(&["a", "b", "en"]), words(&["de", "a.html", "a/b"])];
    prop::sample::select([&patterns[..], &values[..]].concat())
}

fn placeholder_settings() -> impl Strategy<Value = PlaceholderSettings> {
    let name = prop::sample::select(&["slug", "a", "path", "category.slug", "locale"][..]);
    let constraint = prop::option::of(constraint());
    (name, any::<bool>(), any::<bool>(), constraint).prop_map(
        |(name, other_field, ancestors, constraint)| {
            let other_field = other_field && name != "locale";
            PlaceholderSettings { name, other_field, ancestors, constraint }
        },
    )
}

fn rule() -> impl Strategy<Value = Rule> {
    let condition = prop::option::weighted(0.2, prop::sample::select(&["a", "en"][..]));
    let settings = prop::collection::vec(placeholder_settings(), 0..3);
    (prop::sample::select(&UIDS[..]), templates(), settings, condition).prop_map(
        |(uid, templates, settings, condition)| {
            let content_type = ContentTypeUid::parse(uid).unwrap();
            let conditions = condition.map(|word| Condition {
                field: FieldPath::parse("category.slug").unwrap(),
                equals: Literal::Text(word.to_owned()),
            });
            let conditions = conditions.into_iter().collect();
            let sitemap = SitemapOptions::default();
            let mut rule = Rule {
                content_type,
                templates,
                path_field: None,
                conditions,
                sitemap,
                title: None,
                redirect: None,
            };
            for settings in &settings {
                configure(&mut rule, settings);
            }
            rule
        },
    )
}

fn configure(rule: &mut Rule, settings: &PlaceholderSettings) {
    let segments = rule.templates().flat_map(|(_, template)| template.segments());
    let own = segments.filter(|s| s.placeholder().is_some_and(|p| p.name == settings.name));
    let catch_all = { own }.all(|segment| matches!(segment, Segment::CatchAll(_)));
    let field = |name| FieldPath::parse(name).unwrap();
    let source = match settings {
        PlaceholderSettings { ancestors: true, .. } if catch_all => {
            Some(Source::ancestors(&field("slug"), &field("parent"), DEPTH))
        }
        PlaceholderSettings { other_field: true, .. } => Some(Source::Field(field("other"))),
        _ => None,
    };
    // A name that no template has changes nothing.
    let _ =
        rule.set_param(settings.name, &Param { source, constraint: settings.constraint.clone() });
}

/// A site's rules, with the locales `en` and `de`.
pub(super) fn rule_set() -> impl Strategy<Value = RuleSet> {
    (rules(), generate::site_locales()).prop_map(|((rules, prefix, slash), locales)| {
        RuleSet::new(locales, prefix, rules).with_trailing_slash(slash)
    })
}

/// A site's rules and hosts.
pub(super) fn site() -> impl Strategy<Value = (RuleSet, Hosts)> {
    (rules(), generate::locales_and_hosts()).prop_map(compiled)
}

/// Sites where documents may have paths of their own, beside pages outside the CMS.
pub(super) fn site_with_own_paths() -> impl Strategy<Value = (RuleSet, Hosts)> {
    let field = prop::option::weighted(0.4, prop::sample::select(&["path", "a"][..]));
    let fields = prop::collection::vec(field, 6);
    let page = (prop::sample::select(&PAGES[..]), 0..2_usize);
    let pages = prop::collection::vec(page, 0..3);
    (rules(), generate::locales_and_hosts(), fields, pages).prop_map(
        |((mut rules, prefix, slash), site, fields, pages)| {
            for (rule, field) in rules.iter_mut().zip(fields) {
                rule.path_field = field.map(|field| FieldPath::parse(field).unwrap());
            }
            let (rules, hosts) = compiled(((rules, prefix, slash), site));
            let mut paths = PagePaths::new(hosts.by_locale());
            for (path, locale) in pages {
                paths.add(path, locale);
            }
            (rules.with_pages(paths), hosts)
        },
    )
}

type SiteRules = (Vec<Rule>, LocalePrefix, TrailingSlash);

fn compiled(
    ((rules, prefix, slash), (locales, hosts)): (SiteRules, (Locales, Hosts)),
) -> (RuleSet, Hosts) {
    let shared = locales.with_segment_of(locales.default_locale()).count() > 1;
    // Refused at start with one segment for both (D39).
    let prefix = if shared { LocalePrefix::Always } else { prefix };
    let rules = RuleSet::new(locales, prefix, rules).with_trailing_slash(slash);
    (rules.with_hosts(&hosts.by_locale()), hosts)
}

/// Rules with the settings of their site.
fn rules() -> impl Strategy<Value = SiteRules> {
    let prefix = prop::sample::select(&[LocalePrefix::Always, LocalePrefix::ExceptDefault][..]);
    (prop::collection::vec(rule(), 1..6), prefix, generate::trailing_slash())
}

/// A document with a date and ancestors beside the usual fields.
pub(super) fn document() -> impl Strategy<Value = Document<'static>> {
    let date = prop::sample::select(&DATES[..]).prop_map(|(date, _)| date.to_owned());
    let value = || {
        prop_oneof![
            5 => prop::sample::select(&["a", "b", "en", "de", "é"][..])
                .prop_map(|word| FieldValue::Text(word.into())),
            2 => generate::slug().prop_map(|text| FieldValue::Text(text.into())),
            2 => Just(FieldValue::Missing),
        ]
    };
    let id = || {
        prop_oneof![
            1 => Just(FieldValue::Missing),
            2 => "[a-z]{1,2}".prop_map(|text| FieldValue::Text(text.into())),
        ]
    };
    let parents = prop::collection::vec((id(), value()), DEPTH + 1);
    let own = prop::collection::vec(value(), 3);
    (generate::document(), date, own, parents).prop_map(|(mut document, date, own, parents)| {
        let mut more = vec![("on".to_owned(), FieldValue::Text(date.into()))];
        let [slug, a, other] = <[FieldValue; 3]>::try_from(own).unwrap();
        more.extend([("slug".into(), slug), ("a".into(), a), ("other".into(), other)]);
        for (up, (id, value)) in parents.into_iter().enumerate() {
            let path = "parent.".repeat(up + 1);
            more.extend([(format!("{path}documentId"), id), (format!("{path}slug"), value)]);
        }
        let (fields, values): (Vec<String>, Vec<FieldValue>) = more.into_iter().unzip();
        let fields = fields.iter().map(|field| FieldPath::parse(field).unwrap());
        // The first field of a name counts.
        document.fields = fields.chain(document.fields.iter().cloned()).collect::<Arc<_>>();
        document.values.splice(0..0, values);
        document
    })
}

/// The part of a generated date, if it is one.
pub(super) fn date_part(text: &str, part: DatePart) -> Option<String> {
    let (_, parts) = DATES.iter().find(|(date, _)| *date == text)?;
    parts.map(|[year, month, day]| match part {
        DatePart::Year => year.to_owned(),
        DatePart::Month => month.to_owned(),
        DatePart::Day => day.to_owned(),
    })
}

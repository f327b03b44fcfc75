//! `[[site.rule]]`: the content type, templates, params, conditions and sitemap options of a rule.

mod param;
mod patterns;
pub(in crate::config) mod row_ids;

pub(super) use patterns::Patterns;

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::config::value::{Kind, Origin, Value};
use crate::config::{Problems, table};
use frontend_map_rules::{
    Condition, ContentTypeUid, FieldPath, Literal, Locale, Locales, Rule, RuleSet, SitemapOptions,
    Template, Templates,
};

#[derive(Debug, Deserialize)]
struct RuleToml {
    content_type: String,
    template: TemplatesToml,
    path_field: Option<String>,
    /// Taken out before and deserialized one by one.
    #[serde(default, rename = "params")]
    _params: IgnoredAny,
    #[serde(default, rename = "where")]
    conditions: BTreeMap<String, Scalar>,
    #[serde(default = "yes")]
    sitemap: bool,
    #[serde(default)]
    exclude_when: BTreeMap<String, Scalar>,
    modified: Option<String>,
    title: Option<String>,
}

/// The URLs of a rule are in the sitemap by default.
fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be a template in quotes, or a table with one for each locale")]
enum TemplatesToml {
    One(String),
    PerLocale(BTreeMap<String, String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "must be text, a whole number, true or false")]
enum Scalar {
    Boolean(bool),
    Integer(i64),
    Text(String),
}

/// All rules of a site; `None`: one of them has a problem. Without `locales`, which have a problem
/// of their own, the locales of templates are not checked.
pub(super) fn read(
    values: Vec<Value>,
    place: &str,
    locales: Option<&Locales>,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Vec<Rule>> {
    let place = |at| format!("{place}, rule {}", at + 1);
    let read = |(at, value)| rule(value, &place(at), locales, patterns, problems);
    // All are read before the first `None` ends it, so that every problem is reported.
    let rules: Vec<Option<Rule>> = values.into_iter().enumerate().map(read).collect();
    rules.into_iter().collect()
}

/// The name of a rule in problems; `site` is the place of its site.
pub(super) fn place(site: &str, at: usize, rule: &Rule) -> String {
    format!("{site}, rule {} ({})", at + 1, rule.content_type)
}

/// Where a rule names its path field, if it does.
pub(super) fn path_field_origin(value: &Value) -> Option<Origin> {
    value.table().and_then(|table| Some(table.get("path_field")?.origin.clone()))
}

/// Refuses path fields on a site where the rules decide: only documents say which paths are theirs.
/// `origins` are those of each rule's path field.
pub(super) fn refuse_path_fields(
    rules: &RuleSet,
    origins: &[Option<Origin>],
    site: &str,
    problems: &mut Problems,
) {
    for at in rules.with_path_field() {
        let outer = problems.enter(origins.get(at).cloned().flatten());
        problems.add(
            &place(site, at, &rules.rules()[at]),
            "`path_field` needs resolve = \"documents\" in the site: add it there, or remove `path_field`",
        );
        problems.enter(outer);
    }
}

fn rule(
    value: Value,
    place: &str,
    locales: Option<&Locales>,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Rule> {
    let outer = problems.enter(Some(value.origin.clone()));
    let rule = rule_at_origin(value, place, locales, patterns, problems);
    problems.enter(outer);
    rule
}

fn rule_at_origin(
    mut value: Value,
    place: &str,
    locales: Option<&Locales>,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Rule> {
    let params = match &mut value.kind {
        Kind::Table(table) => table.insert("params".to_owned(), Value::empty()),
        _ => None,
    };
    let template = value.table().and_then(|table| Some(table.get("template")?.origin.clone()));
    let toml: RuleToml = table::one(value, "site.rule", place, problems)?;
    let place = format!("{place} ({})", toml.content_type);
    let content_type = problems.take(&place, ContentTypeUid::parse(&toml.content_type));
    let outer = problems.enter(template);
    let mut templates = templates(toml.template, locales, &place, problems);
    problems.enter(outer);
    param::read(params, templates.as_mut(), &place, patterns, problems);
    let path_field =
        toml.path_field.map(|field| field_path(&field, &format!("{place}, path_field"), problems));
    let conditions = conditions(toml.conditions, &format!("{place}, where"), problems);
    let sitemap = sitemap_options(toml.sitemap, toml.exclude_when, toml.modified, &place, problems);
    let title = toml.title.map(|field| field_path(&field, &format!("{place}, title"), problems));
    Some(Rule {
        content_type: content_type?,
        templates: templates?,
        path_field: path_field.map_or(Some(None), |field| field.map(Some))?,
        conditions: conditions?,
        sitemap: sitemap?,
        title: title.map_or(Some(None), |title| title.map(Some))?,
    })
}

fn sitemap_options(
    listed: bool,
    exclude_when: BTreeMap<String, Scalar>,
    modified: Option<String>,
    place: &str,
    problems: &mut Problems,
) -> Option<SitemapOptions> {
    let exclude_when = conditions(exclude_when, &format!("{place}, exclude_when"), problems);
    let modified = match modified {
        Some(field) => field_path(&field, &format!("{place}, modified"), problems),
        None => Some(SitemapOptions::default().modified),
    };
    Some(SitemapOptions { listed, exclude_when: exclude_when?, modified: modified? })
}

fn templates(
    toml: TemplatesToml,
    locales: Option<&Locales>,
    place: &str,
    problems: &mut Problems,
) -> Option<Templates> {
    match toml {
        TemplatesToml::One(text) => {
            problems.take(place, Template::parse(&text)).map(Templates::One)
        }
        TemplatesToml::PerLocale(templates) if templates.is_empty() => {
            problems.add(place, "`template` needs a template for at least one locale");
            None
        }
        TemplatesToml::PerLocale(templates) => {
            let mut read = Vec::new();
            for (code, text) in templates {
                let place = format!("{place}, template.{code}");
                let locale = problems.take(&place, Locale::parse(&code));
                if locale.is_some() && locales.is_some_and(|all| all.get(&code).is_none()) {
                    problems.add(&place, format_args!("the site has no locale `{code}`"));
                }
                read.push(locale.zip(problems.take(&place, Template::parse(&text))));
            }
            read.into_iter().collect::<Option<_>>().map(Templates::PerLocale)
        }
    }
}

fn conditions(
    toml: BTreeMap<String, Scalar>,
    place: &str,
    problems: &mut Problems,
) -> Option<Vec<Condition>> {
    let mut read = Vec::new();
    for (field, value) in toml {
        let equals = match value {
            Scalar::Text(text) => Literal::Text(text),
            Scalar::Integer(number) => Literal::Text(number.to_string()),
            Scalar::Boolean(value) => Literal::Boolean(value),
        };
        let field = field_path(&field, place, problems);
        read.push(field.map(|field| Condition { field, equals }));
    }
    read.into_iter().collect()
}

fn field_path(text: &str, place: &str, problems: &mut Problems) -> Option<FieldPath> {
    let path = FieldPath::parse(text);
    let names = "write it as the CMS names it, such as `slug` or `seo.handle`";
    problems
        .take(place, path.ok_or_else(|| format!("`{text}` is not the name of a field: {names}")))
}

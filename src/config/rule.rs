//! `[[site.rule]]`: content types, templates, what placeholders take, conditions, sitemap switches.

mod param;

pub(super) use param::Patterns;

use std::collections::BTreeMap;

use config::Value;
use serde::Deserialize;

use super::{Problems, section};
use crate::rules::{
    Condition, ContentTypeUid, FieldPath, Literal, Locale, Locales, Rule, Segment, Source,
    Switches, Template, Templates,
};
use param::{RawParam, param};

#[derive(Debug, Deserialize)]
struct Raw {
    content_type: String,
    template: RawTemplates,
    #[serde(default)]
    params: BTreeMap<String, RawParam>,
    #[serde(default, rename = "where")]
    conditions: BTreeMap<String, Scalar>,
    #[serde(default = "yes")]
    sitemap: bool,
    #[serde(default)]
    exclude_when: BTreeMap<String, Scalar>,
    modified: Option<String>,
}

/// Sitemaps list what a rule builds unless it says otherwise.
fn yes() -> bool {
    true
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum RawTemplates {
    One(String),
    PerLocale(BTreeMap<String, String>),
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Scalar {
    Boolean(bool),
    Integer(i64),
    Text(String),
}

/// All rules of a site, or `None` when one of them has a problem.
pub(super) fn read(
    values: Vec<Value>,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Vec<Rule>> {
    let read = |(at, value)| one(value, &format!("{place}, rule {}", at + 1), patterns, problems);
    // First all, so that every problem is told; then together.
    let rules: Vec<Option<Rule>> = values.into_iter().enumerate().map(read).collect();
    rules.into_iter().collect()
}

/// A template per locale is for locales of the site.
pub(super) fn check_locales(
    rules: &[Rule],
    locales: &Locales,
    place: &str,
    problems: &mut Problems,
) {
    for (at, rule) in rules.iter().enumerate() {
        for locale in rule.templates().filter_map(|(locale, _)| locale) {
            if locales.get(locale.as_str()).is_none() {
                problems.add(
                    &self::place(place, at, rule),
                    format_args!("the site has no locale `{locale}`"),
                );
            }
        }
    }
}

/// How a rule is called, in a site with this place.
pub(super) fn place(site: &str, at: usize, rule: &Rule) -> String {
    format!("{site}, rule {} ({})", at + 1, rule.content_type)
}

fn one(
    value: Value,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Rule> {
    let raw: Raw = section::one(value, place, problems)?;
    let place = format!("{place} ({})", raw.content_type);
    let content_type = problems.take(&place, ContentTypeUid::parse(&raw.content_type));
    let templates = templates(raw.template, &place, problems);
    let conditions = conditions(raw.conditions, &format!("{place}, where"), problems);
    let switches = switches(raw.sitemap, raw.exclude_when, raw.modified, &place, problems);
    let mut rule = Rule {
        content_type: content_type?,
        templates: templates?,
        conditions: conditions?,
        switches: switches?,
    };
    for (name, raw) in raw.params {
        let place = format!("{place}, params.{name}");
        let param = param(raw, &place, patterns, problems)?;
        if param.source.is_some() && ["locale", "documentId"].contains(&name.as_str()) {
            problems.add(&place, format_args!("`{name}` is reserved and has no other source"));
        } else if !rule.set_param(&name, &param) {
            problems.add(&place, "no template of the rule has this placeholder");
        } else if matches!(param.source, Some(Source::Ancestors(_)))
            && !all(&rule, &name, is_catch_all)
        {
            problems.add(&place, "`ancestors` needs a catch-all, `{*name}`");
        } else if matches!(param.source, Some(Source::Date(..)))
            && !all(&rule, &name, |segment| !is_catch_all(segment))
        {
            problems.add(&place, "a part of a date is one segment, not a catch-all");
        }
    }
    Some(rule)
}

fn switches(
    listed: bool,
    exclude_when: BTreeMap<String, Scalar>,
    modified: Option<String>,
    place: &str,
    problems: &mut Problems,
) -> Option<Switches> {
    let exclude_when = conditions(exclude_when, &format!("{place}, exclude_when"), problems);
    let modified = match modified {
        Some(field) => field_path(&field, &format!("{place}, modified"), problems),
        None => Some(Switches::default().modified),
    };
    Some(Switches { listed, exclude_when: exclude_when?, modified: modified? })
}

fn templates(raw: RawTemplates, place: &str, problems: &mut Problems) -> Option<Templates> {
    match raw {
        RawTemplates::One(text) => problems.take(place, Template::parse(&text)).map(Templates::One),
        RawTemplates::PerLocale(templates) if templates.is_empty() => {
            problems.add(place, "`template` needs a template for at least one locale");
            None
        }
        RawTemplates::PerLocale(templates) => {
            let mut read = Vec::new();
            for (code, text) in templates {
                let place = format!("{place}, template.{code}");
                let locale = problems.take(&place, Locale::parse(&code));
                read.push(locale.zip(problems.take(&place, Template::parse(&text))));
            }
            read.into_iter().collect::<Option<_>>().map(Templates::PerLocale)
        }
    }
}

fn conditions(
    raw: BTreeMap<String, Scalar>,
    place: &str,
    problems: &mut Problems,
) -> Option<Vec<Condition>> {
    let mut read = Vec::new();
    for (field, value) in raw {
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
    problems.take(place, path.ok_or_else(|| format!("`{text}` is not the name of a field")))
}

/// Whether this holds for every segment with the placeholder.
fn all(rule: &Rule, name: &str, holds: impl Fn(&Segment) -> bool) -> bool {
    let mut segments = rule.templates().flat_map(|(_, template)| template.segments());
    segments.all(|segment| segment.placeholder().is_none_or(|p| p.name != name) || holds(segment))
}

fn is_catch_all(segment: &Segment) -> bool {
    matches!(segment, Segment::CatchAll(_))
}

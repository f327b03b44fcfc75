//! `params.<name>`: which values a placeholder allows, and which field its value comes from.

use std::collections::BTreeSet;

use serde::Deserialize;

use super::field_path;
use super::patterns::Patterns;
use crate::config::value::{Kind, Value};
use crate::config::{Problems, table};
use frontend_map_rules::{Constraint, DatePart, Param, Segment, Source, Templates};

/// The default of `depth`: how many ancestors a page may have.
const DEFAULT_DEPTH: usize = 5;
/// The highest `depth` that can be set.
const MAX_DEPTH: usize = 8;
/// Strapi parses queries with at most 20 levels (the `depth` of qs): two for each relation on the
/// path, two for the field.
const MAX_RELATIONS: usize = 9;

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table such as { pattern = \"[a-z0-9-]+\" } or { field = \"handle\" }")]
struct ParamToml {
    pattern: Option<String>,
    values: Option<BTreeSet<String>>,
    field: Option<String>,
    ancestors: Option<String>,
    depth: Option<usize>,
}

/// Sets the params in the templates. Without `templates`, which have a problem of their own, only the
/// params themselves are checked.
pub(super) fn read(
    params: Option<Value>,
    mut templates: Option<&mut Templates>,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) {
    let params = match params {
        None => return,
        Some(Value { kind: Kind::Table(params), .. }) => params,
        Some(Value { origin, .. }) => {
            let what = "must be a table for each placeholder, such as params.slug = { pattern = \"[a-z]+\" }";
            return problems.add_written(&origin, &format!("{place}, params"), what);
        }
    };
    for (name, value) in params {
        let place = format!("{place}, params.{name}");
        let toml = table::one(value, "site.rule.params", &place, problems);
        let param = toml.and_then(|toml| param(toml, &place, patterns, problems));
        if name == "locale" {
            problems.add(&place, "`locale` is reserved; templates for single locales restrict it");
        } else if let Some(templates) = templates.as_deref_mut() {
            let result = match param {
                Some(param) => set(templates, &name, &param),
                None => has(templates, &name),
            };
            problems.take(&place, result);
        }
    }
}

fn set(templates: &mut Templates, name: &str, param: &Param) -> Result<(), &'static str> {
    has(templates, name)?;
    let catch_all = |wanted| {
        let mut all = segments(templates, name);
        all.all(|segment| matches!(segment, Segment::CatchAll(_)) == wanted)
    };
    match param.source {
        Some(_) if name == "documentId" => {
            return Err("`documentId` is reserved; its value cannot come from a field");
        }
        Some(Source::Ancestors(_)) if !catch_all(true) => {
            return Err("`ancestors` needs a catch-all, `{*name}`");
        }
        Some(Source::Date(..)) if !catch_all(false) => {
            return Err("a part of a date cannot be a catch-all");
        }
        _ => {}
    }
    // The templates have the placeholder, so this sets it.
    let _ = templates.set_param(name, param);
    Ok(())
}

fn has(templates: &Templates, name: &str) -> Result<(), &'static str> {
    let mut segments = segments(templates, name);
    segments.next().map(|_| ()).ok_or("no template of the rule has this placeholder")
}

fn segments<'t>(templates: &'t Templates, name: &str) -> impl Iterator<Item = &'t Segment> {
    let all = templates.iter().flat_map(|(_, template)| template.segments());
    all.filter(move |segment| segment.placeholder().is_some_and(|p| p.name == name))
}

/// Does not return early, so that all problems of a param are reported.
fn param(
    toml: ParamToml,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Param> {
    let constraint = match (toml.pattern, toml.values) {
        (None, None) => Some(None),
        (Some(pattern), None) => problems.take(place, patterns.get(pattern)).map(Some),
        (None, Some(values)) => problems.take(place, Constraint::values(values)).map(Some),
        (Some(_), Some(_)) => {
            problems.add(place, "`pattern` and `values` cannot be used together");
            None
        }
    };
    let source = match (toml.field, toml.ancestors, toml.depth) {
        (None, None, None) => Some(None),
        (Some(field), None, None) => source(&field, place, problems).map(Some),
        (Some(field), Some(parent), depth) => {
            ancestors([&field, &parent], depth, place, problems).map(Some)
        }
        _ => {
            problems.add(place, "`ancestors` needs `field`, and `depth` needs `ancestors`");
            None
        }
    };
    Some(Param { source: source?, constraint: constraint? })
}

/// A field, or with `:year`, `:month` or `:day` a part of a date.
fn source(text: &str, place: &str, problems: &mut Problems) -> Option<Source> {
    let Some((field, part)) = text.split_once(':') else {
        return field_path(text, place, problems).map(Source::Field);
    };
    let part = DatePart::parse(part).ok_or("the parts of a date are year, month and day");
    let part = problems.take(place, part)?;
    Some(Source::Date(field_path(field, place, problems)?, part))
}

fn ancestors(
    [field, parent]: [&str; 2],
    depth: Option<usize>,
    place: &str,
    problems: &mut Problems,
) -> Option<Source> {
    let [field, parent] = [field, parent].map(|text| field_path(text, place, problems));
    let (field, parent) = (field?, parent?);
    // One ancestor more than `depth` is read, to notice that a page has too many.
    let left = (MAX_RELATIONS + 1).saturating_sub(field.segments().len());
    let max = (left / parent.segments().len()).saturating_sub(1).min(MAX_DEPTH);
    let depth = depth.unwrap_or(DEFAULT_DEPTH.min(max));
    if max == 0 {
        problems.add(
            place,
            "the field of an ancestor is behind more relations than Strapi reads in one query",
        );
    } else if !(1..=max).contains(&depth) {
        problems.add(place, format_args!("`depth` must be between 1 and {max} here, for Strapi to read all ancestors in one query"));
    }
    Some(Source::ancestors(&field, &parent, depth.min(max)))
}

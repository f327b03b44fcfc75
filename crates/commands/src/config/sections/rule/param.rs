//! `params.<name>`: which values a placeholder allows, and which field its value comes from.

use std::collections::BTreeSet;

use config::Value;

use super::field_path;
use super::patterns::Patterns;
use crate::config::section::{Section, table};
use crate::config::value::{text, whole};
use frontend_map_rules::{Constraint, DatePart, Param, Segment, Source, Templates};

/// The default of `depth`: how many ancestors a page may have.
const DEFAULT_DEPTH: usize = 5;
/// The highest `depth` that can be set.
const MAX_DEPTH: usize = 8;
/// Strapi parses queries with at most 20 levels (the `depth` of qs): two for each relation on the
/// path, two for the field.
const MAX_RELATIONS: usize = 9;

/// Sets the params in the templates. Without `templates`, which have a problem of their own, only the
/// params themselves are checked.
pub(super) fn read(
    params: &Value,
    mut templates: Option<&mut Templates>,
    rule: &Section<'_>,
    patterns: &mut Patterns,
) {
    let Ok(params) = table(params) else {
        let what =
            "must be a table for each placeholder, such as params.slug = { pattern = \"[a-z]+\" }";
        return rule.problem("params", what);
    };
    for (name, value) in params {
        let place = rule.named(&format!("params.{name}"));
        let what = "a table such as { pattern = \"[a-z0-9-]+\" } or { field = \"handle\" }";
        let param = rule.entry("params", &place, &value, what, |param| one(param, patterns));
        let result = match (&mut templates, param) {
            _ if name == "locale" => {
                Err("`locale` is reserved; templates for single locales restrict it")
            }
            (Some(templates), Some(param)) => set(templates, &name, &param),
            (Some(templates), None) => has(templates, &name),
            (None, _) => Ok(()),
        };
        if let Err(what) = result {
            rule.reader.add(value.origin(), &place, what);
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

/// Does not return early, so that problems of all keys are reported. Keys that exclude each other are
/// not checked otherwise.
fn one(param: &mut Section<'_>, patterns: &mut Patterns) -> Option<Param> {
    // What is written, also where its value has a problem.
    let [has_pattern, has_values, has_field, has_parent, has_depth] =
        ["pattern", "values", "field", "ancestors", "depth"].map(|key| param.has(key));
    let pattern = param.optional("pattern", text);
    let before = param.reader.count();
    let values = param.each("values", |value| Ok::<_, String>(value.to_owned()));
    let values = (has_values && param.reader.count() == before).then_some(values);
    let [field, parent] = ["field", "ancestors"].map(|key| param.optional(key, text));
    let depth = param.optional("depth", whole(..));
    let constraint = match (pattern, values) {
        _ if has_pattern && has_values => {
            param.problem("", "`pattern` and `values` cannot be used together");
            None
        }
        (Some(pattern), _) => param.check("", patterns.get(pattern)),
        (_, Some(values)) => {
            let values: BTreeSet<String> = values.into_iter().collect();
            param.check("", Constraint::values(values))
        }
        (None, None) => None,
    };
    let source = if has_parent && !has_field || has_depth && !has_parent {
        param.problem("", "`ancestors` needs `field`, and `depth` needs `ancestors`");
        None
    } else if has_parent {
        ancestors([field, parent], depth, param)
    } else {
        field.and_then(|field| source(&field, param))
    };
    // Without the field that is written, the placeholder would have another source.
    (source.is_some() || !has_field).then_some(Param { source, constraint })
}

/// A field, or with `:year`, `:month` or `:day` a part of a date.
fn source(text: &str, param: &Section<'_>) -> Option<Source> {
    let Some((field, part)) = text.split_once(':') else {
        return field_path(param, "", text).map(Source::Field);
    };
    let part = DatePart::parse(part).ok_or("the parts of a date are year, month and day");
    let part = param.check("", part)?;
    Some(Source::Date(field_path(param, "", field)?, part))
}

fn ancestors(
    texts: [Option<String>; 2],
    depth: Option<usize>,
    param: &Section<'_>,
) -> Option<Source> {
    let [field, parent] = texts.map(|text| text.and_then(|text| field_path(param, "", &text)));
    let (field, parent) = (field?, parent?);
    // One ancestor more than `depth` is read, to notice that a page has too many.
    let left = (MAX_RELATIONS + 1).saturating_sub(field.segments().len());
    let max = (left / parent.segments().len()).saturating_sub(1).min(MAX_DEPTH);
    let depth = depth.unwrap_or(DEFAULT_DEPTH.min(max));
    if max == 0 {
        let what =
            "the field of an ancestor is behind more relations than Strapi reads in one query";
        param.problem("", what);
    } else if !(1..=max).contains(&depth) {
        let what = format_args!(
            "`depth` must be between 1 and {max} here, for Strapi to read all ancestors in one query"
        );
        param.problem("", what);
    }
    Some(Source::ancestors(&field, &parent, depth.min(max)))
}

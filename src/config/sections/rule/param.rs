//! `params.<name>`: what a placeholder takes, and where its value comes from.

use std::collections::{BTreeMap, BTreeSet};

use config::Value;
use serde::Deserialize;

use super::field_path;
use super::patterns::Patterns;
use crate::config::value::{Text, Whole};
use crate::config::{Problems, table};
use crate::rules::{Constraint, DatePart, Param, Segment, Source, Templates};

/// How many ancestors a page may have when the settings do not say.
const DEFAULT_DEPTH: usize = 5;
/// The most that can be set.
const MAX_DEPTH: usize = 8;
/// Strapi reads a query of at most 20 levels: two for each relation on the way, two for the field.
const MAX_RELATIONS: usize = 9;

#[derive(Debug, Default, Deserialize)]
#[serde(expecting = "a table such as { pattern = \"[a-z0-9-]+\" } or { field = \"handle\" }")]
struct RawParam {
    pattern: Option<Text>,
    values: Option<BTreeSet<Text>>,
    field: Option<Text>,
    ancestors: Option<Text>,
    depth: Option<Whole>,
}

/// Gives the templates what the settings say; what is wrong with them alone is told without any.
pub(super) fn read(
    params: BTreeMap<String, Value>,
    mut templates: Option<&mut Templates>,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) {
    for (name, value) in params {
        let place = format!("{place}, params.{name}");
        let raw = table::one(value, &place, problems);
        let param = raw.and_then(|raw| param(raw, &place, patterns, problems));
        if name == "locale" {
            problems.add(&place, "`locale` is reserved: a template for each locale bounds it");
        } else if let Some(templates) = templates.as_deref_mut() {
            let fits = match param {
                Some(param) => set(templates, &name, &param),
                None => has(templates, &name),
            };
            problems.take(&place, fits);
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
            return Err("`documentId` is reserved and has no other source");
        }
        Some(Source::Ancestors(_)) if !catch_all(true) => {
            return Err("`ancestors` needs a catch-all, `{*name}`");
        }
        Some(Source::Date(..)) if !catch_all(false) => {
            return Err("a part of a date is one segment, not a catch-all");
        }
        _ => {}
    }
    // It has the placeholder.
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

/// All problems of one are told, so nothing returns early.
fn param(
    raw: RawParam,
    place: &str,
    patterns: &mut Patterns,
    problems: &mut Problems,
) -> Option<Param> {
    let constraint = match (raw.pattern, raw.values) {
        (None, None) => Some(None),
        (Some(pattern), None) => problems.take(place, patterns.get(pattern.0)).map(Some),
        (None, Some(values)) => {
            let values = values.into_iter().map(|value| value.0);
            problems.take(place, Constraint::values(values)).map(Some)
        }
        (Some(_), Some(_)) => {
            problems.add(place, "it has `pattern` or `values`, not both");
            None
        }
    };
    let source = match (raw.field, raw.ancestors, raw.depth) {
        (None, None, None) => Some(None),
        (Some(field), None, None) => source(&field.0, place, problems).map(Some),
        (Some(field), Some(parent), depth) => {
            ancestors([&field.0, &parent.0], depth, place, problems).map(Some)
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
    depth: Option<Whole>,
    place: &str,
    problems: &mut Problems,
) -> Option<Source> {
    let [field, parent] = [field, parent].map(|text| field_path(text, place, problems));
    let (field, parent) = (field?, parent?);
    // One ancestor more is read, to see that there are too many.
    let left = (MAX_RELATIONS + 1).saturating_sub(field.segments().len());
    let most = (left / parent.segments().len()).saturating_sub(1).min(MAX_DEPTH);
    let depth = depth.map_or(DEFAULT_DEPTH.min(most), |depth| depth.0);
    if most == 0 {
        problems.add(place, "too many relations on the way to an ancestor's field for Strapi");
    } else if !(1..=most).contains(&depth) {
        problems.add(place, format_args!("`depth` is 1 to {most} here: what Strapi reads at once"));
    }
    Some(Source::ancestors(&field, &parent, depth.min(most)))
}

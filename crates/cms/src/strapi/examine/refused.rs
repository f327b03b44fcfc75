//! Finds out why Strapi refuses a field, with a token that may not read the schema.

use serde_json::Value;

use super::finding::{Fault, FieldUse, Finding, Purpose};
use super::{TypeUse, request, sample};
use crate::Strapi;
use crate::strapi::query_string::MAX_IN_ZONE;
use crate::{ContentError, ContentQuery, Projection, QueryPart, SetupProblem};
use frontend_map_rules::FieldPath;

/// The findings for a refused request for these fields.
pub(super) async fn explain(
    strapi: &Strapi,
    wanted: &TypeUse,
    fields: &[FieldUse],
    problem: SetupProblem,
) -> Result<Vec<Finding>, ContentError> {
    let findings = match &problem {
        SetupProblem::UnknownKey { key: Some(key), part, .. } => {
            let path = unknown(strapi, wanted, fields, key, *part).await?;
            path.map(|path| Finding::Field(path, Fault::Missing)).into_iter().collect()
        }
        SetupProblem::UnknownKey { key: None, .. } => dynamic_zones(strapi, wanted, fields).await?,
        SetupProblem::UnusableKey { key, part, .. } => {
            unusable(strapi, wanted, fields, key, *part).await?.into_iter().collect()
        }
        _ => Vec::new(),
    };
    Ok(if findings.is_empty() { vec![Finding::Setup(problem)] } else { findings })
}

/// What is wrong with an attribute that the request cannot use as it does. Strapi names the
/// relation or, as one of `populate` as well, the field behind a relation.
async fn unusable(
    strapi: &Strapi,
    wanted: &TypeUse,
    fields: &[FieldUse],
    key: &str,
    part: QueryPart,
) -> Result<Option<Finding>, ContentError> {
    let is_behind = part == QueryPart::Populate;
    let mut paths = paths_to(fields, key);
    let found = paths.find(|(path, _)| !is_behind || key != "locale" || path.contains('.'));
    let Some((path, purpose)) = found else { return Ok(None) };
    let is_field = fields.iter().any(|field| field.path.to_string() == path);
    let fault = match (is_behind, is_field) {
        (true, true) if key == "locale" => Fault::NotLocalized,
        (true, false) => Fault::NotARelation,
        _ => kind(strapi, wanted, &path, purpose).await?,
    };
    Ok(Some(Finding::Field(path, fault)))
}

/// The path to an unknown key. Strapi names the key alone: of several paths with that name, the
/// first that is refused by itself.
async fn unknown(
    strapi: &Strapi,
    wanted: &TypeUse,
    fields: &[FieldUse],
    key: &str,
    part: Option<QueryPart>,
) -> Result<Option<String>, ContentError> {
    let mut paths: Vec<String> = paths_to(fields, key).map(|(path, _)| path).collect();
    if part == Some(QueryPart::Fields) {
        paths.retain(|path| path == key);
    }
    let candidates = if paths.len() > 1 { &*paths } else { &[] };
    for path in candidates {
        let Some(alone) = FieldPath::parse(path) else { continue };
        match populate(strapi, wanted, alone).await {
            Err(ContentError::Setup(_)) => return Ok(Some(path.clone())),
            Err(error) => return Err(error),
            Ok(_) => {}
        }
    }
    Ok(paths.into_iter().next())
}

/// The paths that have this name, each up to it, with the purpose of the field.
fn paths_to<'f>(fields: &'f [FieldUse], key: &str) -> impl Iterator<Item = (String, Purpose)> + 'f {
    let key = key.to_owned();
    fields.iter().filter_map(move |field| {
        let segments = field.path.segments();
        let at = segments.iter().position(|name| **name == *key)?;
        Some((segments[..=at].join("."), field.purpose))
    })
}

/// Why an attribute cannot be used as a field, by requesting it like a relation.
async fn kind(
    strapi: &Strapi,
    wanted: &TypeUse,
    path: &str,
    purpose: Purpose,
) -> Result<Fault, ContentError> {
    let Some(id) = FieldPath::parse(&format!("{path}.id")) else { return Ok(Fault::Private) };
    match populate(strapi, wanted, id.clone()).await {
        Ok(Some(document)) => {
            let segments = &id.segments()[..id.segments().len() - 1];
            let is_list = matches!(sample::value(&document, segments), Some(Value::Array(_)));
            let is_to_many = is_list && !purpose.takes_lists();
            Ok(if is_to_many { Fault::ToMany } else { Fault::NotAField })
        }
        Ok(None) => Ok(Fault::NotAField),
        Err(ContentError::Setup(SetupProblem::UnknownKey { key: None, .. })) => {
            Ok(purpose.zone_fault())
        }
        Err(ContentError::Setup(_)) => Ok(Fault::Private),
        Err(error) => Err(error),
    }
}

/// The relations among the fields that are dynamic zones: Strapi refuses their fields without
/// naming them.
async fn dynamic_zones(
    strapi: &Strapi,
    wanted: &TypeUse,
    fields: &[FieldUse],
) -> Result<Vec<Finding>, ContentError> {
    let mut prefixes: Vec<(String, Purpose)> = Vec::new();
    for field in fields {
        let segments = field.path.segments();
        if field.purpose == Purpose::Links && segments.len() <= MAX_IN_ZONE {
            continue;
        }
        for end in 1..segments.len() {
            let prefix = segments[..end].join(".");
            if !prefixes.iter().any(|(known, _)| *known == prefix) {
                prefixes.push((prefix, field.purpose));
            }
        }
    }
    let mut findings: Vec<Finding> = Vec::new();
    for (prefix, purpose) in prefixes {
        let Some(id) = FieldPath::parse(&format!("{prefix}.id")) else { continue };
        if findings.iter().any(|finding| finding.is_about(&prefix)) {
            continue;
        }
        match populate(strapi, wanted, id).await {
            Err(ContentError::Setup(SetupProblem::UnknownKey { key: None, .. })) => {
                findings.push(Finding::Field(prefix, purpose.zone_fault()));
            }
            Ok(_) | Err(ContentError::Setup(_)) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(findings)
}

/// A document with this field alone.
async fn populate(
    strapi: &Strapi,
    wanted: &TypeUse,
    path: FieldPath,
) -> Result<Option<serde_json::Map<String, Value>>, ContentError> {
    let query = ContentQuery::new(wanted.uid.clone(), Projection::new(vec![path]));
    request(strapi, &query, &wanted.locale, false).await
}

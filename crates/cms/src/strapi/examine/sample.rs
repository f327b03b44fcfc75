//! Follows the fields of the settings through one sampled document.

use serde_json::{Map, Value};

use super::finding::{Fault, FieldUse, Finding, Purpose, fault_of_value};
use crate::SetupProblem;
use frontend_map_rules::{ContentTypeUid, FieldPath};

/// The document of a response: of a list the first. `Err`: the response has another shape.
pub(super) fn document(body: &str) -> Result<Option<Map<String, Value>>, ()> {
    let Ok(Value::Object(mut response)) = serde_json::from_str(body) else { return Err(()) };
    let data = match response.remove("data").ok_or(())? {
        Value::Array(rows) => rows.into_iter().next().unwrap_or_default(),
        data => data,
    };
    match data {
        Value::Null => Ok(None),
        Value::Object(document) => Ok(Some(document)),
        _ => Err(()),
    }
}

/// What the document shows about a field; `None`: nothing is wrong, or a `null` hides it.
pub(super) fn examine(
    document: &Map<String, Value>,
    uid: &ContentTypeUid,
    field: &FieldUse,
) -> Option<Finding> {
    let segments = field.path.segments();
    let mut level = document;
    for (at, name) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        let seen = segments[..=at].join(".");
        let Some(value) = level.get(&**name) else {
            // Only the first name was requested: with all that is below it.
            if field.purpose == Purpose::Links && at > 0 {
                return Some(Finding::Field(seen, Fault::NotSent));
            }
            return absent(uid, &seen, !is_last);
        };
        if is_last {
            let fault = fault_of_value(value, field.purpose)?;
            return Some(Finding::Field(seen, fault));
        }
        level = match value {
            Value::Object(next) => next,
            // A condition holds for a list if it holds for one of its items.
            Value::Array(items) if field.purpose.takes_lists() => {
                let item = items.first()?.as_object()?;
                // Each part of a dynamic zone has fields of its own.
                if item.contains_key("__component") {
                    return None;
                }
                item
            }
            Value::Array(_) => return Some(Finding::Field(seen, Fault::ToMany)),
            Value::Null => return None,
            _ => return Some(Finding::Field(seen, Fault::NotARelation)),
        };
    }
    None
}

/// The value at a path, through objects alone.
pub(super) fn value<'v>(document: &'v Map<String, Value>, path: &[Box<str>]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = document.get(&**first)?;
    if rest.is_empty() { Some(value) } else { self::value(value.as_object()?, rest) }
}

fn absent(uid: &ContentTypeUid, path: &str, is_relation: bool) -> Option<Finding> {
    let path = FieldPath::parse(path)?;
    Some(Finding::Setup(SetupProblem::AbsentKey {
        uid: uid.clone(),
        path,
        is_relation,
        target: None,
    }))
}

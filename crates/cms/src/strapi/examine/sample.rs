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

/// Whether a field can be used.
pub(super) enum Seen {
    Fine,
    Wrong(Finding),
    /// Nothing is behind this relation or component, so that the next relation is not seen.
    Hidden(FieldPath),
}

/// What the document shows about a field.
pub(super) fn examine(
    document: &Map<String, Value>,
    uid: &ContentTypeUid,
    field: &FieldUse,
) -> Seen {
    let segments = field.path.segments();
    let mut level = document;
    for (at, name) in segments.iter().enumerate() {
        let is_last = at + 1 == segments.len();
        let seen = segments[..=at].join(".");
        let Some(value) = level.get(&**name) else {
            // Only the first name was requested: with all that is below it.
            if field.purpose == Purpose::Links && at > 0 {
                return Seen::Wrong(Finding::Field(seen, Fault::NotSent));
            }
            return absent(uid, &seen, !is_last);
        };
        if is_last {
            let fault = fault_of_value(value, field.purpose);
            return fault.map_or(Seen::Fine, |fault| Seen::Wrong(Finding::Field(seen, fault)));
        }
        let hidden = || {
            // An ancestor has the type of the page. Strapi has no filter on what is in a dynamic zone,
            // which may have links.
            let leads_on = at + 2 < segments.len() && segments[at + 1] != *name;
            let relation = FieldPath::parse(&seen);
            let relation = relation.filter(|_| leads_on && field.purpose != Purpose::Links);
            relation.map_or(Seen::Fine, Seen::Hidden)
        };
        level = match value {
            Value::Object(next) => next,
            // A condition holds for a list if it holds for one of its items.
            Value::Array(items) if field.purpose.takes_lists() => {
                let has_next = |item: &&Value| has_something(item.get(&*segments[at + 1]));
                match items.iter().find(has_next).or(items.first()) {
                    None => return hidden(),
                    // Each part of a dynamic zone has fields of its own.
                    Some(Value::Object(item)) if !item.contains_key("__component") => item,
                    Some(_) => return Seen::Fine,
                }
            }
            Value::Array(_) => return Seen::Wrong(Finding::Field(seen, Fault::ToMany)),
            Value::Null => return hidden(),
            _ => return Seen::Wrong(Finding::Field(seen, Fault::NotARelation)),
        };
    }
    Seen::Fine
}

/// Whether a value is neither absent nor empty, as a relation without a document is.
pub(super) fn has_something(value: Option<&Value>) -> bool {
    match value {
        None | Some(Value::Null) => false,
        Some(Value::Array(items)) => !items.is_empty(),
        Some(_) => true,
    }
}

/// The value at a path, through objects alone.
pub(super) fn value<'v>(document: &'v Map<String, Value>, path: &[Box<str>]) -> Option<&'v Value> {
    let (first, rest) = path.split_first()?;
    let value = document.get(&**first)?;
    if rest.is_empty() { Some(value) } else { self::value(value.as_object()?, rest) }
}

fn absent(uid: &ContentTypeUid, path: &str, is_relation: bool) -> Seen {
    let Some(path) = FieldPath::parse(path) else { return Seen::Fine };
    let uid = uid.clone();
    Seen::Wrong(Finding::Setup(SetupProblem::AbsentKey { uid, path, is_relation, target: None }))
}

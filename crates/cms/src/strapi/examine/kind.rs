//! Which kinds of fields fit which purpose, by the schema's words and by sampled values.

use serde_json::Value;

use super::finding::{Fault, Purpose};

/// What is wrong with a field of this type of the schema at the end of a path.
pub(super) fn fault_of_type(kind: &str, purpose: Purpose) -> Option<Fault> {
    match (kind, purpose) {
        ("relation" | "component" | "media", _) => Some(Fault::NotAField),
        ("dynamiczone", purpose) => Some(purpose.zone_fault()),
        ("password", _) => Some(Fault::Private),
        ("decimal" | "float", Purpose::Placeholder) => Some(Fault::NotText("a decimal number")),
        ("boolean", Purpose::Placeholder) => Some(Fault::NotText("a boolean")),
        ("json" | "blocks", Purpose::Placeholder) => Some(Fault::NotText("JSON")),
        ("boolean", Purpose::Links) => Some(Fault::NoLinks("a boolean")),
        ("integer" | "biginteger" | "decimal" | "float", Purpose::Links) => {
            Some(Fault::NoLinks("a number"))
        }
        ("date" | "datetime" | "time" | "timestamp", Purpose::Links) => {
            Some(Fault::NoLinks("a date or a time"))
        }
        _ => None,
    }
}

/// What is wrong with a value at the end of a path.
pub(super) fn fault_of_value(value: &Value, purpose: Purpose) -> Option<Fault> {
    match (value, purpose) {
        (_, Purpose::Condition | Purpose::Date)
        | (Value::Null | Value::String(_), Purpose::Placeholder)
        | (Value::Null | Value::String(_) | Value::Array(_) | Value::Object(_), Purpose::Links) => {
            None
        }
        (Value::Number(_), Purpose::Links) => Some(Fault::NoLinks("a number")),
        (Value::Bool(_), Purpose::Links) => Some(Fault::NoLinks("a boolean")),
        (Value::Number(number), _) if number.is_i64() || number.is_u64() => None,
        (Value::Number(_), _) => Some(Fault::NotText("a decimal number")),
        (Value::Bool(_), _) => Some(Fault::NotText("a boolean")),
        (Value::Array(_) | Value::Object(_), _) => Some(Fault::NotText("JSON")),
    }
}

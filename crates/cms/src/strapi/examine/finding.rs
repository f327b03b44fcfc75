//! What is wrong between the settings and a content type of the CMS.

use std::fmt;

use serde_json::Value;

use crate::SetupProblem;
use frontend_map_rules::FieldPath;

/// What the settings need a field for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Purpose {
    /// A placeholder whose value is text or an integer.
    Placeholder,
    /// A part of a date, or the date of the last modification.
    Date,
    /// A condition.
    Condition,
    /// The links in its value, also through lists and dynamic zones.
    Links,
}

/// A field that the settings name.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct FieldUse {
    /// The field, or a field of a related document or component.
    pub path: FieldPath,
    /// What it is for.
    pub purpose: Purpose,
    /// Equal for the fields of one placeholder: if one is at fault, the others are not examined.
    pub group: usize,
}

/// What is wrong between the settings and a content type of the CMS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// The token, a permission, the endpoint or a relation.
    Setup(SetupProblem),
    /// The CMS has no such content type. With the most similar one, if there is a similar one.
    NoContentType(Option<String>),
    /// A field.
    Field(String, Fault),
}

/// Why a field cannot be used as the settings use it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Fault {
    /// There is no such field.
    Missing,
    /// The CMS never returns it.
    Private,
    /// A dynamic zone: components of several kinds.
    DynamicZone,
    /// A relation to many documents, or a repeatable component.
    ToMany,
    /// A relation, a component or media instead of a field of it.
    NotAField,
    /// A field instead of a relation or component.
    NotARelation,
    /// The locale of a related document whose content type is not localized.
    NotLocalized,
    /// A value that is neither text nor an integer, such as a decimal.
    NotText(&'static str),
    /// A dynamic zone without a field behind it, or with a path through it that is too long, where links
    /// are looked for.
    ZoneWithLinks,
    /// A value without links, such as a number.
    NoLinks(&'static str),
    /// The CMS has sent all fields of a component or relation, but not this one.
    NotSent,
}

impl Purpose {
    /// Whether a list on the way to the field is fine.
    pub(super) fn takes_lists(self) -> bool {
        matches!(self, Self::Condition | Self::Links)
    }

    /// What is wrong with a dynamic zone.
    pub(super) fn zone_fault(self) -> Fault {
        if self == Self::Links { Fault::ZoneWithLinks } else { Fault::DynamicZone }
    }
}

impl Finding {
    /// Whether a field at this path, or behind it, is what is wrong.
    pub(super) fn is_about(&self, path: &str) -> bool {
        let Self::Field(own, fault) = self else { return false };
        let rest = path.strip_prefix(own.as_str());
        let is_behind = rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'));
        // A relation that exists may have other fields that are fine.
        if *fault == Fault::NotAField { path == own } else { is_behind }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (path, fault) = match self {
            Self::Setup(problem) => return problem.fmt(f),
            Self::NoContentType(similar) => {
                f.write_str("the CMS has no such content type")?;
                return match similar {
                    Some(uid) => write!(f, "; did you mean `{uid}`?"),
                    None => f.write_str(": correct content_type in the settings"),
                };
            }
            Self::Field(path, fault) => (path, fault),
        };
        match fault {
            Fault::Missing => write!(f, "there is no field or relation `{path}`: correct the name"),
            Fault::Private => write!(
                f,
                "`{path}` is private, and Strapi never returns it: use another field, or remove `private` from its schema"
            ),
            Fault::DynamicZone => write!(
                f,
                "`{path}` is a dynamic zone, which has no single value: use a field of the type or of a component"
            ),
            Fault::ToMany => write!(
                f,
                "`{path}` is a list (a relation to many or a repeatable component), which has no single value: use a relation to one"
            ),
            Fault::NotAField => write!(
                f,
                "`{path}` is a relation, a component or media: name one of its fields, like `{path}.slug`"
            ),
            Fault::NotARelation => write!(
                f,
                "`{path}` is neither a relation nor a component, or it is private: a path cannot lead through it"
            ),
            Fault::NotLocalized => write!(
                f,
                "`{path}`: the content type of the related document is not localized: use another field"
            ),
            Fault::NotText(kind) => {
                write!(f, "`{path}` is {kind}: a placeholder needs text, an integer or a date")
            }
            Fault::ZoneWithLinks => write!(
                f,
                "`{path}` is a dynamic zone: name a field of its components, like `{path}.text`, or one a level deeper, but no deeper one"
            ),
            Fault::NoLinks(kind) => {
                write!(f, "`{path}` is {kind}, which has no links: name a text, Blocks or JSON")
            }
            Fault::NotSent => write!(
                f,
                "the CMS does not send `{path}`: correct the name; or it is private, or the token may not read it"
            ),
        }
    }
}

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

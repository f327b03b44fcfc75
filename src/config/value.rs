//! Values of settings as they are written, each with its origin: a line of the file or a variable.

use std::collections::BTreeMap;
use std::fmt;

/// Values by key.
pub(super) type Table = BTreeMap<String, Value>;

/// A value with its origin.
#[derive(Clone, Debug)]
pub(super) struct Value {
    pub(super) kind: Kind,
    pub(super) origin: Origin,
}

/// A value of a settings file, or the text of a variable.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    Boolean(bool),
    Integer(i128),
    Float(f64),
    Text(String),
    List(Vec<Value>),
    Table(Table),
}

/// Where a value is written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    /// A line of the settings file, counted from 1.
    Line(usize),
    /// An environment variable.
    Variable(String),
}

impl Origin {
    /// The line of the settings file, if it is one.
    pub(super) fn line(&self) -> Option<usize> {
        match self {
            Self::Line(line) => Some(*line),
            Self::Variable(_) => None,
        }
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(line) => write!(f, "line {line}"),
            Self::Variable(name) => f.write_str(name),
        }
    }
}

impl Value {
    /// An empty table that is not written anywhere.
    pub(super) fn empty() -> Self {
        Self { kind: Kind::Table(Table::new()), origin: Origin::Line(1) }
    }

    pub(super) fn text(&self) -> Option<&str> {
        match &self.kind {
            Kind::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(super) fn table(&self) -> Option<&Table> {
        match &self.kind {
            Kind::Table(table) => Some(table),
            _ => None,
        }
    }

    pub(super) fn list(&self) -> Option<&[Self]> {
        match &self.kind {
            Kind::List(list) => Some(list),
            _ => None,
        }
    }
}

/// The value without its origin: equal values have equal texts.
impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Boolean(value) => write!(f, "{value}"),
            Self::Integer(number) => write!(f, "{number}"),
            Self::Float(number) => write!(f, "{number:?}"),
            Self::Text(text) => write!(f, "{text:?}"),
            Self::List(list) => {
                f.write_str("[")?;
                list.iter().try_for_each(|value| write!(f, "{},", value.kind))?;
                f.write_str("]")
            }
            Self::Table(table) => {
                f.write_str("{")?;
                table.iter().try_for_each(|(key, value)| write!(f, "{key:?}:{},", value.kind))?;
                f.write_str("}")
            }
        }
    }
}

/// An address for a problem's text; one with an `@` is not shown, since it may have a password.
pub(super) fn shown_address(text: &str) -> String {
    if text.contains('@') { "its value".to_owned() } else { format!("`{}`", text.escape_debug()) }
}

//! Conditions on documents: `where = { section = "news" }`.

use crate::document::FieldValue;
use crate::template::FieldPath;

/// Requires that a field has exactly this value.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Condition {
    /// The field, or a field of a related document.
    pub field: FieldPath,
    /// The required value.
    pub equals: Literal,
}

/// A value in the settings.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Literal {
    /// Text, or an integer in decimal.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
}

impl Literal {
    /// The value as it is written in a filter of the CMS.
    pub fn as_str(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Boolean(true) => "true",
            Self::Boolean(false) => "false",
        }
    }
}

impl Condition {
    /// Whether a document's value is the required one. Of several values in a list, one is enough.
    pub fn holds(&self, value: &FieldValue<'_>) -> bool {
        self.outcome(value) == Some(true)
    }

    /// Whether it holds; `None`: that depends on an absent key (D32).
    pub fn outcome(&self, value: &FieldValue<'_>) -> Option<bool> {
        match (&self.equals, value) {
            (Literal::Text(required), FieldValue::Text(found)) => Some(required == found),
            (Literal::Boolean(required), FieldValue::Boolean(found)) => Some(required == found),
            (_, FieldValue::Absent(_)) => None,
            (_, FieldValue::List(values)) => {
                let mut outcomes = values.iter().map(|value| self.outcome(value));
                let known = values.iter().all(|value| value.absent_at().is_none());
                if outcomes.any(|outcome| outcome == Some(true)) {
                    Some(true)
                } else {
                    known.then_some(false)
                }
            }
            _ => Some(false),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{field, text};

    #[test]
    fn condition_holds_for_exactly_its_value() {
        let literal = |text: &str| Literal::Text(text.to_owned());
        for (equals, value, expected) in [
            (literal("news"), text("news"), true),
            (literal("news"), text("News"), false),
            (literal("7"), text("7"), true),
            (literal(""), FieldValue::Missing, false),
            (literal("true"), FieldValue::Boolean(true), false),
            (Literal::Boolean(true), FieldValue::Boolean(true), true),
            (Literal::Boolean(false), FieldValue::Boolean(false), true),
            (Literal::Boolean(true), FieldValue::Boolean(false), false),
            (Literal::Boolean(false), FieldValue::Missing, false),
            (Literal::Boolean(true), text("true"), false),
        ] {
            let condition = Condition { field: field("section"), equals };
            assert_eq!(condition.holds(&value), expected, "{condition:?} {value:?}");
        }
    }

    #[test]
    fn condition_on_a_list_holds_if_one_value_is_the_required_one() {
        let a = Condition { field: field("tags.slug"), equals: Literal::Text("a".to_owned()) };
        for (values, expected) in [
            (&[][..], Some(false)),
            (&[text("b"), FieldValue::NotText, FieldValue::Missing], Some(false)),
            (&[text("b"), text("a")], Some(true)),
            (&[FieldValue::Absent(0), text("a")], Some(true)),
            (&[FieldValue::Absent(0), text("b")], None),
        ] {
            let value = FieldValue::List(values.into());
            assert_eq!(a.outcome(&value), expected, "{values:?}");
            assert_eq!(a.holds(&value), expected == Some(true), "{values:?}");
        }
        assert_eq!(a.outcome(&FieldValue::Absent(1)), None);
    }

    #[test]
    fn literal_is_written_as_in_a_filter_of_the_cms() {
        let news = Literal::Text("news".to_owned());
        let written = [&news, &Literal::Boolean(true), &Literal::Boolean(false)];
        assert_eq!(written.map(Literal::as_str), ["news", "true", "false"]);
    }
}

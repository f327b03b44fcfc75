//! Keys that were requested from the CMS and are absent: the token may not read them (D32).

use std::fmt;

use crate::document::FieldValue;
use crate::template::FieldPath;

/// A key that was requested and that a document lacks. `Display` is the path up to this key.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct AbsentKey {
    /// The path of the field that is needed.
    pub field: FieldPath,
    /// The position of the key in that path, counted from 0.
    pub at: usize,
}

impl AbsentKey {
    /// The absent key of a value; `None`: the value is known.
    pub fn of(field: &FieldPath, value: &FieldValue<'_>) -> Option<Self> {
        value.absent_at().map(|at| Self { field: field.clone(), at })
    }

    /// The path that ends with the key.
    pub fn path(&self) -> FieldPath {
        self.field.up_to(self.at)
    }

    /// Whether the key is a relation or component, and not the field itself.
    pub fn leads_on(&self) -> bool {
        self.at + 1 < self.field.segments().len()
    }
}

impl fmt::Display for AbsentKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(&self.path(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures::{field, text};

    #[test]
    fn absent_key_is_named_up_to_the_level_where_it_is_absent() {
        let path = field("category.section.slug");
        for (at, name, leads_on) in [
            (0, "category", true),
            (1, "category.section", true),
            (2, "category.section.slug", false),
        ] {
            let key = AbsentKey::of(&path, &FieldValue::Absent(at)).unwrap();
            assert_eq!((key.to_string().as_str(), key.leads_on()), (name, leads_on));
        }
        for known in [FieldValue::Missing, text("x"), FieldValue::List(Box::default())] {
            assert_eq!(AbsentKey::of(&path, &known), None);
        }
    }
}

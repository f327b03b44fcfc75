//! From a document's values to a path (D13, D14).

use super::document::FieldValue;
use super::encode::encode;
use super::template::{FieldPath, Placeholder, Segment, Source, Template};
use super::usable::{Fault, Width, check};

/// Where a template's values come from.
pub trait Values {
    /// The locale's code; one of the site's, so it needs no check.
    fn locale(&self) -> &str;
    /// The `documentId`.
    fn document_id(&self) -> &str;
    /// The value of a field.
    fn field(&self, path: &FieldPath) -> &FieldValue;
}

/// The leftmost placeholder whose value cannot stand in a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{placeholder}_{fault}")]
pub struct Unusable {
    /// The placeholder as written.
    pub placeholder: String,
    /// What is wrong with its value.
    pub fault: Fault,
}

impl Template {
    /// The path that these values give: absolute, percent-encoded ASCII.
    ///
    /// # Errors
    /// [`Unusable`] for the leftmost placeholder without a usable value.
    pub fn path(&self, values: &impl Values) -> Result<String, Unusable> {
        if self.segments().is_empty() {
            return Ok("/".to_owned());
        }
        let mut path = String::new();
        for segment in self.segments() {
            path.push('/');
            push_segment(&mut path, segment, values)?;
        }
        Ok(path)
    }
}

fn push_segment(
    path: &mut String,
    segment: &Segment,
    values: &impl Values,
) -> Result<(), Unusable> {
    match segment {
        Segment::Static(text) => path.push_str(&encode(text)),
        Segment::Placeholder { prefix, placeholder, suffix } => {
            let value = usable([prefix, suffix], placeholder, Width::One, values)?;
            path.extend([prefix.as_str(), value, suffix].map(encode));
        }
        Segment::CatchAll(placeholder) => {
            let value = usable(["", ""], placeholder, Width::Many, values)?;
            let encoded: Vec<_> = value.split('/').map(encode).collect();
            path.push_str(&encoded.join("/"));
        }
    }
    Ok(())
}

fn usable<'v>(
    [before, after]: [&str; 2],
    placeholder: &Placeholder,
    width: Width,
    values: &'v impl Values,
) -> Result<&'v str, Unusable> {
    let value = match &placeholder.source {
        Source::Locale => Ok(values.locale()),
        Source::DocumentId => Ok(values.document_id()),
        Source::Field(path) => match values.field(path) {
            FieldValue::Text(text) => Ok(text.as_str()),
            FieldValue::Missing => Err(Fault::Missing),
            FieldValue::NotText => Err(Fault::NotString),
        },
    };
    value
        .and_then(|value| check(before, value, after, width).map(|()| value))
        .map_err(|fault| Unusable { placeholder: placeholder.name.clone(), fault })
}

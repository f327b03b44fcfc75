//! The value of a placeholder for a document.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use crate::document::FieldValue;
use crate::template::{AncestorStep, DatePart, FieldPath, Placeholder, Segment, Source};
use crate::url_safety::{Fault, Width, check, is_plain};

/// The source of a template's values.
pub trait TemplateValues {
    /// The segment of a locale of the site, which is always usable.
    fn locale_segment(&self) -> &str;
    /// The `documentId`.
    fn document_id(&self) -> &str;
    /// The value of a field.
    fn field(&self, path: &FieldPath) -> &FieldValue<'_>;
}

/// A value that can be used in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceholderValue<'v> {
    /// The value before percent-encoding.
    pub text: Cow<'v, str>,
    /// Whether the value is its own percent-encoding, as nearly all are.
    pub(super) plain: bool,
}

/// The value of a placeholder, or why it cannot be used between the text around the placeholder.
fn usable<'v>(
    [before, after]: [&str; 2],
    placeholder: &Placeholder,
    width: Width,
    values: &'v impl TemplateValues,
) -> Result<PlaceholderValue<'v>, Fault> {
    let text = raw(&placeholder.source, values)?;
    let plain = is_plain(&text);
    // Static text has no `%`, so a plain value completes no escape with it.
    if !plain {
        check(before, &text, after, width)?;
    }
    match &placeholder.constraint {
        Some(constraint) if !constraint.allows(&text) => Err(Fault::NotAllowed),
        _ => Ok(PlaceholderValue { text, plain }),
    }
}

impl Segment {
    /// The value of its placeholder, or why it cannot be used; `None` for static text.
    pub fn value<'v>(
        &self,
        values: &'v impl TemplateValues,
    ) -> Option<Result<PlaceholderValue<'v>, Fault>> {
        let width = if let Self::CatchAll(_) = self { Width::Many } else { Width::One };
        self.placeholder().map(|placeholder| usable(self.around(), placeholder, width, values))
    }
}

fn raw<'v>(source: &Source, values: &'v impl TemplateValues) -> Result<Cow<'v, str>, Fault> {
    match source {
        Source::Locale => Ok(values.locale_segment().into()),
        Source::DocumentId => Ok(values.document_id().into()),
        Source::Field(path) => text(values.field(path)).map(Cow::Borrowed),
        Source::Date(path, part) => {
            let date = date(text(values.field(path))?).ok_or(Fault::NotADate)?;
            Ok(part_of(date, *part).ok_or(Fault::NotADate)?.into())
        }
        Source::Ancestors(steps) => chain(steps, values).map(Cow::Owned),
    }
}

pub(super) fn text<'v>(value: &'v FieldValue<'_>) -> Result<&'v str, Fault> {
    match value {
        FieldValue::Text(text) => Ok(text),
        FieldValue::Missing | FieldValue::NullAt(_) | FieldValue::Absent(_) => Err(Fault::Missing),
        FieldValue::Boolean(_) | FieldValue::List(_) | FieldValue::NotText => Err(Fault::NotString),
    }
}

/// The date of an ISO 8601 date, or the UTC date of a timestamp, as Strapi writes them.
fn date(text: &str) -> Option<Date> {
    let utc_date = text.parse::<Timestamp>().map(|time| time.to_zoned(TimeZone::UTC).date());
    utc_date.or_else(|_| text.parse()).ok()
}

fn part_of(date: Date, part: DatePart) -> Option<String> {
    let text = match part {
        DatePart::Year => format!("{:04}", date.year()),
        DatePart::Month => format!("{:02}", date.month()),
        DatePart::Day => format!("{:02}", date.day()),
    };
    part.is_valid(&text).then_some(text)
}

/// The values from the topmost ancestor down to the document, joined by `/`.
fn chain(steps: &[AncestorStep], values: &impl TemplateValues) -> Result<String, Fault> {
    let mut ids = vec![values.document_id()];
    let mut parts = Vec::new();
    for (up, step) in steps.iter().enumerate() {
        if up > 0 {
            match (values.field(&step.id), values.field(&step.value)) {
                (
                    FieldValue::Missing | FieldValue::NullAt(_),
                    FieldValue::Missing | FieldValue::NullAt(_),
                ) => break,
                // There is an ancestor without a usable id.
                (id, _) => ids.push(text(id)?),
            }
        }
        if ids[..up].contains(&ids[up]) {
            return Err(Fault::AncestorCycle);
        }
        if up + 1 == steps.len() {
            return Err(Fault::TooManyAncestors);
        }
        let part = text(values.field(&step.value))?;
        check("", part, "", Width::One)?;
        parts.push(part);
    }
    parts.reverse();
    Ok(parts.join("/"))
}

//! The text that a document gives a placeholder.

#[cfg(test)]
mod tests;

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

use super::url_safety::{Fault, Width, check, is_plain};
use crate::rules::document::FieldValue;
use crate::rules::template::{AncestorStep, DatePart, FieldPath, Placeholder, Segment, Source};

/// Where a template's values come from.
pub trait TemplateValues {
    /// The locale's code; one of the site's, so it needs no check.
    fn locale(&self) -> &str;
    /// The `documentId`.
    fn document_id(&self) -> &str;
    /// The value of a field.
    fn field(&self, path: &FieldPath) -> &FieldValue<'_>;
}

/// A value that is usable in a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlaceholderValue<'v> {
    /// Raw.
    pub text: Cow<'v, str>,
    /// Whether it is its own encoding, as nearly all are.
    pub(super) plain: bool,
}

/// The value of a placeholder with the template's text around it, usable in a URL.
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
    /// The value that its placeholder has, usable in a URL or why not; `None` for static text.
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
        Source::Locale => Ok(values.locale().into()),
        Source::DocumentId => Ok(values.document_id().into()),
        Source::Field(path) => text(values.field(path)).map(Cow::Borrowed),
        Source::Date(path, part) => {
            let date = date(text(values.field(path))?).ok_or(Fault::NotADate)?;
            Ok(part_of(date, *part).ok_or(Fault::NotADate)?.into())
        }
        Source::Ancestors(steps) => chain(steps, values).map(Cow::Owned),
    }
}

fn text<'v>(value: &'v FieldValue<'_>) -> Result<&'v str, Fault> {
    match value {
        FieldValue::Text(text) => Ok(text),
        FieldValue::Missing => Err(Fault::Missing),
        FieldValue::Boolean(_) | FieldValue::NotText => Err(Fault::NotString),
    }
}

/// A date, or the UTC date of a point in time, as Strapi writes both (ISO 8601).
fn date(text: &str) -> Option<Date> {
    let moment = text.parse::<Timestamp>().map(|moment| moment.to_zoned(TimeZone::UTC).date());
    moment.or_else(|_| text.parse()).ok()
}

fn part_of(date: Date, part: DatePart) -> Option<String> {
    let text = match part {
        DatePart::Year => format!("{:04}", date.year()),
        DatePart::Month => format!("{:02}", date.month()),
        DatePart::Day => format!("{:02}", date.day()),
    };
    part.is_valid(&text).then_some(text)
}

/// The values on the way from the topmost ancestor down, joined by `/`.
fn chain(steps: &[AncestorStep], values: &impl TemplateValues) -> Result<String, Fault> {
    let mut ids = vec![values.document_id()];
    let mut parts = Vec::new();
    for (up, step) in steps.iter().enumerate() {
        if up > 0 {
            match (values.field(&step.id), values.field(&step.value)) {
                (FieldValue::Missing, FieldValue::Missing) => break,
                // There is an ancestor, of which nobody can say who it is.
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

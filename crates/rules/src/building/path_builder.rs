//! Builds the path of a document from a template and the document's values (D13, D14).

#[cfg(test)]
mod tests;

use super::PathForm;
use super::placeholder_value::{PlaceholderValue, TemplateValues};
use crate::document::FieldValue;
use crate::encode::push_encoded;
use crate::locale::{Locale, LocalePrefix, Locales};
use crate::rule::Rule;
use crate::template::{Placeholder, Segment, Source, Template};
use crate::url_safety::Fault;

/// The leftmost placeholder whose value cannot be used in a URL. `Display` is the reason's name
/// (D13).
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{placeholder}_{fault}")]
pub struct UnusableValue {
    /// The placeholder as written, or the path field of the rule. Where a relation or component in the
    /// path of a placeholder is null: the path up to that one.
    pub placeholder: String,
    /// What is wrong with the value.
    pub fault: Fault,
}

/// Why a rule builds no path for a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// A condition does not hold.
    Conditions,
    /// The rule has no template for the locale.
    Locale,
    /// A placeholder has no usable value.
    Unusable(UnusableValue),
}

/// One segment of a template, and its part of the path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltSegment<'t> {
    /// The segment.
    pub segment: &'t Segment,
    /// Its part of the path.
    pub output: SegmentOutput<'t>,
}

/// What a segment of a template contributes to a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentOutput<'t> {
    /// The text of a static segment.
    Static(&'t str),
    /// The value of the placeholder.
    Value(PlaceholderValue<'t>),
    /// Nothing: the path omits the segment.
    Omitted,
    /// The value cannot be used, so there is no path.
    Fault(Fault),
}

/// Builds a path segment by segment.
struct PathBuilder<'v, V> {
    locales: &'v Locales,
    values: &'v V,
    /// Whether the path omits `{locale}`.
    omits_locale: bool,
    /// Whether `{locale}` was omitted right before the next segment.
    after_locale: bool,
}

impl Rule {
    /// Writes the path for these values, under a locale of the site, to the empty `path`, and
    /// returns the template used. After an error, the content of `path` is unspecified.
    ///
    /// # Errors
    /// [`NoPath`]: conditions are checked first, then the own path, else the placeholders from left
    /// to right.
    pub(crate) fn write_path(
        &self,
        form: PathForm<'_>,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Result<&Template, NoPath> {
        if !self.conditions.iter().all(|condition| condition.holds(values.field(&condition.field)))
        {
            return Err(NoPath::Conditions);
        }
        let template = self.template(locale).ok_or(NoPath::Locale)?;
        if let Some(own) = self.write_own_path(template, form, locale, values, path) {
            return own.map(|()| template).map_err(NoPath::Unusable);
        }
        template.write_path(form, locale, values, path)?;
        Ok(template)
    }
}

impl Template {
    /// Writes the path for these values, under a locale of the site, to the empty `path`.
    ///
    /// # Errors
    /// [`NoPath::Unusable`], of the first placeholder from left to right.
    pub(crate) fn write_path(
        &self,
        form: PathForm<'_>,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Result<(), NoPath> {
        let PathForm { locales, prefix, trailing_slash } = form;
        let mut builder = PathBuilder::new(locales, prefix, locale, values);
        // An optional placeholder without a value: no optional one behind it may have a value.
        let mut missing: Option<&Placeholder> = None;
        let mut last = None;
        for segment in self.segments() {
            let placeholder = segment.placeholder();
            let optional = matches!(segment, Segment::Optional(_));
            match (builder.build(segment), placeholder) {
                (SegmentOutput::Fault(fault), Some(placeholder)) => {
                    return Err(NoPath::Unusable(unusable(placeholder, fault, values)));
                }
                (SegmentOutput::Value(_), _) if let (true, Some(missing)) = (optional, missing) => {
                    return Err(NoPath::Unusable(unusable(missing, Fault::Missing, values)));
                }
                (SegmentOutput::Static(text), _) => {
                    path.push('/');
                    push_encoded(path, text);
                    last = Some(segment);
                }
                (SegmentOutput::Value(value), _) => {
                    push(path, segment, &value);
                    last = Some(segment);
                }
                (SegmentOutput::Omitted, placeholder) if optional => {
                    missing = missing.or(placeholder);
                }
                (SegmentOutput::Omitted | SegmentOutput::Fault(_), _) => {}
            }
        }
        // Without segments it is `/`.
        if last.is_none_or(|last| trailing_slash.follows(last)) {
            path.push('/');
        }
        Ok(())
    }
}

/// What each segment of a template contributes to a path, including the segments behind a fault.
pub(crate) fn built_segments<'t>(
    template: &'t Template,
    locales: &'t Locales,
    prefix: LocalePrefix,
    locale: &Locale,
    values: &'t impl TemplateValues,
) -> Vec<BuiltSegment<'t>> {
    let mut builder = PathBuilder::new(locales, prefix, locale, values);
    let segments = template.segments().iter();
    let mut parts: Vec<BuiltSegment<'t>> =
        segments.map(|segment| BuiltSegment { segment, output: builder.build(segment) }).collect();
    let optional = |part: &BuiltSegment<'_>| matches!(part.segment, Segment::Optional(_));
    let last =
        parts.iter().rposition(|p| optional(p) && matches!(p.output, SegmentOutput::Value(_)));
    // An omitted optional segment before one with a value is a fault.
    let before = parts[..last.unwrap_or(0)].iter_mut();
    for part in before.filter(|part| optional(part) && part.output == SegmentOutput::Omitted) {
        part.output = SegmentOutput::Fault(Fault::Missing);
    }
    parts
}

fn unusable(
    placeholder: &Placeholder,
    fault: Fault,
    values: &impl TemplateValues,
) -> UnusableValue {
    let null_link = match &placeholder.source {
        Source::Field(path) | Source::Date(path, _) => match values.field(path) {
            FieldValue::NullAt(at) if at + 1 < path.segments().len() => {
                Some(path.up_to(*at).to_string())
            }
            _ => None,
        },
        Source::Locale | Source::DocumentId | Source::Ancestors(_) => None,
    };
    UnusableValue { placeholder: null_link.unwrap_or_else(|| placeholder.name.clone()), fault }
}

/// Appends the segment of a placeholder, or the segments of a catch-all.
pub(super) fn push(path: &mut String, segment: &Segment, value: &PlaceholderValue<'_>) {
    let [before, after] = segment.around();
    path.push('/');
    push_encoded(path, before);
    match segment {
        _ if value.plain => path.push_str(&value.text),
        Segment::CatchAll(_) => push_segments(path, &value.text),
        _ => push_encoded(path, &value.text),
    }
    push_encoded(path, after);
}

/// Appends the segments of a catch-all.
pub(super) fn push_segments(path: &mut String, text: &str) {
    for (at, text) in text.split('/').enumerate() {
        path.push_str(if at == 0 { "" } else { "/" });
        push_encoded(path, text);
    }
}

impl<'v, V: TemplateValues> PathBuilder<'v, V> {
    fn new(locales: &'v Locales, prefix: LocalePrefix, locale: &Locale, values: &'v V) -> Self {
        let omits_locale = prefix.omits(locales, locale);
        Self { locales, values, omits_locale, after_locale: false }
    }

    fn build(&mut self, segment: &'v Segment) -> SegmentOutput<'v> {
        if self.omits_locale && segment.is_locale() {
            self.after_locale = true;
            return SegmentOutput::Omitted;
        }
        let output = match (segment, segment.value(self.values)) {
            (Segment::Static(text), _) => SegmentOutput::Static(text),
            (Segment::Optional(_), Some(Err(Fault::Missing | Fault::Empty))) | (_, None) => {
                return SegmentOutput::Omitted;
            }
            (_, Some(Err(fault))) => SegmentOutput::Fault(fault),
            (_, Some(Ok(value)))
                if self.after_locale && self.begins_with_locale(segment, &value.text) =>
            {
                SegmentOutput::Fault(Fault::NotAllowed)
            }
            (_, Some(Ok(value))) => SegmentOutput::Value(value),
        };
        self.after_locale = false;
        output
    }

    /// The segment in the position of an omitted `{locale}` must not be a locale.
    fn begins_with_locale(&self, segment: &Segment, value: &str) -> bool {
        let [before, after] = segment.around();
        let text = [before, value, after].concat();
        text.split('/').next().is_some_and(|first| self.locales.of_segment(first).is_some())
    }
}

//! From a document's values to a path (D13, D14).

#[cfg(test)]
mod tests;

use super::placeholder_value::{PlaceholderValue, TemplateValues};
use super::url_safety::Fault;
use crate::rules::encode::push_encoded;
use crate::rules::locale::{Locale, LocalePrefix, Locales};
use crate::rules::rule::Rule;
use crate::rules::template::{Placeholder, Segment, Template};

/// The leftmost placeholder whose value cannot stand in a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{placeholder}_{fault}")]
pub struct UnusableValue {
    /// The placeholder as written.
    pub placeholder: String,
    /// What is wrong with its value.
    pub fault: Fault,
}

/// Why a rule has no path for a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum NoPath {
    /// It is not for such documents: a condition does not hold.
    Conditions,
    /// It has no template for the locale.
    Locale,
    /// A placeholder has no usable value.
    Unusable(UnusableValue),
}

/// One segment of a template and what came of it for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuiltSegment<'t> {
    /// The segment.
    pub segment: &'t Segment,
    /// What came of it.
    pub output: SegmentOutput<'t>,
}

/// What a segment of a template gives a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SegmentOutput<'t> {
    /// The text of a static segment.
    Static(&'t str),
    /// The value of its placeholder.
    Value(PlaceholderValue<'t>),
    /// Nothing: it is not in the path.
    LeftOut,
    /// There is no path.
    Fault(Fault),
}

/// Gives one segment after the other.
struct PathBuilder<'g, V> {
    locales: &'g Locales,
    values: &'g V,
    /// Whether `{locale}` is left out.
    bare: bool,
    /// Whether it was, right before.
    gap: bool,
}

impl Rule {
    /// Adds the path that these values give under a locale of the site to `path`, which is empty,
    /// and says which template it is from. After an error it holds anything.
    ///
    /// # Errors
    /// [`NoPath`]: the condition that does not hold comes first, then the leftmost placeholder
    /// without a usable value.
    pub(in crate::rules) fn write_path(
        &self,
        locales: &Locales,
        prefix: LocalePrefix,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Result<&Template, NoPath> {
        if !self.conditions.iter().all(|condition| condition.holds(values.field(&condition.field)))
        {
            return Err(NoPath::Conditions);
        }
        let template = self.template(locale).ok_or(NoPath::Locale)?;
        let mut giver = PathBuilder::new(locales, prefix, locale, values);
        // An optional placeholder without a value; the ones behind it may have none either.
        let mut missing: Option<&Placeholder> = None;
        for segment in template.segments() {
            let placeholder = segment.placeholder();
            let optional = matches!(segment, Segment::Optional(_));
            match (giver.give(segment), placeholder) {
                (SegmentOutput::Fault(fault), Some(placeholder)) => {
                    return Err(NoPath::Unusable(unusable(placeholder, fault)));
                }
                (SegmentOutput::Value(_), _) if let (true, Some(missing)) = (optional, missing) => {
                    return Err(NoPath::Unusable(unusable(missing, Fault::Missing)));
                }
                (SegmentOutput::Static(text), _) => {
                    path.push('/');
                    push_encoded(path, text);
                }
                (SegmentOutput::Value(value), _) => push(path, segment, &value),
                (SegmentOutput::LeftOut, placeholder) if optional => {
                    missing = missing.or(placeholder)
                }
                (SegmentOutput::LeftOut | SegmentOutput::Fault(_), _) => {}
            }
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(template)
    }
}

/// What each segment of a template gives a path, the ones behind a fault too.
pub(in crate::rules) fn built_segments<'t>(
    template: &'t Template,
    locales: &'t Locales,
    prefix: LocalePrefix,
    locale: &Locale,
    values: &'t impl TemplateValues,
) -> Vec<BuiltSegment<'t>> {
    let mut giver = PathBuilder::new(locales, prefix, locale, values);
    let segments = template.segments().iter();
    let mut parts: Vec<BuiltSegment<'t>> =
        segments.map(|segment| BuiltSegment { segment, output: giver.give(segment) }).collect();
    let optional = |part: &BuiltSegment<'_>| matches!(part.segment, Segment::Optional(_));
    let last =
        parts.iter().rposition(|p| optional(p) && matches!(p.output, SegmentOutput::Value(_)));
    // What is missing before one that is there is at fault.
    let before = parts[..last.unwrap_or(0)].iter_mut();
    for part in before.filter(|part| optional(part) && part.output == SegmentOutput::LeftOut) {
        part.output = SegmentOutput::Fault(Fault::Missing);
    }
    parts
}

fn unusable(placeholder: &Placeholder, fault: Fault) -> UnusableValue {
    UnusableValue { placeholder: placeholder.name.clone(), fault }
}

/// Adds the segment of a placeholder, or those of a catch-all.
fn push(path: &mut String, segment: &Segment, value: &PlaceholderValue<'_>) {
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

/// Adds the segments of a catch-all.
fn push_segments(path: &mut String, text: &str) {
    for (at, text) in text.split('/').enumerate() {
        path.push_str(if at == 0 { "" } else { "/" });
        push_encoded(path, text);
    }
}

impl<'g, V: TemplateValues> PathBuilder<'g, V> {
    fn new(locales: &'g Locales, prefix: LocalePrefix, locale: &Locale, values: &'g V) -> Self {
        let bare = prefix == LocalePrefix::ExceptDefault && locale == locales.default_locale();
        Self { locales, values, bare, gap: false }
    }

    fn give(&mut self, segment: &'g Segment) -> SegmentOutput<'g> {
        if self.bare && segment.is_locale() {
            self.gap = true;
            return SegmentOutput::LeftOut;
        }
        let given = match (segment, segment.value(self.values)) {
            (Segment::Static(text), _) => SegmentOutput::Static(text),
            (Segment::Optional(_), Some(Err(Fault::Missing | Fault::Empty))) | (_, None) => {
                return SegmentOutput::LeftOut;
            }
            (_, Some(Err(fault))) => SegmentOutput::Fault(fault),
            (_, Some(Ok(value))) if self.gap && self.begins_with_locale(segment, &value.text) => {
                SegmentOutput::Fault(Fault::NotAllowed)
            }
            (_, Some(Ok(value))) => SegmentOutput::Value(value),
        };
        self.gap = false;
        given
    }

    /// What stands where `{locale}` was left out may not look like a locale.
    fn begins_with_locale(&self, segment: &Segment, value: &str) -> bool {
        let [before, after] = segment.around();
        let text = [before, value, after].concat();
        text.split('/').next().is_some_and(|first| self.locales.get(first).is_some())
    }
}

//! From a document's values to a path (D13, D14).

use std::borrow::Cow;

use super::encode::encode;
use super::locale::{Locale, Locales};
use super::pattern::LocalePrefix;
use super::rule::Rule;
use super::template::{Placeholder, Segment, Template};
use super::usable::Fault;
use super::value::Values;

/// The leftmost placeholder whose value cannot stand in a URL.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{placeholder}_{fault}")]
pub struct Unusable {
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
    Unusable(Unusable),
}

/// A path and the template that gave it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Built<'r> {
    /// Absolute, percent-encoded ASCII.
    pub path: String,
    /// The template.
    pub template: &'r Template,
}

/// One segment of a template and what came of it for a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part<'t> {
    /// The segment.
    pub segment: &'t Segment,
    /// What came of it.
    pub given: Given<'t>,
}

/// What a segment of a template gives a path.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Given<'t> {
    /// Raw text: one segment, or of a catch-all several.
    Text(Cow<'t, str>),
    /// Nothing: it is not in the path.
    LeftOut,
    /// There is no path.
    Fault(Fault),
}

/// Gives one segment after the other.
struct Giver<'g, V> {
    locales: &'g Locales,
    values: &'g V,
    /// Whether `{locale}` is left out.
    bare: bool,
    /// Whether it was, right before.
    gap: bool,
}

impl Rule {
    /// The path that these values give under a locale of the site.
    ///
    /// # Errors
    /// [`NoPath`]: the condition that does not hold comes first, then the leftmost placeholder
    /// without a usable value.
    pub(super) fn path<'r>(
        &'r self,
        locales: &Locales,
        prefix: LocalePrefix,
        locale: &Locale,
        values: &impl Values,
    ) -> Result<Built<'r>, NoPath> {
        if !self.conditions.iter().all(|condition| condition.holds(values.field(&condition.field)))
        {
            return Err(NoPath::Conditions);
        }
        let template = self.template(locale).ok_or(NoPath::Locale)?;
        let mut giver = Giver::new(locales, prefix, locale, values);
        let mut path = String::new();
        // An optional placeholder without a value; the ones behind it may have none either.
        let mut missing: Option<&Placeholder> = None;
        for segment in template.segments() {
            let placeholder = segment.placeholder();
            let optional = matches!(segment, Segment::Optional(_));
            match (giver.give(segment), placeholder) {
                (Given::Fault(fault), Some(placeholder)) => {
                    return Err(NoPath::Unusable(unusable(placeholder, fault)));
                }
                (Given::Text(_), _) if let (true, Some(missing)) = (optional, missing) => {
                    return Err(NoPath::Unusable(unusable(missing, Fault::Missing)));
                }
                (Given::Text(text), _) => push(&mut path, &text),
                (Given::LeftOut, placeholder) if optional => missing = missing.or(placeholder),
                (Given::LeftOut | Given::Fault(_), _) => {}
            }
        }
        if path.is_empty() {
            path.push('/');
        }
        Ok(Built { path, template })
    }
}

/// What each segment of a template gives a path, the ones behind a fault too.
pub(super) fn parts<'t>(
    template: &'t Template,
    locales: &'t Locales,
    prefix: LocalePrefix,
    locale: &Locale,
    values: &'t impl Values,
) -> Vec<Part<'t>> {
    let mut giver = Giver::new(locales, prefix, locale, values);
    let segments = template.segments().iter();
    let mut parts: Vec<Part<'t>> =
        segments.map(|segment| Part { segment, given: giver.give(segment) }).collect();
    let optional = |part: &Part<'_>| matches!(part.segment, Segment::Optional(_));
    let last = parts.iter().rposition(|p| optional(p) && matches!(p.given, Given::Text(_)));
    // What is missing before one that is there is at fault.
    let before = parts[..last.unwrap_or(0)].iter_mut();
    for part in before.filter(|part| optional(part) && part.given == Given::LeftOut) {
        part.given = Given::Fault(Fault::Missing);
    }
    parts
}

fn unusable(placeholder: &Placeholder, fault: Fault) -> Unusable {
    Unusable { placeholder: placeholder.name.clone(), fault }
}

fn push(path: &mut String, text: &str) {
    for text in text.split('/') {
        path.push('/');
        path.push_str(&encode(text));
    }
}

impl<'g, V: Values> Giver<'g, V> {
    fn new(locales: &'g Locales, prefix: LocalePrefix, locale: &Locale, values: &'g V) -> Self {
        let bare = prefix == LocalePrefix::ExceptDefault && locale == locales.default_locale();
        Self { locales, values, bare, gap: false }
    }

    fn give(&mut self, segment: &'g Segment) -> Given<'g> {
        let around = match segment {
            Segment::Static(text) => {
                self.gap = false;
                return Given::Text(text.into());
            }
            Segment::Placeholder { prefix, suffix, .. } => [prefix.as_str(), suffix],
            Segment::Optional(_) | Segment::CatchAll(_) => ["", ""],
        };
        if self.bare && segment.is_locale() {
            self.gap = true;
            return Given::LeftOut;
        }
        let optional = matches!(segment, Segment::Optional(_));
        match segment.value(self.values) {
            Some(Err(Fault::Missing | Fault::Empty)) if optional => Given::LeftOut,
            Some(Err(fault)) => {
                self.gap = false;
                Given::Fault(fault)
            }
            Some(Ok(value)) if around == ["", ""] => self.behind_gap(value),
            Some(Ok(value)) => self.behind_gap([around[0], &value, around[1]].concat().into()),
            None => Given::LeftOut,
        }
    }

    /// What stands where `{locale}` was left out may not look like a locale.
    fn behind_gap(&mut self, text: Cow<'g, str>) -> Given<'g> {
        let gap = std::mem::replace(&mut self.gap, false);
        let first = text.split('/').next().unwrap_or_default();
        if gap && self.locales.get(first).is_some() {
            return Given::Fault(Fault::NotAllowed);
        }
        Given::Text(text)
    }
}

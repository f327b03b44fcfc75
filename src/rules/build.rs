//! From a document's values to a path (D13, D14).

use super::encode::encode;
use super::locale::{Locale, Locales};
use super::pattern::LocalePrefix;
use super::rule::Rule;
use super::template::{Placeholder, Segment, Template};
use super::usable::{Fault, Width};
use super::value::{Values, usable};

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

/// A path in the making: its segments as raw text, and encoded.
#[derive(Default)]
struct Draft {
    path: String,
    segments: usize,
    /// An optional placeholder without a value; the ones behind it may have none either.
    gap: Option<String>,
}

impl Rule {
    /// The path that these values give under a locale of the site.
    ///
    /// # Errors
    /// [`NoPath`]: the condition that does not hold comes first, then the leftmost placeholder
    /// without a usable value.
    pub(super) fn path(
        &self,
        locales: &Locales,
        prefix: LocalePrefix,
        locale: &Locale,
        values: &impl Values,
    ) -> Result<Built<'_>, NoPath> {
        if !self.conditions.iter().all(|condition| condition.holds(values.field(&condition.field)))
        {
            return Err(NoPath::Conditions);
        }
        let template = self.template(locale).ok_or(NoPath::Locale)?;
        let bare = prefix == LocalePrefix::ExceptDefault && locale == locales.default_locale();
        let mut draft = Draft::default();
        let mut bare_at = None;
        for segment in template.segments() {
            if bare && segment.is_locale() {
                bare_at = Some(draft.segments);
            } else {
                let not_locales = (bare_at == Some(draft.segments)).then_some(locales);
                draft.push(segment, not_locales, values).map_err(NoPath::Unusable)?;
            }
        }
        if draft.path.is_empty() {
            draft.path.push('/');
        }
        Ok(Built { path: draft.path, template })
    }
}

impl Draft {
    /// Adds one segment. With `not_locales` it stands where `{locale}` was left out.
    fn push(
        &mut self,
        segment: &Segment,
        not_locales: Option<&Locales>,
        values: &impl Values,
    ) -> Result<(), Unusable> {
        let refuse = |placeholder: &Placeholder, fault| Unusable {
            placeholder: placeholder.name.clone(),
            fault,
        };
        let (around, width) = match segment {
            Segment::Static(text) => {
                self.push_text(text);
                return Ok(());
            }
            Segment::Placeholder { prefix, suffix, .. } => ([prefix.as_str(), suffix], Width::One),
            Segment::Optional(_) => (["", ""], Width::One),
            Segment::CatchAll(_) => (["", ""], Width::Many),
        };
        let Some(placeholder) = segment.placeholder() else {
            return Ok(());
        };
        let value = match usable(around, placeholder, width, values) {
            Err(Fault::Missing | Fault::Empty) if matches!(segment, Segment::Optional(_)) => {
                self.gap.get_or_insert_with(|| placeholder.name.clone());
                return Ok(());
            }
            value => value.map_err(|fault| refuse(placeholder, fault))?,
        };
        if let (Some(gap), Segment::Optional(_)) = (&self.gap, segment) {
            return Err(Unusable { placeholder: gap.clone(), fault: Fault::Missing });
        }
        let text = [around[0], &value, around[1]].concat();
        let first = text.split('/').next().unwrap_or_default();
        if not_locales.is_some_and(|locales| locales.get(first).is_some()) {
            return Err(refuse(placeholder, Fault::NotAllowed));
        }
        text.split('/').for_each(|text| self.push_text(text));
        Ok(())
    }

    fn push_text(&mut self, text: &str) {
        self.path.push('/');
        self.path.push_str(&encode(text));
        self.segments += 1;
    }
}

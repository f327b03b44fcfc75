//! Templates whose paths do not show whether `{locale}` was omitted.

use std::collections::HashSet;

use super::RuleSet;
use crate::matching::pattern::Pattern;
use crate::template::{Segment, Template};

/// A template whose paths are ambiguous under `locale_prefix = "except-default"`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum AmbiguityError {
    /// `/{section?}/{locale}/{slug}`: `/de/x` is a German document without a section, or a document
    /// of the default locale with the section `de`.
    #[error(
        "template `{0}`: with locale_prefix = \"except-default\" an optional segment before {{locale}} could be taken for it"
    )]
    OptionalBefore(String),
    /// `/{locale}/de/{slug}`: the paths of the default locale begin with another locale.
    #[error(
        "template `{0}`: with locale_prefix = \"except-default\" `{1}` may not stand where {{locale}} is left out, as it is the segment of a locale"
    )]
    LocaleText(String, String),
}

impl RuleSet {
    /// The ambiguous templates, each once, with the position of the rule in the settings.
    pub fn ambiguities(&self) -> impl Iterator<Item = (usize, AmbiguityError)> {
        let mut seen = HashSet::new();
        let omitting =
            self.patterns.iter().filter_map(|pattern| Some((pattern, pattern.locale_omitted_at?)));
        let errors = omitting.filter_map(|(pattern, at)| {
            let template = self.template(pattern);
            Some((
                pattern.rule,
                optional_before(template).or_else(|| self.locale_text(pattern, at))?,
            ))
        });
        let mut errors: Vec<_> = errors.filter(|error| seen.insert(error.clone())).collect();
        errors.sort_by_key(|(rule, _)| *rule);
        errors.into_iter()
    }

    fn locale_text(&self, pattern: &Pattern, at: usize) -> Option<AmbiguityError> {
        let Segment::Static(text) = pattern.segments.get(at)? else {
            return None;
        };
        let locale = self.locales.of_segment(text)?;
        Some(AmbiguityError::LocaleText(
            self.template(pattern).to_string(),
            locale.segment().to_owned(),
        ))
    }
}

fn optional_before(template: &Template) -> Option<AmbiguityError> {
    let before = template.segments().iter().take_while(|segment| !segment.is_locale());
    let optional = { before }.any(|segment| matches!(segment, Segment::Optional(_)));
    optional.then(|| AmbiguityError::OptionalBefore(template.to_string()))
}

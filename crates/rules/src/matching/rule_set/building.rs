//! What the rules of a site build from the values of a document.

use super::RuleSet;
use crate::building::{BuiltSegment, NoPath, TemplateValues, built_segments};
use crate::locale::Locale;
use crate::rule::Rule;
use crate::template::Template;

impl RuleSet {
    /// Writes the path that a rule of this site builds from these values, under one of the site's
    /// locales, to the empty `path`, and returns the template used. After an error, the content of
    /// `path` is unspecified.
    ///
    /// # Errors
    /// [`NoPath`]: why the rule builds none.
    pub fn write_path<'r>(
        &self,
        rule: &'r Rule,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Result<&'r Template, NoPath> {
        rule.write_path(self.path_form(), locale, values, path)
    }

    /// What each segment of a template of this site becomes with these values, under one of the
    /// site's locales.
    pub fn built_segments<'t>(
        &'t self,
        template: &'t Template,
        locale: &Locale,
        values: &'t impl TemplateValues,
    ) -> Vec<BuiltSegment<'t>> {
        built_segments(template, &self.locales, self.prefix, locale, values)
    }
}

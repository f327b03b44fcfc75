//! The rules of one site: which one a pathname belongs to, and which ones build a type's URLs.

use super::locale::Locales;
use super::matcher::{Match, Mismatch, match_template};
use super::pathname::Pathname;
use super::precedence::ranks;
use super::template::{FieldPath, Source, Template};
use super::uid::ContentTypeUid;

/// A content type and the template of its URLs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rule {
    /// The content type.
    pub content_type: ContentTypeUid,
    /// The template.
    pub template: Template,
}

/// The rules of one site with the site's locales.
#[derive(Clone, Debug)]
pub struct RuleSet {
    locales: Locales,
    /// In the order of the settings, which decides what builds a URL (D12).
    rules: Vec<Rule>,
    /// Indices into `rules` in the order of evaluation, which decides what matches (D8).
    evaluation: Vec<usize>,
}

/// A rule that was considered for a pathname and does not match it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// Why it does not match.
    pub mismatch: Mismatch,
}

impl RuleSet {
    /// Takes the rules in the order of the settings.
    #[must_use]
    pub fn new(locales: Locales, rules: Vec<Rule>) -> Self {
        let mut evaluation: Vec<usize> = (0..rules.len()).collect();
        // Stable: rules of equal shape keep the order of the settings.
        evaluation.sort_by_cached_key(|&at| ranks(&rules[at].template));
        Self { locales, rules, evaluation }
    }

    /// The site's locales.
    #[must_use]
    pub fn locales(&self) -> &Locales {
        &self.locales
    }

    /// All rules in the order of evaluation.
    pub fn in_order(&self) -> impl Iterator<Item = &Rule> {
        self.evaluation.iter().map(|&at| &self.rules[at])
    }

    /// The first rule in the order of evaluation that matches.
    #[must_use]
    pub fn find(&self, pathname: &Pathname<'_>) -> Option<(&Rule, Match<'_>)> {
        self.in_order().find_map(|rule| {
            let found = match_template(&rule.template, pathname, &self.locales).ok()?;
            Some((rule, found))
        })
    }

    /// The rules that do not match a pathname, in the order of evaluation.
    pub fn candidates(&self, pathname: &Pathname<'_>) -> impl Iterator<Item = Candidate<'_>> {
        self.in_order().filter_map(|rule| {
            let mismatch = match_template(&rule.template, pathname, &self.locales).err()?;
            Some(Candidate { rule, mismatch })
        })
    }

    /// The rules of one content type, in the order of the settings.
    pub fn of_type(&self, uid: &str) -> impl Iterator<Item = &Rule> {
        self.rules.iter().filter(move |rule| rule.content_type.as_str() == uid)
    }

    /// The content types that have a rule, each once, in the order of the settings.
    #[must_use]
    pub fn content_types(&self) -> Vec<&ContentTypeUid> {
        let mut types: Vec<&ContentTypeUid> = Vec::new();
        for rule in &self.rules {
            if !types.contains(&&rule.content_type) {
                types.push(&rule.content_type);
            }
        }
        types
    }

    /// The fields that a type's rules need, each once.
    #[must_use]
    pub fn fields(&self, uid: &str) -> Vec<FieldPath> {
        let mut fields = Vec::new();
        for placeholder in self.of_type(uid).flat_map(|rule| rule.template.placeholders()) {
            match &placeholder.source {
                Source::Field(path) if !fields.contains(path) => fields.push(path.clone()),
                _ => {}
            }
        }
        fields
    }
}

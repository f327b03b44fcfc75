//! The rules of one site: which one a pathname belongs to, and which ones build a type's URLs.

#[cfg(test)]
mod tests;

mod ambiguity;
mod ties;
mod types;

pub use ambiguity::AmbiguityError;

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::captures::{MatchData, MatchTable, Params};
use super::linear::{Mismatch, match_pattern};
use super::pattern::{Pattern, patterns};
use super::precedence::ranks;
use super::trie::Trie;
use crate::rules::building::{BuiltSegment, NoPath, TemplateValues, built_segments};
use crate::rules::locale::{Locale, LocalePrefix, Locales};
use crate::rules::pathname::Pathname;
use crate::rules::rule::{Condition, Rule};
use crate::rules::template::{FieldPath, Template};
use crate::rules::uid::ContentTypeUid;
use types::Types;

/// The most steps that a pathname may cost. A step looks at one node or one edge, and takes 0.1 µs
/// when all of it has to come from main memory: half a millisecond.
const MAX_COST: u32 = 5_000;

/// Rules that could make a look-up slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a pathname could make the service look at {cost} places in the rules, and {MAX_COST} are allowed: too many rules have a placeholder where others have another text, pattern or set of values (a pattern with ASCII classes or a bound on its length costs less)"
)]
pub struct TooCostly {
    /// The most steps that a pathname can cost.
    pub cost: u32,
}

/// The rules of one site with the site's locales.
#[derive(Clone, Debug)]
pub struct RuleSet {
    locales: Locales,
    prefix: LocalePrefix,
    /// In the order of the settings, which decides what builds a URL (D12).
    rules: Vec<Rule>,
    /// The positions of each type's rules.
    types: Types,
    /// In the order of evaluation, which decides what matches (D8).
    pub(in crate::rules) patterns: Vec<Pattern>,
    /// The same, compiled.
    pub(super) trie: Trie,
    /// What a match of each of them says.
    places: MatchTable,
}

/// A rule that matches a pathname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template of it that matches.
    pub template: &'a Template,
    /// Its placeholders and their values.
    pub params: Params<'a>,
    /// The locale of the pathname, if it says one.
    pub locale: Option<&'a Locale>,
    /// The locales that it can have, where several have the same template and nothing in the
    /// pathname says which; else none.
    pub shared: &'a [Locale],
}

/// A rule that was considered for a pathname and does not match it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template that was considered.
    pub template: &'a Template,
    /// Why it does not match.
    pub mismatch: Mismatch,
}

impl RuleSet {
    /// Takes the rules in the order of the settings.
    #[must_use]
    pub fn new(locales: Locales, prefix: LocalePrefix, mut rules: Vec<Rule>) -> Self {
        for rule in &mut rules {
            rule.sort_templates(&locales);
        }
        let default = locales.default_locale();
        let default = (prefix == LocalePrefix::ExceptDefault).then_some(default);
        let compile = |(at, rule)| patterns(at, rule, default);
        let mut patterns: Vec<Pattern> = rules.iter().enumerate().flat_map(compile).collect();
        // Stable: patterns of equal shape keep the order of the settings.
        patterns.sort_by_cached_key(|pattern| ranks(&pattern.segments));
        let trie = Trie::new(&patterns);
        let places = MatchTable::new(&patterns, &locales);
        let types = Types::new(&rules);
        Self { locales, prefix, rules, types, patterns, trie, places }
    }

    /// Refuses rules of which so many can match one pathname that finding the first could be slow.
    ///
    /// # Errors
    /// [`TooCostly`], with what it could cost.
    pub fn check_cost(&self) -> Result<(), TooCostly> {
        let cost = self.trie.cost();
        if cost > MAX_COST { Err(TooCostly { cost }) } else { Ok(()) }
    }

    /// The site's locales.
    #[must_use]
    pub fn locales(&self) -> &Locales {
        &self.locales
    }

    /// All rules in the order of the settings.
    #[must_use]
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// All patterns in the order of evaluation.
    pub(in crate::rules) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// All templates with their rules in the order of evaluation; a template with more than one
    /// form stands in it more than once.
    pub fn in_order(&self) -> impl Iterator<Item = (&Rule, &Template)> {
        self.patterns.iter().map(|pattern| (&self.rules[pattern.rule], self.template(pattern)))
    }

    /// The template that a pattern is a form of.
    pub(in crate::rules) fn template(&self, pattern: &Pattern) -> &Template {
        self.rules[pattern.rule].nth_template(pattern.template)
    }

    /// The first pattern in the order of evaluation that matches.
    #[must_use]
    #[inline]
    pub fn find<'a>(&'a self, pathname: &'a Pathname<'_>) -> Option<Match<'a>> {
        Some(self.matched(self.first_place(pathname)?, pathname))
    }

    /// The match of the pattern at a place that matches.
    #[inline]
    fn matched<'a>(&'a self, place: usize, pathname: &'a Pathname<'_>) -> Match<'a> {
        let MatchData { rule, params, locale, shared } =
            self.places.said(place, pathname, &self.locales);
        let template = self.template(&self.patterns[place]);
        Match { rule: &self.rules[rule], template, params, locale, shared }
    }

    /// The place of the first pattern that matches.
    pub(in crate::rules) fn first_place(&self, pathname: &Pathname<'_>) -> Option<usize> {
        self.trie.find(pathname, &self.locales)
    }

    /// The templates that do not match a pathname, in the order of evaluation, each once: one with
    /// several forms where its first is, with the reason of that.
    pub fn candidates(&self, pathname: &Pathname<'_>) -> impl Iterator<Item = Candidate<'_>> {
        let mut seen = FxHashSet::default();
        let first = move |pattern: &&Pattern| seen.insert((pattern.rule, pattern.template));
        self.patterns.iter().filter(first).filter_map(|pattern| {
            let mismatch = match_pattern(pattern, pathname, &self.locales).err()?;
            let rule = &self.rules[pattern.rule];
            Some(Candidate { rule, template: self.template(pattern), mismatch })
        })
    }

    /// Adds the path that a rule of this site gives for these values under one of the site's
    /// locales to `path`, which is empty, and says which template it is from. After an error it
    /// holds anything.
    ///
    /// # Errors
    /// [`NoPath`]: why the rule has none.
    pub fn write_path<'r>(
        &self,
        rule: &'r Rule,
        locale: &Locale,
        values: &impl TemplateValues,
        path: &mut String,
    ) -> Result<&'r Template, NoPath> {
        rule.write_path(&self.locales, self.prefix, locale, values, path)
    }

    /// What each segment of a template of this site gives the path for these values, under one of
    /// the site's locales.
    pub fn built_segments<'t>(
        &'t self,
        template: &'t Template,
        locale: &Locale,
        values: &'t impl TemplateValues,
    ) -> Vec<BuiltSegment<'t>> {
        built_segments(template, &self.locales, self.prefix, locale, values)
    }

    /// The rules of one content type, in the order of the settings.
    pub fn of_type(&self, uid: &str) -> impl Iterator<Item = &Rule> {
        self.positions_of_type(uid).map(|at| &self.rules[at])
    }

    /// Their positions in the settings.
    pub fn positions_of_type(&self, uid: &str) -> impl Iterator<Item = usize> {
        self.types.of(uid).iter().map(|at| *at as usize)
    }

    /// The content types that have a rule, each once, in the order of the settings.
    #[must_use]
    pub fn content_types(&self) -> Vec<&ContentTypeUid> {
        self.types.first_rules().map(|at| &self.rules[at].content_type).collect()
    }

    /// The documents that a type's rules are for: those for which all conditions of one of these
    /// hold. Empty when a rule is for all of them.
    #[must_use]
    pub fn alternatives(&self, uid: &str) -> Vec<Vec<Condition>> {
        if self.of_type(uid).any(|rule| rule.conditions.is_empty()) {
            return Vec::new();
        }
        each_once(self.of_type(uid).map(|rule| &rule.conditions))
    }

    /// The fields that a type's rules need for a URL, each once.
    #[must_use]
    pub fn fields(&self, uid: &str) -> Vec<FieldPath> {
        each_once(self.of_type(uid).flat_map(Rule::fields))
    }

    /// The fields that a type's rules need for a list of URLs, each once.
    #[must_use]
    pub fn listing_fields(&self, uid: &str) -> Vec<FieldPath> {
        let fields = |rule| Rule::fields(rule).chain(rule.sitemap.fields());
        each_once(self.of_type(uid).flat_map(fields))
    }
}

fn each_once<'a, T: Clone + Eq + Hash + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut seen = FxHashSet::default();
    all.filter(|one| seen.insert(*one)).cloned().collect()
}

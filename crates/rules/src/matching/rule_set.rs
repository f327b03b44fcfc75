//! The rules of one site: which one matches a pathname, and which ones build the URLs of a content
//! type.

mod ambiguity;
mod default_locale;
mod hosts;
mod match_of_rule;
mod own_path;
#[cfg(test)]
mod tests;
mod ties;
mod types;

use std::hash::Hash;

use rustc_hash::FxHashSet;

use super::captures::{MatchData, MatchTable, Params};
use super::linear::{Mismatch, match_pattern};
use super::pattern::{Pattern, patterns};
use super::specificity::specificity;
use super::trie::Trie;
use crate::building::{
    BuiltSegment, NoPath, PathForm, TemplateValues, TrailingSlash, built_segments,
};
use crate::locale::{Locale, LocalePrefix, Locales, SiteLocale};
use crate::page_paths::{PagePaths, PageValues};
use crate::pathname::Pathname;
use crate::rule::{Condition, Rule};
use crate::template::{FieldPath, Template};
use crate::uid::ContentTypeUid;
use types::Types;

pub use ambiguity::AmbiguityError;
pub use match_of_rule::PatternsByRule;
pub use ties::RuleSubset;

/// The most steps that one look-up may take. A step reads one node or one edge, which takes 0.1 µs
/// when it has to come from main memory: half a millisecond in all.
const MAX_COST: u32 = 5_000;

/// The rules could make a look-up slow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "a pathname could make the service look at {cost} places in the rules, and {MAX_COST} are allowed: too many rules have a placeholder where others have another text, pattern or set of values (a pattern with ASCII classes or a bound on its length costs less)"
)]
pub struct TooCostly {
    /// The most steps that a look-up can take.
    pub cost: u32,
}

/// The rules of one site with the site's locales.
#[derive(Clone, Debug)]
pub struct RuleSet {
    locales: Locales,
    prefix: LocalePrefix,
    trailing_slash: TrailingSlash,
    /// For each host of a site with several, the patterns of its locales; `None`: all patterns.
    by_host: Box<[Option<RuleSubset>]>,
    /// The host of each locale; empty if there is one host.
    hosts: Box<[u16]>,
    /// The paths that no document may have.
    pages: PagePaths,
    /// In the order of the settings, which decides which rule builds a URL (D12).
    rules: Vec<Rule>,
    /// The positions of each content type's rules.
    types: Types,
    /// In the order of evaluation, which decides which rule matches (D8).
    pub(super) patterns: Vec<Pattern>,
    /// The patterns, compiled.
    pub(super) trie: Trie,
    /// Rule, captures and locale of each pattern.
    matches: MatchTable,
}

/// A rule that matches a pathname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Match<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template of the rule that matches.
    pub template: &'a Template,
    /// The placeholders and their values.
    pub params: Params<'a>,
    /// The locale of the pathname, if the pathname determines one.
    pub locale: Option<&'a SiteLocale>,
    /// The codes of the locales that the pathname can have, where several have the same template and nothing in
    /// the pathname tells them apart; else empty.
    pub shared: &'a [Locale],
}

/// A template that does not match a pathname.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template.
    pub template: &'a Template,
    /// Why it does not match.
    pub mismatch: Mismatch,
}

impl RuleSet {
    /// Compiles the rules, which are in the order of the settings.
    pub fn new(locales: Locales, prefix: LocalePrefix, mut rules: Vec<Rule>) -> Self {
        for rule in &mut rules {
            rule.sort_templates(&locales);
        }
        let compile = |(at, rule)| patterns(at, rule, &locales, prefix);
        let mut patterns: Vec<Pattern> = rules.iter().enumerate().flat_map(compile).collect();
        // Stable: patterns of equal shape keep the order of the settings.
        patterns.sort_by_cached_key(|pattern| specificity(&pattern.segments));
        let trie = Trie::new(&patterns);
        let matches = MatchTable::new(&patterns, &locales);
        let types = Types::new(&rules);
        let trailing_slash = TrailingSlash::default();
        let (by_host, hosts, pages) = (Box::default(), Box::default(), PagePaths::default());
        Self {
            locales,
            prefix,
            trailing_slash,
            by_host,
            hosts,
            pages,
            rules,
            types,
            patterns,
            trie,
            matches,
        }
    }

    /// These rules, whose built paths end with a slash or not. Matching does not depend on it.
    pub fn with_trailing_slash(self, trailing_slash: TrailingSlash) -> Self {
        Self { trailing_slash, ..self }
    }

    /// The form of the paths of the site.
    fn path_form(&self) -> PathForm<'_> {
        let Self { locales, prefix, trailing_slash, .. } = self;
        PathForm { locales, prefix: *prefix, trailing_slash: *trailing_slash }
    }

    /// Refuses rules with which a look-up could take more than 5,000 steps.
    ///
    /// # Errors
    /// [`TooCostly`], with the number of steps.
    pub fn check_cost(&self) -> Result<(), TooCostly> {
        let cost = self.trie.cost();
        if cost > MAX_COST { Err(TooCostly { cost }) } else { Ok(()) }
    }

    /// The site's locales.
    pub fn locales(&self) -> &Locales {
        &self.locales
    }

    /// All rules in the order of the settings.
    pub fn rules(&self) -> &[Rule] {
        &self.rules
    }

    /// All patterns in the order of evaluation.
    pub(crate) fn patterns(&self) -> &[Pattern] {
        &self.patterns
    }

    /// All templates with their rules in the order of evaluation, once for each of their patterns.
    pub fn in_order(&self) -> impl Iterator<Item = (&Rule, &Template)> {
        self.patterns.iter().map(|pattern| (&self.rules[pattern.rule], self.template(pattern)))
    }

    /// The template of a pattern.
    pub(crate) fn template(&self, pattern: &Pattern) -> &Template {
        self.rules[pattern.rule].nth_template(pattern.template)
    }

    /// The first pattern in the order of evaluation that matches.
    #[inline]
    pub fn find<'a>(&'a self, pathname: &'a Pathname<'_>) -> Option<Match<'a>> {
        Some(self.matched(self.first_position(pathname)?, pathname))
    }

    /// The match of the pattern at this position, which matches.
    #[inline]
    fn matched<'a>(&'a self, position: usize, pathname: &'a Pathname<'_>) -> Match<'a> {
        let MatchData { rule, params, locale, shared } =
            self.matches.get(position, pathname, &self.locales);
        let template = self.template(&self.patterns[position]);
        Match { rule: &self.rules[rule], template, params, locale, shared }
    }

    /// The position of the first pattern in the order of evaluation that matches.
    pub(crate) fn first_position(&self, pathname: &Pathname<'_>) -> Option<usize> {
        self.trie.find(pathname, &self.locales)
    }

    /// The templates that do not match a pathname, in the order of evaluation, each once. Of a
    /// template with several patterns, the first pattern counts.
    pub fn candidates(&self, pathname: &Pathname<'_>) -> impl Iterator<Item = Candidate<'_>> {
        let mut seen = FxHashSet::default();
        let first = move |pattern: &&Pattern| seen.insert((pattern.rule, pattern.template));
        self.patterns.iter().filter(first).filter_map(|pattern| {
            let mismatch = match_pattern(pattern, pathname, &self.locales).err()?;
            let rule = &self.rules[pattern.rule];
            Some(Candidate { rule, template: self.template(pattern), mismatch })
        })
    }

    /// The rules of one content type, in the order of the settings.
    pub fn of_type(&self, uid: &str) -> impl Iterator<Item = &Rule> {
        self.positions_of_type(uid).map(|at| &self.rules[at])
    }

    /// The positions of the content type's rules in the settings.
    pub fn positions_of_type(&self, uid: &str) -> impl Iterator<Item = usize> {
        self.types.of(uid).iter().map(|at| *at as usize)
    }

    /// The content types that have a rule, each once, in the order of the settings.
    pub fn content_types(&self) -> Vec<&ContentTypeUid> {
        self.types.first_rules().map(|at| &self.rules[at].content_type).collect()
    }

    /// Whether sitemaps list documents of a content type.
    pub fn lists(&self, uid: &str) -> bool {
        self.of_type(uid).any(|rule| rule.sitemap.listed)
    }

    /// The documents that a content type's rules are for, as alternatives: those for which all
    /// conditions of one list hold. Empty when a rule has no conditions.
    pub fn alternatives(&self, uid: &str) -> Vec<Vec<Condition>> {
        if self.of_type(uid).any(|rule| rule.conditions.is_empty()) {
            return Vec::new();
        }
        distinct(self.of_type(uid).map(|rule| &rule.conditions))
    }

    /// The fields from which a content type's rules build URLs, each once.
    pub fn fields(&self, uid: &str) -> Vec<FieldPath> {
        distinct(self.of_type(uid).flat_map(Rule::fields))
    }

    /// The fields that a list of a content type's URLs needs, each once. Among them are the ids of
    /// the documents that the others are read from.
    pub fn listing_fields(&self, uid: &str) -> Vec<FieldPath> {
        let ids: Vec<FieldPath> = self.relations(uid).iter().map(FieldPath::document_id).collect();
        distinct(self.read_fields(uid).chain(&ids))
    }

    /// The relations through which the URLs of a content type depend on other documents, each once.
    pub fn relations(&self, uid: &str) -> Vec<FieldPath> {
        let all: Vec<FieldPath> = self.read_fields(uid).flat_map(FieldPath::relations).collect();
        distinct(all.iter())
    }

    fn read_fields(&self, uid: &str) -> impl Iterator<Item = &FieldPath> {
        let fields = |rule| Rule::fields(rule).chain(rule.sitemap.fields()).chain(&rule.title);
        self.of_type(uid).flat_map(fields)
    }
}

fn distinct<'a, T: Clone + Eq + Hash + 'a>(all: impl Iterator<Item = &'a T>) -> Vec<T> {
    let mut seen = FxHashSet::default();
    all.filter(|one| seen.insert(*one)).cloned().collect()
}

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

impl RuleSet {
    /// These rules for a site with these pages outside the CMS.
    pub fn with_pages(self, pages: PagePaths) -> Self {
        Self { pages, ..self }
    }

    /// The paths that no document may have.
    pub fn pages(&self) -> &PagePaths {
        &self.pages
    }

    /// The path of a page outside the CMS under one of the site's locales. Its template has no
    /// placeholder but `{locale}`.
    pub fn page_path(&self, template: &Template, locale: &SiteLocale) -> Option<String> {
        let (mut path, values) = (String::new(), PageValues(locale));
        template.write_path(self.path_form(), locale.code(), &values, &mut path).ok()?;
        Some(path)
    }
}

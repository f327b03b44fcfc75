//! Explains a pathname: each pattern of the site, and why it matches or not.

use std::collections::BTreeMap;

use serde::Serialize;

use super::document_decision::{DocumentDecision, decided};
use super::redirect::RedirectExplanation;
use crate::path_index::PathIndex;
use crate::site::Site;
use frontend_map_rules::{Match, MismatchReason, Pathname, PatternTrace, Rule, Template};

/// A pathname and the result of each pattern.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathnameExplanation {
    /// The key of the site.
    pub site: String,
    /// The host of the pathname, as requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// As requested.
    pub pathname: String,
    /// The normalized form (D7).
    pub normalized_path: String,
    /// The page outside the CMS with this path: `/api/resolve` has it, `/api/get-content-type` goes by the
    /// rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The rule that wins; null if none matches.
    pub matched: Option<MatchedRule>,
    /// On a site where documents decide: the document that has the path, or that none has. `None` if no
    /// rule matches and no document has it as its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub decision: Option<DocumentDecision>,
    /// The redirect of the CMS for the path, if there is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<RedirectExplanation>,
    /// Why it is not known whether a redirect of the CMS decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect_problem: Option<String>,
    /// All patterns of all rules, in the order of evaluation.
    pub considered: Vec<PatternResult>,
}

/// The rule that wins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MatchedRule {
    /// The content type.
    pub collection_type: String,
    /// The template.
    pub rule: String,
    /// The values of its placeholders.
    pub params: BTreeMap<String, String>,
    /// The locale of the path; null if the path determines none.
    pub locale: Option<String>,
}

/// One pattern, compared with the pathname.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatternResult {
    /// The content type.
    pub collection_type: String,
    /// The template.
    pub rule: String,
    /// The pattern: the template without the segments that it omits.
    pub form: String,
    /// The result.
    pub outcome: PatternOutcome,
    /// Why it does not match, as in `details.candidates` (D10).
    pub reason: Option<&'static str>,
    /// The segment that does not match, counted from 0.
    pub segment: Option<usize>,
    /// How many segments the pattern has.
    pub segments_wanted: usize,
    /// Whether the pattern matches more segments too.
    pub or_more: bool,
    /// The segments up to the one that does not match; none if their number is wrong.
    pub segments: Vec<SegmentResult>,
}

/// The result of one pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternOutcome {
    /// It wins.
    Match,
    /// It matches, but an earlier pattern, the rule of a document or a document's own path wins.
    Hidden,
    /// It matches with the precedence of the rule that wins, and the documents decide.
    Tied,
    /// It matches, but it is for locales on other hosts.
    OtherHost,
    /// It does not match.
    NoMatch,
}

/// One segment of a pattern, and the text of the pathname there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentResult {
    /// The segment of the template.
    pub wanted: String,
    /// The text of the pathname, decoded.
    pub found: String,
    /// Why it does not match; null if it does.
    pub reason: Option<&'static str>,
}

/// Compares a pathname with all rules of the site. `host` is its host as text and as a position among
/// the site's hosts, if the site has several. `documents` are those of the
/// [types that decide](super::deciding_types), if there are any, or why they could not be read.
pub fn explain_pathname(
    site: &Site,
    written: &str,
    name: Option<&str>,
    host: Option<usize>,
    documents: Option<Result<PathIndex, String>>,
) -> PathnameExplanation {
    let pathname = Pathname::parse(written);
    let of_documents = match documents {
        None => OfDocuments::default(),
        Some(Ok(index)) => OfDocuments::new(site, &pathname, host, &index),
        Some(Err(problem)) => OfDocuments::unknown(problem),
    };
    let OfDocuments { decision, found, host: own_host } = of_documents;
    let host = host.or(own_host);
    let found = found.or_else(|| site.rules.find_on(&pathname, host));
    let found = found.map(|found| site.rules.with_locale_of_host(found, host));
    // No pattern wins against an own path.
    let by_rules =
        found.as_ref().filter(|_| !matches!(decision, Some(DocumentDecision::OwnPath(_))));
    let winner = by_rules.map(|found| (found.rule, found.template));
    let matched = found.as_ref().map(matched_rule);
    let first = site.rules.ties(&pathname, host).into_iter();
    let mut tied: Vec<_> = first.map(|found| (found.rule, found.template)).collect();
    let is_tie = |winner| tied.iter().any(|one| is_same(*one, winner));
    let is_decided = decision.is_some() && winner.is_some_and(is_tie);
    if !is_decided {
        tied.clear();
    }
    let mut outcomes = Outcomes { site, pathname: &pathname, host, winner, tied };
    let considered = site.rules.trace(&pathname).enumerate();
    let considered =
        considered.map(|(at, trace)| pattern_result(&trace, outcomes.next(at, &trace))).collect();
    PathnameExplanation {
        site: site.key.clone(),
        host: name.map(str::to_owned),
        pathname: written.to_owned(),
        page: site
            .pages
            .find(&pathname.normalized(), host)
            .map(|page| page.document_id().to_owned()),
        normalized_path: pathname.normalized().into_owned(),
        matched,
        decision,
        redirect: None,
        redirect_problem: None,
        considered,
    }
}

impl PathnameExplanation {
    /// With the redirect of the CMS for the path, or why that is not known.
    pub fn with_redirect(self, redirect: Result<Option<RedirectExplanation>, String>) -> Self {
        match redirect {
            Ok(redirect) => Self { redirect, ..self },
            Err(problem) => Self { redirect_problem: Some(problem), ..self },
        }
    }

    /// Whether the documents or the redirects that may decide could not be read.
    pub fn is_uncertain(&self) -> bool {
        let is_unknown = matches!(self.decision, Some(DocumentDecision::Unknown { .. }));
        is_unknown || self.redirect_problem.is_some()
    }

    /// Whether a rule matches, or a redirect decides.
    pub fn is_found(&self) -> bool {
        let decides = |redirect: &RedirectExplanation| redirect.outcome.decides();
        self.matched.is_some() || self.redirect.as_ref().is_some_and(decides)
    }
}

/// What the documents say of a pathname.
#[derive(Default)]
struct OfDocuments<'s> {
    decision: Option<DocumentDecision>,
    /// The match of the rule whose document has the path.
    found: Option<Match<'s>>,
    /// The host of a document that is localized, if the site has several.
    host: Option<usize>,
}

impl<'s> OfDocuments<'s> {
    fn new(
        site: &'s Site,
        pathname: &'s Pathname<'_>,
        host: Option<usize>,
        index: &PathIndex,
    ) -> Self {
        let by_index = index.decide(&site.rules, pathname, host);
        let owner = by_index.as_ref().and_then(|decision| decision.owner);
        let localized = owner.filter(|owner| owner.is_localized());
        Self {
            decision: decided(site, pathname, host, owner),
            host: localized.and_then(|owner| site.hosts.host_if_several(owner.locale())),
            found: by_index.filter(|by_index| by_index.owner.is_some()).map(|own| own.found),
        }
    }

    /// They could not be read.
    fn unknown(problem: String) -> Self {
        Self { decision: Some(DocumentDecision::Unknown { problem }), ..Self::default() }
    }
}

fn matched_rule(found: &Match<'_>) -> MatchedRule {
    let text = |(name, value): (&str, &str)| (name.to_owned(), value.to_owned());
    MatchedRule {
        collection_type: found.rule.content_type.to_string(),
        rule: found.template.to_string(),
        params: found.params.iter().map(text).collect(),
        locale: found.locale.map(|locale| locale.as_str().to_owned()),
    }
}

/// Decides the outcome of each pattern, in the order of evaluation.
struct Outcomes<'s> {
    site: &'s Site,
    pathname: &'s Pathname<'s>,
    host: Option<usize>,
    /// The rule and the template that win, until the pattern that matched has had its outcome.
    winner: Option<(&'s Rule, &'s Template)>,
    /// The rules and templates with the precedence of the one that wins, if documents decide among them.
    tied: Vec<(&'s Rule, &'s Template)>,
}

fn is_same(one: (&Rule, &Template), other: (&Rule, &Template)) -> bool {
    std::ptr::eq(one.0, other.0) && std::ptr::eq(one.1, other.1)
}

impl Outcomes<'_> {
    /// The outcome of the pattern at this position.
    fn next(&mut self, at: usize, trace: &PatternTrace<'_>) -> PatternOutcome {
        let is_it = |one: (&Rule, &Template)| is_same(one, (trace.rule, trace.template));
        if trace.mismatch.is_some() {
            PatternOutcome::NoMatch
        } else if self.winner.take_if(|winner| is_it(*winner)).is_some() {
            PatternOutcome::Match
        } else if !self.is_on_host(at) {
            PatternOutcome::OtherHost
        } else if self.tied.iter().any(|tied| is_it(*tied)) {
            PatternOutcome::Tied
        } else {
            PatternOutcome::Hidden
        }
    }

    /// Whether a pattern counts on the host; those of all hosts do if none of the host's matches.
    fn is_on_host(&self, at: usize) -> bool {
        let rules = &self.site.rules;
        let has_match = |host| rules.hosts_of(self.pathname).any(|own| own == host);
        rules.is_for_host(at, self.host.filter(|host| has_match(*host)))
    }
}

fn pattern_result(trace: &PatternTrace<'_>, outcome: PatternOutcome) -> PatternResult {
    let segments = trace.steps.iter().map(|step| SegmentResult {
        wanted: step.expected.to_string(),
        found: step.found.clone(),
        reason: step.reason.map(MismatchReason::as_str),
    });
    PatternResult {
        collection_type: trace.rule.content_type.to_string(),
        rule: trace.template.to_string(),
        form: trace.pattern.clone(),
        outcome,
        reason: trace.mismatch.map(|mismatch| mismatch.reason.as_str()),
        segment: trace.mismatch.and_then(|mismatch| mismatch.segment),
        segments_wanted: trace.segment_count,
        or_more: trace.open_ended,
        segments: segments.collect(),
    }
}

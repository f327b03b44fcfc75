//! A pathname beside every rule of its site.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::{MismatchReason, Pathname, PatternTrace};
use crate::site::Site;

/// A pathname and what each rule says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathnameExplanation {
    /// The key of the site.
    pub site: String,
    /// As asked.
    pub pathname: String,
    /// The normal form (D7).
    pub normalized_path: String,
    /// The rule that wins; null if none matches.
    pub matched: Option<MatchedRule>,
    /// Every form of every rule, in the order of evaluation.
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
    /// The locale that the path says; null if it says none.
    pub locale: Option<String>,
}

/// One form of a rule beside the pathname.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PatternResult {
    /// The content type.
    pub collection_type: String,
    /// The template.
    pub rule: String,
    /// The template without what this form leaves out.
    pub form: String,
    /// What came of it.
    pub outcome: PatternOutcome,
    /// Why it does not match, as in `details.candidates` (D10).
    pub reason: Option<&'static str>,
    /// The segment to blame, counted from 0.
    pub segment: Option<usize>,
    /// How many segments it wants.
    pub segments_wanted: usize,
    /// Whether it takes more than these.
    pub or_more: bool,
    /// The segments up to the one to blame; none where their number is wrong.
    pub segments: Vec<SegmentResult>,
}

/// What came of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PatternOutcome {
    /// It wins.
    Match,
    /// It matches as well, and an earlier one wins.
    Hidden,
    /// It does not match.
    NoMatch,
}

/// One segment of a form and what stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentResult {
    /// The segment of the template.
    pub wanted: String,
    /// The text of the pathname, decoded.
    pub found: String,
    /// Why it does not fit; null if it does.
    pub reason: Option<&'static str>,
}

/// Looks at every rule of the site.
#[must_use]
pub fn explain_pathname(site: &Site, written: &str) -> PathnameExplanation {
    let pathname = Pathname::parse(written);
    let matched = site.rules.find(&pathname).map(|found| MatchedRule {
        collection_type: found.rule.content_type.to_string(),
        rule: found.template.to_string(),
        params: found
            .params
            .iter()
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        locale: found.locale.map(ToString::to_string),
    });
    let mut won = false;
    let considered =
        site.rules.trace(&pathname).map(|trace| pattern_result(&trace, &mut won)).collect();
    PathnameExplanation {
        site: site.key.clone(),
        pathname: written.to_owned(),
        normalized_path: pathname.normalized(),
        matched,
        considered,
    }
}

fn pattern_result(trace: &PatternTrace<'_>, won: &mut bool) -> PatternResult {
    let outcome = match trace.mismatch {
        Some(_) => PatternOutcome::NoMatch,
        None if std::mem::replace(won, true) => PatternOutcome::Hidden,
        None => PatternOutcome::Match,
    };
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

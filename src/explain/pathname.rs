//! A pathname beside every rule of its site.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::rules::{Pathname, Reason, Trace};
use crate::site::Site;

/// A pathname and what each rule says about it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathnameLook {
    /// The key of the site.
    pub site: String,
    /// As asked.
    pub pathname: String,
    /// The normal form (D7).
    pub normalized_path: String,
    /// The rule that wins; null if none matches.
    pub matched: Option<Matched>,
    /// Every form of every rule, in the order of evaluation.
    pub considered: Vec<Fit>,
}

/// The rule that wins.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Matched {
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
pub struct Fit {
    /// The content type.
    pub collection_type: String,
    /// The template.
    pub rule: String,
    /// The template without what this form leaves out.
    pub form: String,
    /// What came of it.
    pub outcome: Outcome,
    /// Why it does not match, as in `details.candidates` (D10).
    pub reason: Option<&'static str>,
    /// The segment to blame, counted from 0.
    pub segment: Option<usize>,
    /// How many segments it wants.
    pub segments_wanted: usize,
    /// Whether it takes more than these.
    pub or_more: bool,
    /// The segments up to the one to blame; none where their number is wrong.
    pub segments: Vec<SegmentLook>,
}

/// What came of one form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// It wins.
    Match,
    /// It matches as well, and an earlier one wins.
    Hidden,
    /// It does not match.
    NoMatch,
}

/// One segment of a form and what stands there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SegmentLook {
    /// The segment of the template.
    pub wanted: String,
    /// The text of the pathname, decoded.
    pub found: String,
    /// Why it does not fit; null if it does.
    pub reason: Option<&'static str>,
}

/// Looks at every rule of the site.
#[must_use]
pub fn explain_pathname(site: &Site, written: &str) -> PathnameLook {
    let pathname = Pathname::parse(written);
    let matched = site.rules.find(&pathname).map(|found| Matched {
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
    let considered = site.rules.trace(&pathname).map(|trace| fit(&trace, &mut won)).collect();
    PathnameLook {
        site: site.key.clone(),
        pathname: written.to_owned(),
        normalized_path: pathname.normalized(),
        matched,
        considered,
    }
}

fn fit(trace: &Trace<'_>, won: &mut bool) -> Fit {
    let outcome = match trace.mismatch {
        Some(_) => Outcome::NoMatch,
        None if std::mem::replace(won, true) => Outcome::Hidden,
        None => Outcome::Match,
    };
    let segments = trace.steps.iter().map(|step| SegmentLook {
        wanted: step.wanted.to_string(),
        found: step.found.clone(),
        reason: step.reason.map(Reason::as_str),
    });
    Fit {
        collection_type: trace.rule.content_type.to_string(),
        rule: trace.template.to_string(),
        form: trace.form.clone(),
        outcome,
        reason: trace.mismatch.map(|mismatch| mismatch.reason.as_str()),
        segment: trace.mismatch.and_then(|mismatch| mismatch.segment),
        segments_wanted: trace.wants,
        or_more: trace.open,
        segments: segments.collect(),
    }
}

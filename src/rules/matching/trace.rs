//! How one pattern looks at a pathname, segment by segment: for those who want to know why.

#[cfg(test)]
mod tests;

use super::linear::{Mismatch, MismatchReason, match_pattern, match_segment};
use super::rule_set::RuleSet;
use crate::rules::pathname::{PathSegment, Pathname};
use crate::rules::rule::Rule;
use crate::rules::template::{Segment, Template};

/// One form of a rule's template beside a pathname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternTrace<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template as written.
    pub template: &'a Template,
    /// The form of it, where it has several: without optional segments, without `{locale}`.
    pub pattern: String,
    /// The segments up to the first that does not fit; none when their number is wrong.
    pub steps: Vec<TraceStep<'a>>,
    /// Why it does not match.
    pub mismatch: Option<Mismatch>,
    /// How many segments it wants; more where the last one is a catch-all.
    pub segment_count: usize,
    /// Whether the last one is a catch-all.
    pub open_ended: bool,
}

/// One segment of a form, and what stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep<'a> {
    /// The segment as written.
    pub wanted: &'a Segment,
    /// The decoded text, or what was written where that is never matched; a catch-all's
    /// segments joined by `/`.
    pub found: String,
    /// Why it does not fit.
    pub reason: Option<MismatchReason>,
}

impl RuleSet {
    /// All forms of all rules in the order of evaluation, beside a pathname.
    pub fn trace<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
    ) -> impl Iterator<Item = PatternTrace<'a>> {
        self.patterns().iter().map(|pattern| {
            let given: Vec<PathSegment<'_>> = pathname.segments().collect();
            let mismatch = match_pattern(pattern, pathname, self.locales()).err();
            let mut steps = Vec::new();
            let counted = mismatch.is_none_or(|m| m.reason != MismatchReason::SegmentCount);
            for (at, wanted) in pattern.segments.iter().enumerate().take_while(|_| counted) {
                let reason = match_segment(pattern, at, given[at], pathname, self.locales()).err();
                let open = matches!(wanted, Segment::CatchAll(_));
                let end = if open { given.len() } else { at + 1 };
                let found = given[at..end].iter().map(text).collect::<Vec<_>>().join("/");
                steps.push(TraceStep { wanted, found, reason: reason.map(|(_, reason)| reason) });
                if reason.is_some() {
                    break;
                }
            }
            PatternTrace {
                rule: &self.rules()[pattern.rule],
                template: self.template(pattern),
                pattern: written(&pattern.segments),
                steps,
                mismatch,
                segment_count: pattern.segments.len(),
                open_ended: matches!(pattern.segments.last(), Some(Segment::CatchAll(_))),
            }
        })
    }
}

fn text<'a>(segment: &PathSegment<'a>) -> &'a str {
    match segment {
        PathSegment::Text(text) | PathSegment::Unmatchable(text) => text,
    }
}

fn written(segments: &[Segment]) -> String {
    let form: Vec<String> = segments.iter().map(ToString::to_string).collect();
    format!("/{}", form.join("/"))
}

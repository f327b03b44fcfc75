//! Traces each pattern against a pathname, segment by segment, for `explain`.

#[cfg(test)]
mod tests;

use super::linear::{Mismatch, MismatchReason, match_pattern, match_segment};
use super::rule_set::RuleSet;
use crate::pathname::{PathSegment, Pathname};
use crate::rule::Rule;
use crate::template::{Segment, Template};

/// One pattern compared with a pathname.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PatternTrace<'a> {
    /// The rule.
    pub rule: &'a Rule,
    /// The template as written.
    pub template: &'a Template,
    /// The pattern: the template without the segments that it omits.
    pub pattern: String,
    /// The segments up to the first that does not match; none when their number is wrong.
    pub steps: Vec<TraceStep<'a>>,
    /// Why the pattern does not match; `None` if it does.
    pub mismatch: Option<Mismatch>,
    /// How many segments the pattern has.
    pub segment_count: usize,
    /// Whether the last segment is a catch-all, which matches one or more segments.
    pub open_ended: bool,
}

/// One segment of a pattern, and the text of the pathname there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceStep<'a> {
    /// The segment as written.
    pub expected: &'a Segment,
    /// The decoded text, or the text as written where it is unmatchable (D7). The segments of a
    /// catch-all are joined by `/`.
    pub found: String,
    /// Why it does not match; `None` if it does.
    pub reason: Option<MismatchReason>,
}

impl RuleSet {
    /// All patterns in the order of evaluation, compared with a pathname.
    pub fn trace<'a>(
        &'a self,
        pathname: &'a Pathname<'_>,
    ) -> impl Iterator<Item = PatternTrace<'a>> {
        self.patterns().iter().map(|pattern| {
            let given: Vec<PathSegment<'_>> = pathname.segments().collect();
            let mismatch = match_pattern(pattern, pathname, self.locales()).err();
            let mut steps = Vec::new();
            let counted = mismatch.is_none_or(|m| m.reason != MismatchReason::SegmentCount);
            for (at, expected) in pattern.segments.iter().enumerate().take_while(|_| counted) {
                let reason = match_segment(pattern, at, given[at], pathname, self.locales()).err();
                let open = matches!(expected, Segment::CatchAll(_));
                let end = if open { given.len() } else { at + 1 };
                let found = given[at..end].iter().map(text).collect::<Vec<_>>().join("/");
                steps.push(TraceStep { expected, found, reason: reason.map(|(_, reason)| reason) });
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

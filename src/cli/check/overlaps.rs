//! The rules of a site that match the same path, that never match, or that match one path for all
//! documents.

use std::fmt::{self, Write as _};

use super::findings::Findings;
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::{
    Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, ShadowedRule, TieBreak,
};

const BY_ORDER: [&str; 2] = [
    "overlap that only the order of the settings decides",
    "overlaps that only the order of the settings decides",
];
const NEVER: [&str; 2] = ["rule that never matches", "rules that never match"];

/// What decides which of two rules matches.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Decision {
    /// The templates: one is more specific.
    Specificity,
    /// The documents: the site has `resolve = "documents"`.
    Documents,
    /// Nothing: content type and template are equal, so the response is the same.
    SameResponse,
    /// Only the order of the rules in the settings.
    Order,
}

/// Writes a block for each overlap and for each rule that never matches.
pub(super) fn write(out: &mut String, site: &Site, findings: &mut Findings) -> fmt::Result {
    let tie_break = match site.resolve {
        ResolveBy::Rules => TieBreak::Order,
        ResolveBy::Documents => TieBreak::Documents,
    };
    let Overlaps { pairs, shadowed, incomplete } = site.rules.overlaps(tie_break);
    for pair in &pairs {
        let decision = decision(pair, tie_break);
        findings.add(usize::from(decision == Decision::Order), BY_ORDER);
        write_pair(out, &site.key, pair, decision)?;
    }
    for never in &shadowed {
        let is_repeated = is_repeated(never);
        findings.add(usize::from(!is_repeated), NEVER);
        write_never(out, &site.key, never, is_repeated)?;
    }
    let key = &site.key;
    match incomplete {
        Some(Incomplete::PairLimit) => {
            writeln!(out, "\nwarning: site {key}: there are more overlaps than these")
        }
        Some(Incomplete::Budget) => writeln!(
            out,
            "\nwarning: site {key}: the search for overlaps reached its bound; one path of each remaining rule was tried"
        ),
        None => Ok(()),
    }
}

fn decision(pair: &Overlap<'_>, tie_break: TieBreak) -> Decision {
    let is_one_rule = std::ptr::eq(pair.winner.rule, pair.loser.rule);
    match pair.why {
        PrecedenceReason::SameShape if have_same_response(&pair.winner, &pair.loser) => {
            Decision::SameResponse
        }
        PrecedenceReason::SameShape if tie_break == TieBreak::Documents && !is_one_rule => {
            Decision::Documents
        }
        PrecedenceReason::SameShape => Decision::Order,
        _ => Decision::Specificity,
    }
}

fn have_same_response(one: &RuleTemplate<'_>, other: &RuleTemplate<'_>) -> bool {
    let is_same_type = one.rule.content_type == other.rule.content_type;
    is_same_type && one.template.as_str() == other.template.as_str()
}

/// Whether earlier rules with the same content type and template match all paths of a rule, such as
/// one with other conditions: it still builds URLs, for other documents.
fn is_repeated(never: &ShadowedRule<'_>) -> bool {
    let mut templates = never.rule.templates().map(|(_, template)| template);
    let repeats = |template| {
        let own = RuleTemplate { rule: never.rule, template };
        never.hidden_by.iter().any(|earlier| have_same_response(&own, earlier))
    };
    !never.hidden_by.is_empty() && templates.all(repeats)
}

fn write_pair(out: &mut String, site: &str, pair: &Overlap<'_>, decision: Decision) -> fmt::Result {
    let is_one_rule = std::ptr::eq(pair.winner.rule, pair.loser.rule);
    let what = if is_one_rule { "two templates of a rule match" } else { "two rules match" };
    let level = if decision == Decision::Order { "warning" } else { "note" };
    writeln!(out, "\n{level}: site {site}: {what} {}", pair.example)?;
    let [first, second] = match decision {
        Decision::Documents | Decision::SameResponse => ["first ", "second"],
        Decision::Specificity | Decision::Order => ["wins  ", "loses "],
    };
    writeln!(out, "  {first} {}", pair.winner)?;
    writeln!(out, "  {second} {}", pair.loser)?;
    match decision {
        Decision::Documents => {
            writeln!(out, "  why    same shape: the document that has the path decides")?;
        }
        Decision::SameResponse => {
            writeln!(out, "  why    same content type and template: the response is the same")?;
        }
        Decision::Specificity | Decision::Order => writeln!(out, "  why    {}", pair.why)?,
    }
    match &pair.taken_by {
        Some(third) => writeln!(out, "  note   a third rule wins over both there: {third}"),
        None => Ok(()),
    }
}

fn write_never(
    out: &mut String,
    site: &str,
    never: &ShadowedRule<'_>,
    is_repeated: bool,
) -> fmt::Result {
    let (rule, template) = (never.rule, never.rule.first_template());
    if is_repeated {
        writeln!(out, "\nnote: site {site}: an earlier rule matches the URLs that a rule builds")?;
    } else {
        writeln!(out, "\nwarning: site {site}: a rule never matches")?;
    }
    writeln!(out, "  rule   {} {template}", rule.content_type)?;
    if never.hidden_by.is_empty() {
        writeln!(out, "  why    no path matches it")?;
    }
    for earlier in &never.hidden_by {
        writeln!(out, "  why    {earlier} matches its paths first")?;
    }
    Ok(())
}

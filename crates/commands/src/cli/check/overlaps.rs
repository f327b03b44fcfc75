//! The rules of a site that match the same path, that never match, or that match one path for all
//! documents.

use super::findings::{Check, Finding, Level, Place};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::{
    Incomplete, Overlap, Overlaps, PrecedenceReason, RuleTemplate, ShadowedRule, TieBreak,
};

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

/// A finding for each overlap and for each rule that never matches.
pub(super) fn find(site: &Site) -> Vec<Finding> {
    let tie_break = match site.resolve {
        ResolveBy::Rules => TieBreak::Order,
        ResolveBy::Documents => TieBreak::Documents,
    };
    let Overlaps { pairs, shadowed, incomplete } = site.rules.overlaps(tie_break);
    let mut findings: Vec<Finding> =
        pairs.iter().map(|pair| overlap(site, pair, decision(pair, tie_break))).collect();
    findings.extend(shadowed.iter().map(|never| never_matches(site, never)));
    let text = match incomplete {
        None => return findings,
        Some(Incomplete::PairLimit) => "there are more overlaps than these",
        Some(Incomplete::Budget) => {
            "the search for overlaps reached its bound; one path of each remaining rule was tried"
        }
    };
    let key = &site.key;
    let (place, text) = (Place::Site(key.clone()), format!("site {key}: {text}"));
    findings.push(Finding::new(Check::Overlap, Level::Warning, place, text));
    findings
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

fn overlap(site: &Site, pair: &Overlap<'_>, decision: Decision) -> Finding {
    let is_one_rule = std::ptr::eq(pair.winner.rule, pair.loser.rule);
    let what = if is_one_rule { "two templates of a rule match" } else { "two rules match" };
    let by_order = decision == Decision::Order;
    let level = if by_order { Level::Warning } else { Level::Note };
    let text = format!("site {}: {what} {}", site.key, pair.example);
    let place = Place::of_rule(site, pair.loser.rule);
    let mut finding = Finding::new(Check::Overlap, level, place, text);
    finding.is_failure = by_order;
    let [first, second] = match decision {
        Decision::Documents | Decision::SameResponse => ["first", "second"],
        Decision::Specificity | Decision::Order => ["wins", "loses"],
    };
    finding.detail(first, pair.winner);
    finding.detail(second, pair.loser);
    match decision {
        Decision::Documents => {
            finding.detail("why", "same shape: the document that has the path decides");
        }
        Decision::SameResponse => {
            finding.detail("why", "same content type and template: the response is the same");
        }
        Decision::Specificity | Decision::Order => finding.detail("why", pair.why),
    }
    if let Some(third) = &pair.taken_by {
        finding.detail("note", format_args!("a third rule wins over both there: {third}"));
    }
    finding
}

fn never_matches(site: &Site, never: &ShadowedRule<'_>) -> Finding {
    let (rule, key, is_repeated) = (never.rule, &site.key, is_repeated(never));
    let (level, text) = if is_repeated {
        (Level::Note, format!("site {key}: an earlier rule matches the URLs that a rule builds"))
    } else {
        (Level::Warning, format!("site {key}: a rule never matches"))
    };
    let mut finding = Finding::new(Check::NeverMatches, level, Place::of_rule(site, rule), text);
    finding.is_failure = !is_repeated;
    finding.detail("rule", format_args!("{} {}", rule.content_type, rule.first_template()));
    if never.hidden_by.is_empty() {
        finding.detail("why", "no path matches it");
    }
    for earlier in &never.hidden_by {
        finding.detail("why", format_args!("{earlier} matches its paths first"));
    }
    finding
}

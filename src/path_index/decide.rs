//! Which rule a pathname belongs to when documents settle the ties.

use super::{Owner, PathIndex};
use crate::rules::{Match, Pathname, RuleSet};

/// The rule that a pathname belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision<'r> {
    /// The rule and what it takes from the pathname.
    pub found: Match<'r>,
    /// The document that owns the path, if one of the rule's content type does.
    pub owner: Option<Owner>,
}

/// First the rules as always (D8). Of those that match with equal precedence, the one whose
/// document owns the path; where nobody owns it, the first.
#[must_use]
pub fn decide<'r>(
    rules: &'r RuleSet,
    pathname: &'r Pathname<'_>,
    index: &PathIndex,
) -> Option<Decision<'r>> {
    let owners = index.owners(&pathname.normalized());
    let tie = |owner: &Owner| Some((rules.tie(pathname, index.rule(*owner))?, *owner));
    if let Some((found, owner)) = owners.iter().find_map(tie) {
        return Some(Decision { found, owner: Some(owner) });
    }
    let found = rules.find(pathname)?;
    let owner = of_type(rules, &found, &owners, index);
    Some(Decision { found, owner })
}

/// The document of the matched content type that owns the path.
#[must_use]
pub fn owner_of(
    rules: &RuleSet,
    pathname: &Pathname<'_>,
    found: &Match<'_>,
    index: &PathIndex,
) -> Option<Owner> {
    of_type(rules, found, &index.owners(&pathname.normalized()), index)
}

/// By whichever of the type's rules: its document has the path either way.
fn of_type(
    rules: &RuleSet,
    found: &Match<'_>,
    owners: &[Owner],
    index: &PathIndex,
) -> Option<Owner> {
    let uid = |owner: &Owner| &rules.rules()[index.rule(*owner)].content_type;
    owners.iter().copied().find(|owner| *uid(owner) == found.rule.content_type)
}

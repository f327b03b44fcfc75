//! Which document owns which path of a site, and so which rule a pathname belongs to where the
//! rules alone leave a tie.

use std::sync::Arc;

use crate::rules::{Match, Pathname, RuleSet};
use crate::snapshot::{PublicUrl, Snapshot};

/// All live paths of a site: the snapshots of its content types, built with owners.
#[derive(Debug)]
pub struct PathIndex(Vec<Arc<Snapshot>>);

/// The rule that a pathname belongs to.
#[derive(Clone, Debug)]
pub struct Decision<'r, 'i> {
    /// The rule and what it takes from the pathname.
    pub found: Match<'r>,
    /// The URL with this path, if a document of the rule's content type has it.
    pub owner: Option<PublicUrl<'i>>,
}

impl PathIndex {
    /// Takes one snapshot of each content type of the site.
    #[must_use]
    pub fn new(snapshots: Vec<Arc<Snapshot>>) -> Self {
        Self(snapshots)
    }

    /// The rule of a pathname. First the rules as always (D8). Of those that match with equal
    /// precedence, the one whose document owns the path; where nobody owns it, the first.
    #[must_use]
    pub fn decide<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
    ) -> Option<Decision<'r, '_>> {
        let owners = self.owners(pathname);
        let tie = |owner: &PublicUrl<'_>| rules.tie(pathname, owner.rule());
        if let Some((owner, found)) = owners.iter().find_map(|owner| Some((*owner, tie(owner)?))) {
            return Some(Decision { found, owner: Some(owner) });
        }
        let found = rules.find(pathname)?;
        let owner = of_type(rules, &found, &owners);
        Some(Decision { found, owner })
    }

    /// The URL with this path, if a document of the matched content type has it.
    #[must_use]
    pub fn owner(
        &self,
        rules: &RuleSet,
        pathname: &Pathname<'_>,
        found: &Match<'_>,
    ) -> Option<PublicUrl<'_>> {
        of_type(rules, found, &self.owners(pathname))
    }

    /// The URLs with this path, at most one of each content type, in the order of their rules.
    fn owners(&self, pathname: &Pathname<'_>) -> Vec<PublicUrl<'_>> {
        let path = pathname.normalized();
        let mut owners: Vec<_> =
            self.0.iter().filter_map(|snapshot| snapshot.owner(&path)).collect();
        owners.sort_by_key(|owner| owner.rule());
        owners
    }
}

/// By whichever of the type's rules: its document has the path either way.
fn of_type<'i>(
    rules: &RuleSet,
    found: &Match<'_>,
    owners: &[PublicUrl<'i>],
) -> Option<PublicUrl<'i>> {
    let uid = |owner: &PublicUrl<'_>| &rules.rules()[owner.rule()].content_type;
    owners.iter().copied().find(|owner| *uid(owner) == found.rule.content_type)
}

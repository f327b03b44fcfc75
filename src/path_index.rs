//! The path index of a site: which document owns a path. It decides between rules that match a
//! pathname with equal precedence.

use std::sync::Arc;

use crate::rules::{Match, Pathname, RuleSet};
use crate::snapshot::{PublicUrl, Snapshot};

/// All paths of a site: the snapshots of its content types, built with path tables.
#[derive(Debug)]
pub struct PathIndex(Vec<Arc<Snapshot>>);

/// The rule for a pathname.
#[derive(Clone, Debug)]
pub struct Decision<'r, 'i> {
    /// The rule, and the values that it captures from the pathname.
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

    /// The rule for a pathname, by precedence (D8). Of several rules that match with equal
    /// precedence, the one whose document owns the path; if no document does, the first.
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

/// The owner of the matched content type, whichever of the type's rules has built its URL.
fn of_type<'i>(
    rules: &RuleSet,
    found: &Match<'_>,
    owners: &[PublicUrl<'i>],
) -> Option<PublicUrl<'i>> {
    let uid = |owner: &PublicUrl<'_>| &rules.rules()[owner.rule()].content_type;
    owners.iter().copied().find(|owner| *uid(owner) == found.rule.content_type)
}

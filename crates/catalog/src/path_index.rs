//! The path index of a site: which document owns a path. It decides between rules that match a
//! pathname with equal precedence.

mod by_document;
mod not_localized;
mod own_paths;
mod shared_path;

use std::sync::Arc;

pub use by_document::{DocumentLocation, TypePaths, VersionId, other_owner};
use own_paths::OwnPaths;
pub use shared_path::{PathOwner, PathOwners, SharedPath, VersionPath};

use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::{ContentTypeUid, Match, Pathname, RuleSet, RuleSubset};

/// The paths of a site as far as they are known: the snapshots of its content types, built with path
/// tables.
#[derive(Debug, Default)]
pub struct PathIndex {
    snapshots: Vec<Arc<Snapshot>>,
    types: Vec<(ContentTypeUid, TypePaths)>,
    /// The rules of the content types whose snapshots are stale.
    stale: Option<RuleSubset>,
    unknown: Option<UnknownTypes>,
    /// For rules that name a path field.
    own_paths: Option<OwnPaths>,
}

/// The content types whose documents are not known.
#[derive(Debug)]
struct UnknownTypes {
    rules: RuleSubset,
    /// The content types that have an expired snapshot.
    expired: Vec<ContentTypeUid>,
}

/// The rule for a pathname.
#[derive(Clone, Debug)]
pub struct Decision<'r, 'i> {
    /// The rule, and the values that it captures from the pathname.
    pub found: Match<'r>,
    /// The URL with this path, if a document of the rule's content type has it.
    pub owner: Option<PublicUrl<'i>>,
    /// What the decision depends on.
    pub basis: Basis<'r>,
}

/// What a decision depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis<'r> {
    /// On fresh snapshots.
    Fresh,
    /// On a stale snapshot too.
    Stale,
    /// On a content type whose snapshot has expired, so that the first rule is used.
    Expired(&'r ContentTypeUid),
    /// On a content type that is not known yet, so that the first rule is used.
    Missing(&'r ContentTypeUid),
    /// On fresh snapshots; but a document of a content type that is not known would win if this were
    /// its own path (D41).
    OwnPathsUnknown,
}

impl PathIndex {
    /// The index of a site with these rules, from what is known of each of its content types.
    pub fn new<'t>(
        rules: &RuleSet,
        types: impl IntoIterator<Item = (&'t ContentTypeUid, TypePaths)>,
    ) -> Self {
        let types: Vec<(&ContentTypeUid, TypePaths)> = types.into_iter().collect();
        let own_paths = OwnPaths::new(rules, &types);
        let by_type = types.iter().map(|(uid, paths)| ((*uid).clone(), paths.clone())).collect();
        let (mut snapshots, mut stale) = (Vec::new(), Vec::new());
        let (mut unknown, mut expired) = (Vec::new(), Vec::new());
        for (uid, paths) in types {
            match paths {
                TypePaths::Fresh(snapshot) => snapshots.push(snapshot),
                TypePaths::Stale(snapshot) => {
                    snapshots.push(snapshot);
                    stale.push(uid);
                }
                TypePaths::Expired => {
                    expired.push(uid.clone());
                    unknown.push(uid);
                }
                TypePaths::Missing => unknown.push(uid),
            }
        }
        let subset = |types: &[&ContentTypeUid]| {
            (!types.is_empty()).then(|| rules.subset(|rule| types.contains(&&rule.content_type)))
        };
        let unknown = subset(&unknown).map(|rules| UnknownTypes { rules, expired });
        Self { snapshots, types: by_type, stale: subset(&stale), unknown, own_paths }
    }

    /// The index of a site all of whose content types have these snapshots.
    pub fn of_fresh<'t>(
        rules: &RuleSet,
        snapshots: impl IntoIterator<Item = (&'t ContentTypeUid, Arc<Snapshot>)>,
    ) -> Self {
        let fresh = |(uid, snapshot)| (uid, TypePaths::Fresh(snapshot));
        Self::new(rules, snapshots.into_iter().map(fresh))
    }

    /// What is known of each content type, in the order of the rules.
    pub(crate) fn types(&self) -> impl Iterator<Item = (&ContentTypeUid, &TypePaths)> {
        self.types.iter().map(|(uid, paths)| (uid, paths))
    }

    /// Whether the snapshots of all content types are fresh.
    pub fn is_fresh(&self) -> bool {
        self.stale.is_none() && self.unknown.is_none()
    }

    /// Whether there is a snapshot of each content type, fresh or stale.
    pub fn knows_all_types(&self) -> bool {
        self.unknown.is_none()
    }

    /// The rule for a pathname: that of the document whose own path it is (D41), else by precedence
    /// (D8). Of several rules that match with equal precedence, the one whose document owns the path;
    /// if no document does, the first.
    ///
    /// Without a `host` (a position among the site's hosts), a path that several hosts have belongs to
    /// the first of them, each with the templates of its own locales.
    ///
    /// A content type that is not known matters only if one of its rules could own the path before
    /// the first owner that is known (D33).
    pub fn decide<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, '_>> {
        let path = pathname.normalized();
        if host.is_none() && rules.has_several_hosts() {
            return self.decide_on_any_host(rules, pathname, &path);
        }
        let owners = self.owners_at(&path, host);
        let own_path = self.decide_by_own_path(&owners, rules, pathname, host);
        let decision = own_path.or_else(|| self.decide_among(&owners, rules, pathname, host));
        if decision.as_ref().is_some_and(Decision::is_final) {
            return decision;
        }
        self.decide_without_owner(rules, pathname, host, decision, !owners.is_empty())
    }

    /// The decision of the first host on which a document has the path.
    fn decide_on_any_host<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        path: &str,
    ) -> Option<Decision<'r, '_>> {
        let mut is_owned = false;
        for host in 0..rules.host_count() {
            let owners = self.owners_at(path, Some(host));
            is_owned |= !owners.is_empty();
            if let Some(decision) = self.decide_on_host(&owners, rules, pathname, host) {
                return Some(decision);
            }
            // Whether this host has the path is not known, so that a later one may not be the first.
            if self.may_be_own_path(rules, pathname, Some(host), usize::MAX) {
                break;
            }
        }
        let decision = self.decide_among(&[], rules, pathname, None);
        if decision.as_ref().is_some_and(Decision::is_final) {
            return decision;
        }
        self.decide_without_owner(rules, pathname, None, decision, is_owned)
    }

    /// The decision of one of the site's hosts; `None`: none of the documents that are known has the
    /// path there.
    fn decide_on_host<'r, 'i>(
        &'i self,
        owners: &[PublicUrl<'i>],
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: usize,
    ) -> Option<Decision<'r, 'i>> {
        if let Some(decision) = self.decide_by_own_path(owners, rules, pathname, Some(host)) {
            return Some(decision);
        }
        if !rules.may_match_on(pathname, host) {
            return None;
        }
        let decision = self.decide_among(owners, rules, pathname, Some(host))?;
        if decision.basis.is_unknown() {
            return Some(Decision { found: rules.find(pathname)?, ..decision });
        }
        Some(decision).filter(Decision::is_final)
    }

    /// The decision among the URLs that have the path on the host.
    fn decide_among<'r, 'i>(
        &'i self,
        owners: &[PublicUrl<'i>],
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, 'i>> {
        let tie = |owner: &PublicUrl<'_>| {
            rules.tie_of_version(pathname, owner.rule(), owner.locale(), host)
        };
        let decided = owners.iter().find_map(|owner| Some((*owner, tie(owner)?)));
        let last = decided.as_ref().map_or(usize::MAX, |(owner, _)| owner.rule());
        let matters = |types: &RuleSubset| {
            rules.first_tie_in(types, pathname, host).filter(|rule| *rule <= last)
        };
        if let Some(unknown) = &self.unknown
            && let Some(rule) = matters(&unknown.rules)
        {
            let found = rules.find_on(pathname, host)?;
            let uid = &rules.rules()[rule].content_type;
            let is_expired = unknown.expired.contains(uid);
            let basis = if is_expired { Basis::Expired(uid) } else { Basis::Missing(uid) };
            return Some(Decision { found, owner: None, basis });
        }
        let is_stale = self.stale.as_ref().and_then(matters).is_some();
        let basis = if is_stale { Basis::Stale } else { Basis::Fresh };
        let (owner, found) = match decided {
            Some((owner, found)) => (Some(owner), found),
            None => of_type(rules, pathname, rules.find_on(pathname, host)?, owners),
        };
        let may_be_own = || self.may_be_own_path(rules, pathname, host, usize::MAX);
        let is_uncertain = basis == Basis::Fresh && owner.is_some() && may_be_own();
        let basis = if is_uncertain { Basis::OwnPathsUnknown } else { basis };
        Some(Decision { found, owner, basis })
    }

    /// The URL with this path; `None` if no document owns it, or if a content type that could own it
    /// is not known.
    pub fn owner(
        &self,
        rules: &RuleSet,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<PublicUrl<'_>> {
        let decision = self.decide(rules, pathname, host)?;
        let owner = decision.owner.filter(|_| decision.basis != Basis::OwnPathsUnknown)?;
        has_path(owner, pathname).then_some(owner)
    }

    /// The URLs with this path on one host, at most one of each content type, in the order of their
    /// rules.
    fn owners_at(&self, path: &str, host: Option<usize>) -> Vec<PublicUrl<'_>> {
        self.owners_by(|snapshot| snapshot.owner_on(path, host))
    }

    fn owners_by<'i>(
        &'i self,
        of: impl Fn(&'i Snapshot) -> Option<PublicUrl<'i>>,
    ) -> Vec<PublicUrl<'i>> {
        let snapshots = self.snapshots.iter().map(Arc::as_ref);
        let mut owners: Vec<_> = snapshots.filter_map(of).collect();
        owners.sort_by_key(|owner| owner.rule());
        owners
    }
}

impl<'r> Basis<'r> {
    /// The content type that matters and whose documents are not known.
    pub(crate) fn unknown_type(self) -> Option<&'r ContentTypeUid> {
        match self {
            Self::Expired(uid) | Self::Missing(uid) => Some(uid),
            Self::Fresh | Self::Stale | Self::OwnPathsUnknown => None,
        }
    }

    /// Whether it depends on a stale snapshot.
    pub(crate) fn is_stale(self) -> bool {
        self == Self::Stale
    }

    /// Whether the documents of a content type that matters are not known.
    fn is_unknown(self) -> bool {
        self.unknown_type().is_some()
    }
}

impl Decision<'_, '_> {
    /// Whether the path is the own path of its document (D41).
    pub fn has_own_path(&self) -> bool {
        self.owner.is_some_and(PublicUrl::has_own_path)
    }

    /// Whether no document in another locale can have the path: one has it itself, or it is not known
    /// whether one has.
    fn is_final(&self) -> bool {
        self.owner.is_some() || self.basis.is_unknown()
    }
}

/// Whether a URL has this path itself, and not in another locale.
fn has_path(owner: PublicUrl<'_>, pathname: &Pathname<'_>) -> bool {
    owner.normalized_path() == pathname.normalized()
}

/// The owner of the content type of the first match, whichever of the type's rules has built its URL.
/// If the match is for other locales than that of the owner, the match of that rule.
fn of_type<'r, 'i>(
    rules: &'r RuleSet,
    pathname: &'r Pathname<'_>,
    first: Match<'r>,
    owners: &[PublicUrl<'i>],
) -> (Option<PublicUrl<'i>>, Match<'r>) {
    let uid = |owner: &PublicUrl<'_>| &rules.rules()[owner.rule()].content_type;
    let mut of_type = owners.iter().filter(|owner| *uid(owner) == first.rule.content_type);
    let Some(owner) = of_type.next().copied() else { return (None, first) };
    let found = rules.first_for_version(pathname, first, owner.rule(), owner.locale());
    (Some(owner), found)
}

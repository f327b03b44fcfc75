//! The path index of a site: which document owns a path. It decides between rules that match a
//! pathname with equal precedence.

mod by_document;
mod own_paths;

use std::sync::Arc;

pub use by_document::{TypePaths, VersionId, Whereabouts};
use own_paths::OwnPaths;

use crate::rules::{ContentTypeUid, Match, Pathname, RuleSet, RuleSubset};
use crate::snapshot::{PublicUrl, Snapshot};

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
    own: Option<OwnPaths>,
}

/// The content types whose documents are not known.
#[derive(Debug)]
struct UnknownTypes {
    rules: RuleSubset,
    /// Those that have an expired snapshot.
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
}

impl PathIndex {
    /// The index of a site with these rules, from what is known of each of its content types.
    #[must_use]
    pub fn new<'t>(
        rules: &RuleSet,
        types: impl IntoIterator<Item = (&'t ContentTypeUid, TypePaths)>,
    ) -> Self {
        let types: Vec<(&ContentTypeUid, TypePaths)> = types.into_iter().collect();
        let own = OwnPaths::new(rules, &types);
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
        Self { snapshots, types: by_type, stale: subset(&stale), unknown, own }
    }

    /// Whether the snapshots of all content types are fresh.
    #[must_use]
    pub fn is_fresh(&self) -> bool {
        self.stale.is_none() && self.unknown.is_none()
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
    #[must_use]
    pub fn decide<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, '_>> {
        let path = pathname.normalized();
        let decision = if host.is_none() && rules.has_several_hosts() {
            let of_host = |host| self.owned_on(rules, pathname, &path, host);
            if let Some(decision) = (0..rules.host_count()).find_map(of_host) {
                return Some(decision);
            }
            self.decide_among(&[], rules, pathname, None)
        } else {
            let owners = self.owners_of(&path, host);
            if let Some(decision) = self.by_own_path(&owners, rules, pathname) {
                return Some(decision);
            }
            self.decide_among(&owners, rules, pathname, host)
        };
        match &self.own {
            None => decision,
            Some(own) => self.without_own_path(own, rules, (pathname, host), decision),
        }
    }

    /// The decision of one of the site's hosts; `None`: it is known that none of its documents has
    /// the path.
    fn owned_on<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        path: &str,
        host: usize,
    ) -> Option<Decision<'r, '_>> {
        let owners = self.owners_of(path, Some(host));
        if let Some(decision) = self.by_own_path(&owners, rules, pathname) {
            return Some(decision);
        }
        if !rules.may_match_on(pathname, host) {
            return None;
        }
        let decision = self.decide_among(&owners, rules, pathname, Some(host))?;
        if decision.basis.is_unknown() {
            return Some(Decision { found: rules.find(pathname)?, ..decision });
        }
        decision.has_itself(pathname, Some(host)).then_some(decision)
    }

    /// The decision among the URLs that have the path on the host.
    fn decide_among<'r, 'i>(
        &'i self,
        owners: &[PublicUrl<'i>],
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, 'i>> {
        let tie = |owner: &PublicUrl<'_>| rules.tie_on(pathname, owner.rule(), host);
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
        if let Some((owner, found)) = decided {
            return Some(Decision { found, owner: Some(owner), basis });
        }
        let found = rules.find_on(pathname, host)?;
        if let Some(owner) = of_type(rules, &found, owners) {
            return Some(Decision { found, owner: Some(owner), basis });
        }
        Some(match self.not_localized(rules, pathname, &found, host) {
            Some((owner, found)) => Decision { found, owner: Some(owner), basis },
            None => Decision { found, owner: None, basis },
        })
    }

    /// The URL of a document that is not localized: its only path has the site's first locale, and
    /// the pathname or the host has another one (D19). With the rule for the pathname.
    fn not_localized<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        first: &Match<'r>,
        host: Option<usize>,
    ) -> Option<(PublicUrl<'_>, Match<'r>)> {
        // A path without a locale is the same on the host of the first locale.
        let in_default_locale = |found: &Match<'r>| {
            let path = rules.in_default_locale(found, pathname);
            path.or_else(|| host.map(|_| pathname.normalized()))
        };
        let path = in_default_locale(first)?;
        let owners = self.owners(|snapshot| snapshot.owner_on(&path, snapshot.first_host()));
        let owners = owners.into_iter().filter(|owner| !owner.is_localized());
        let with_rule = |owner: PublicUrl<'_>| {
            let uid = &rules.rules()[owner.rule()].content_type;
            let found = match rules.tie_on(pathname, owner.rule(), host) {
                Some(tie) => tie,
                None => Some(first).filter(|first| first.rule.content_type == *uid)?.clone(),
            };
            let has_locale = in_default_locale(&found).as_deref() == Some(&*path);
            has_locale.then_some(found)
        };
        owners.into_iter().find_map(|owner| Some((owner, with_rule(owner)?)))
    }

    /// The URL with this path; `None` if no document owns it, or if a content type that could own it
    /// is not known.
    #[must_use]
    pub fn owner(
        &self,
        rules: &RuleSet,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> Option<PublicUrl<'_>> {
        let owner = self.decide(rules, pathname, host)?.owner?;
        has_path(owner, pathname).then_some(owner)
    }

    /// The URLs with this path on one host, at most one of each content type, in the order of their
    /// rules.
    fn owners_of(&self, path: &str, host: Option<usize>) -> Vec<PublicUrl<'_>> {
        self.owners(|snapshot| snapshot.owner_on(path, host))
    }

    fn owners<'i>(
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
    fn unknown_type(self) -> Option<&'r ContentTypeUid> {
        match self {
            Self::Expired(uid) | Self::Missing(uid) => Some(uid),
            Self::Fresh | Self::Stale => None,
        }
    }

    /// Whether the documents of a content type that matters are not known.
    fn is_unknown(self) -> bool {
        self.unknown_type().is_some()
    }
}

impl Decision<'_, '_> {
    /// Whether the path is the own path of its document (D41).
    #[must_use]
    pub fn has_own_path(&self) -> bool {
        self.owner.is_some_and(PublicUrl::has_own_path)
    }

    /// Whether a document has this path itself, on this host if one is given.
    fn has_itself(&self, pathname: &Pathname<'_>, host: Option<usize>) -> bool {
        let is_on = |owner: PublicUrl<'_>| host.is_none_or(|host| owner.host() == host);
        self.owner.is_some_and(|owner| is_on(owner) && has_path(owner, pathname))
    }
}

/// Whether a URL has this path itself, and not in another locale.
fn has_path(owner: PublicUrl<'_>, pathname: &Pathname<'_>) -> bool {
    owner.normalized_path() == pathname.normalized()
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

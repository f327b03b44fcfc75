//! Documents with a path of their own (D41): their paths win over all rules, and while a content type
//! of such documents is not known, it could own any path.

use super::{Basis, Decision, PathIndex, TypePaths};
use crate::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Match, Pathname, RuleSet};

/// The content types of a site whose documents may have a path of their own.
#[derive(Debug)]
pub(super) struct OwnPaths {
    /// The content types whose snapshots are stale.
    stale: Vec<ContentTypeUid>,
    /// For each content type that is not known, the positions of their rules that name a path
    /// field, in order, and whether the snapshot has expired.
    unknown: Vec<(usize, bool)>,
}

impl OwnPaths {
    /// `None`: no rule names a path field.
    pub(super) fn new(rules: &RuleSet, types: &[(&ContentTypeUid, TypePaths)]) -> Option<Self> {
        let paths = |rule: usize| {
            let uid = &rules.rules()[rule].content_type;
            Some((uid, &types.iter().find(|(own, _)| *own == uid)?.1))
        };
        rules.with_path_field().next()?;
        let mut own = Self { stale: Vec::new(), unknown: Vec::new() };
        for rule in rules.with_path_field() {
            match paths(rule) {
                Some((uid, TypePaths::Stale(_))) => own.stale.push(uid.clone()),
                Some((_, TypePaths::Expired)) => own.unknown.push((rule, true)),
                Some((_, TypePaths::Missing)) => own.unknown.push((rule, false)),
                Some((_, TypePaths::Fresh(_))) | None => {}
            }
        }
        Some(own)
    }

    pub(super) fn decision<'r, 'i>(
        &self,
        found: Match<'r>,
        owner: PublicUrl<'i>,
    ) -> Decision<'r, 'i> {
        let is_stale = self.stale.contains(&found.rule.content_type);
        let basis = if is_stale { Basis::Stale } else { Basis::Fresh };
        Decision { found, owner: Some(owner), basis }
    }

    /// What a path that no document owns depends on.
    fn basis<'r>(&self, rules: &'r RuleSet) -> Basis<'r> {
        let uid = |rule: usize| &rules.rules()[rule].content_type;
        match self.unknown.first() {
            Some((rule, true)) => Basis::Expired(uid(*rule)),
            Some((rule, false)) => Basis::Missing(uid(*rule)),
            None if self.stale.is_empty() => Basis::Fresh,
            None => Basis::Stale,
        }
    }
}

impl PathIndex {
    /// What a path that no rule matches depends on: the content types whose documents may have a path
    /// of their own.
    pub fn basis_without_rule<'r>(&self, rules: &'r RuleSet) -> Basis<'r> {
        self.own_paths.as_ref().map_or(Basis::Fresh, |own| own.basis(rules))
    }

    /// The decision for a path that one of these owns as its document's own path.
    pub(super) fn decide_by_own_path<'r, 'i>(
        &'i self,
        owners: &[PublicUrl<'i>],
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, 'i>> {
        let own = self.own_paths.as_ref()?;
        let owner = *owners.iter().find(|owner| owner.has_own_path())?;
        let found = rules.own_path_match(pathname, owner.rule(), owner.locale());
        let decision = own.decision(found, owner);
        let is_uncertain = decision.basis == Basis::Fresh
            && self.may_be_own_path(rules, pathname, host, owner.rule());
        let basis = if is_uncertain { Basis::OwnPathsUnknown } else { decision.basis };
        Some(Decision { basis, ..decision })
    }

    /// Whether a path could be the own path of a document of a content type that is not known, by a rule
    /// before this position in the settings.
    pub(super) fn may_be_own_path(
        &self,
        rules: &RuleSet,
        pathname: &Pathname<'_>,
        host: Option<usize>,
        end: usize,
    ) -> bool {
        let unknown = self.own_paths.iter().flat_map(|own| &own.unknown);
        let mut before = unknown.map(|(rule, _)| *rule).take_while(|rule| *rule < end);
        before.any(|rule| rules.may_be_own_path(pathname, rule, host))
    }
}

//! Documents with a path of their own (D41): their paths win over all rules, and while a content type
//! of such documents is not known, it could own any path.

use super::{Basis, Decision, PathIndex, TypePaths};
use crate::rules::{ContentTypeUid, Match, Pathname, RuleSet};
use crate::snapshot::PublicUrl;

/// The content types of a site whose documents may have a path of their own.
#[derive(Debug)]
pub(super) struct OwnPaths {
    /// Those whose snapshots are stale.
    stale: Vec<ContentTypeUid>,
    /// The first that is not known: the position of its rule, and whether its snapshot has expired.
    unknown: Option<(usize, bool)>,
}

impl OwnPaths {
    /// `None`: no rule names a path field.
    pub(super) fn new(rules: &RuleSet, types: &[(&ContentTypeUid, TypePaths)]) -> Option<Self> {
        let paths = |rule: usize| {
            let uid = &rules.rules()[rule].content_type;
            Some((uid, &types.iter().find(|(own, _)| *own == uid)?.1))
        };
        rules.with_path_field().next()?;
        let mut own = Self { stale: Vec::new(), unknown: None };
        for rule in rules.with_path_field() {
            match paths(rule) {
                Some((uid, TypePaths::Stale(_))) => own.stale.push(uid.clone()),
                Some((_, TypePaths::Expired)) => _ = own.unknown.get_or_insert((rule, true)),
                Some((_, TypePaths::Missing)) => _ = own.unknown.get_or_insert((rule, false)),
                Some((_, TypePaths::Fresh(_))) | None => {}
            }
        }
        Some(own)
    }

    fn decision<'r, 'i>(&self, found: Match<'r>, owner: PublicUrl<'i>) -> Decision<'r, 'i> {
        let is_stale = self.stale.contains(&found.rule.content_type);
        let basis = if is_stale { Basis::Stale } else { Basis::Fresh };
        Decision { found, owner: Some(owner), basis }
    }

    /// What a path that no document owns depends on.
    fn basis<'r>(&self, rules: &'r RuleSet) -> Basis<'r> {
        let uid = |rule: usize| &rules.rules()[rule].content_type;
        match self.unknown {
            Some((rule, true)) => Basis::Expired(uid(rule)),
            Some((rule, false)) => Basis::Missing(uid(rule)),
            None if self.stale.is_empty() => Basis::Fresh,
            None => Basis::Stale,
        }
    }
}

impl PathIndex {
    /// What a path that no rule matches depends on: the content types whose documents may have a path
    /// of their own.
    #[must_use]
    pub fn basis_without_rule<'r>(&self, rules: &'r RuleSet) -> Basis<'r> {
        self.own.as_ref().map_or(Basis::Fresh, |own| own.basis(rules))
    }

    /// The decision for a path that one of these owns as its document's own path.
    pub(super) fn by_own_path<'r, 'i>(
        &'i self,
        owners: &[PublicUrl<'i>],
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
    ) -> Option<Decision<'r, 'i>> {
        let own = self.own.as_ref()?;
        let owner = *owners.iter().find(|owner| owner.has_own_path())?;
        let found = rules.own_path_match(pathname, owner.rule(), owner.locale());
        Some(own.decision(found, owner))
    }

    /// The decision for a path that is not the own path of a document; `decision` is that of the
    /// rules. A path that no document owns may be that of a document that is not localized, in the
    /// site's first locale.
    pub(super) fn without_own_path<'r, 'i>(
        &'i self,
        own: &OwnPaths,
        rules: &'r RuleSet,
        (pathname, host): (&'r Pathname<'_>, Option<usize>),
        decision: Option<Decision<'r, 'i>>,
    ) -> Option<Decision<'r, 'i>> {
        let is_final = |decision: &Decision<'_, '_>| {
            decision.basis.is_unknown() || decision.has_itself(pathname, host)
        };
        if decision.as_ref().is_some_and(is_final) {
            return decision;
        }
        let basis = own.basis(rules);
        if basis.is_unknown() {
            return Some(Decision { owner: None, basis, ..decision? });
        }
        let not_localized = self.own_not_localized(own, rules, pathname, host);
        let decision = not_localized.or(decision)?;
        let basis = if decision.basis == Basis::Fresh { basis } else { decision.basis };
        Some(Decision { basis, ..decision })
    }

    fn own_not_localized<'r>(
        &self,
        own: &OwnPaths,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, '_>> {
        let owner = |path: &str, has_locale: bool| {
            let is_it = |owner: &PublicUrl<'_>| {
                let rule = &rules.rules()[owner.rule()];
                let template = rule.template(&rules.locales().codes()[owner.locale()]);
                let same = template.is_some_and(|own| own.has_locale() == has_locale);
                owner.has_own_path() && !owner.is_localized() && same
            };
            self.owners(|snapshot| snapshot.owner_on(path, snapshot.first_host()))
                .into_iter()
                .find(is_it)
        };
        if let Some((locale, path)) = rules.own_path_in_default_locale(pathname)
            && let Some(owner) = owner(&path, true)
        {
            let found = rules.own_path_match(pathname, owner.rule(), locale);
            return Some(own.decision(found, owner));
        }
        // A path without a locale is the same on the host of the first locale.
        let owner = host.and_then(|_| owner(&pathname.normalized(), false))?;
        let found = rules.own_path_match(pathname, owner.rule(), owner.locale());
        Some(own.decision(found, owner))
    }
}

//! Documents that are not localized. Their only path is in the site's first locale; the same path in
//! another locale, or on another host, leads to them (D19).

use super::{Basis, Decision, PathIndex};
use crate::snapshot::PublicUrl;
use frontend_map_rules::{Match, Pathname, RuleSet};

impl PathIndex {
    /// The decision for a path that no document has by the rules that match it; `decision` is that of
    /// these rules. `is_owned`: a document has the path, but a more specific rule hides it.
    pub(super) fn decide_without_owner<'r, 'i>(
        &'i self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
        decision: Option<Decision<'r, 'i>>,
        is_owned: bool,
    ) -> Option<Decision<'r, 'i>> {
        let basis = self.basis_without_rule(rules);
        if basis.is_unknown() {
            return Some(Decision { basis, ..decision? });
        }
        let elsewhere = || {
            let own = self.own_not_localized(rules, pathname, host);
            own.or_else(|| self.not_localized(rules, pathname, decision.as_ref()?, host))
        };
        // A path that a document has never leads to another document.
        let elsewhere = if is_owned { None } else { elsewhere() };
        let decision = elsewhere.or(decision)?;
        let basis = if decision.basis == Basis::Fresh { basis } else { decision.basis };
        Some(Decision { basis, ..decision })
    }

    /// The decision for the path of a template; `without` is the one without an owner.
    fn not_localized<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        without: &Decision<'r, '_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, '_>> {
        let first = &without.found;
        let in_default_locale = |found: &Match<'r>| rules.in_default_locale(found, pathname, host);
        let path = in_default_locale(first)?;
        let owners = self.owners_by(|snapshot| snapshot.owner_on(&path, snapshot.first_host()));
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
        let (owner, found) = { owners }.find_map(|owner| Some((owner, with_rule(owner)?)))?;
        Some(Decision { found, owner: Some(owner), basis: without.basis })
    }

    /// The decision for the own path of a document.
    fn own_not_localized<'r>(
        &self,
        rules: &'r RuleSet,
        pathname: &'r Pathname<'_>,
        host: Option<usize>,
    ) -> Option<Decision<'r, '_>> {
        let own = self.own_paths.as_ref()?;
        rules.own_paths_in_default_locale(pathname, host).find_map(|(locale, path)| {
            let is_it = |owner: &PublicUrl<'_>| {
                let is_own = owner.has_own_path() && !owner.is_localized();
                is_own && rules.leads_to_own_path(owner.rule(), locale)
            };
            let owners = self.owners_by(|snapshot| snapshot.owner_on(&path, snapshot.first_host()));
            let owner = owners.into_iter().find(is_it)?;
            let found = rules.own_path_match(pathname, owner.rule(), locale);
            Some(own.decision(found, owner))
        })
    }
}

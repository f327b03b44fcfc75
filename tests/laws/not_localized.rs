//! Which document a path leads to on sites with several hosts, paths of documents' own, and documents
//! that are not localized: in each locale and on each host, the one that has the path, or the one that
//! has it in the site's first locale (D19, D41).

use std::sync::Arc;

use frontend_map_catalog::path_index::{Decision, PathIndex};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{Document, Locale, Pathname, RuleSet, SiteLocale, encode};
use proptest::prelude::*;

use super::features;
use super::hosts::{index, snapshots};

/// A site with all of its URLs.
struct World {
    rules: RuleSet,
    hosts: Hosts,
    snapshots: Vec<Arc<Snapshot>>,
    index: PathIndex,
}

impl World {
    fn urls(&self) -> impl Iterator<Item = PublicUrl<'_>> {
        self.snapshots.iter().flat_map(|snapshot| snapshot.owners())
    }

    fn new(
        rules: RuleSet,
        hosts: Hosts,
        documents: &[Document<'static>],
    ) -> Result<Self, TestCaseError> {
        let snapshots = snapshots(&rules, &hosts, documents)?;
        let index = index(&rules, &snapshots);
        Ok(Self { rules, hosts, snapshots, index })
    }

    /// Each host of a request, if the site has several, and none.
    fn hosts(&self) -> Vec<Option<usize>> {
        let several = (0..self.rules.host_count()).map(Some);
        several.chain([None]).collect()
    }

    /// The URLs that have a path itself on a host.
    fn having<'a>(
        &'a self,
        path: &'a str,
        host: Option<usize>,
    ) -> impl Iterator<Item = PublicUrl<'a>> {
        let is_on = move |url: &PublicUrl<'_>| host.is_none_or(|host| url.host() == host);
        self.urls().filter(move |url| url.normalized_path() == path && is_on(url))
    }
}

proptest! {
    #[test]
    fn path_of_a_document_leads_to_no_document_that_does_not_have_it(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..6),
    ) {
        let world = World::new(rules, hosts, &documents)?;
        for url in world.urls() {
            let pathname = Pathname::parse(url.normalized_path());
            for host in [world.hosts.host_if_several(url.locale()), None] {
                let decision = world.index.decide(&world.rules, &pathname, host);
                let Some(owner) = decision.and_then(|decision| decision.owner) else { continue };
                prop_assert_eq!(owner.normalized_path(), url.normalized_path());
                prop_assert!(host.is_none_or(|host| owner.host() == host), "{}", url.path());
            }
        }
    }

    #[test]
    fn match_has_the_locale_and_the_template_of_the_version_that_owns_the_path(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..6),
    ) {
        let world = World::new(rules, hosts, &documents)?;
        let patterns = world.rules.patterns_by_rule();
        for url in world.urls() {
            let pathname = Pathname::parse(url.normalized_path());
            let host = world.hosts.host_if_several(url.locale());
            let Some(decision) = world.index.decide(&world.rules, &pathname, host) else { continue };
            let Decision { found, owner: Some(owner), .. } = decision else { continue };
            let codes = world.rules.locales().codes();
            let own = &codes[owner.locale()];
            let found = world.rules.with_locale_of_host(found, host);
            let locale = found.locale.map(SiteLocale::code).or(found.shared.first());
            prop_assert_eq!(locale.map(Locale::as_str), Some(own.as_str()), "{}", url.path());
            let rule = &world.rules.rules()[owner.rule()];
            if !std::ptr::eq(found.rule, rule) {
                // An earlier rule of the content type.
                prop_assert_eq!(&found.rule.content_type, &rule.content_type);
            } else if owner.has_own_path() {
                prop_assert_eq!(found.params.iter().len(), 0);
                prop_assert_eq!(Some(found.template), rule.template(own));
            } else {
                let built = world.rules.match_of_rule(&patterns, &pathname, owner.rule(), owner.locale());
                let built = built.expect("the rule that built a path matches it");
                prop_assert_eq!((found.template, found.params), (built.template, built.params));
            }
        }
    }

    #[test]
    fn own_path_leads_to_a_document_that_is_not_localized_on_each_host_and_in_each_locale(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..6),
    ) {
        let world = World::new(rules, hosts, &documents)?;
        let locales = world.rules.locales();
        for url in world.urls().filter(|url| url.has_own_path() && !url.is_localized()) {
            let mut paths = vec![url.normalized_path().to_owned()];
            if world.rules.leads_to_own_path(url.rule(), 1) {
                let path = url.normalized_path();
                // It may be left out.
                let first = format!("/{}", encode(locales.default_locale().segment()));
                let rest = path.strip_prefix(&first).filter(|rest| rest.starts_with('/'));
                let rest = rest.unwrap_or(path);
                let others = locales.as_slice().iter().skip(1);
                paths.extend(others.map(|own| format!("/{}{rest}", encode(own.segment()))));
            }
            let hosts = world.hosts();
            let requests = paths.iter().flat_map(|path| hosts.iter().map(move |host| (path, *host)));
            for (path, host) in requests {
                let pathname = Pathname::parse(path);
                let decision = world.index.decide(&world.rules, &pathname, host);
                let owner = decision.and_then(|decision| decision.owner);
                // Without a host, the first one on which a document has the path.
                let first = world.having(path, host).map(PublicUrl::host).min();
                if let Some(first) = first {
                    let is_own = world.having(path, Some(first)).any(PublicUrl::has_own_path);
                    let is_it = |owner: PublicUrl<'_>| owner.normalized_path() == path;
                    prop_assert!(owner.is_none_or(is_it), "{} {:?}", path, host);
                    prop_assert!(!is_own || owner.is_some_and(PublicUrl::has_own_path));
                    continue;
                }
                let Some(owner) = owner else {
                    return Err(TestCaseError::fail(format!("{path} {host:?} leads nowhere")));
                };
                prop_assert!(owner.has_own_path() && !owner.is_localized(), "{} {:?}", path, host);
            }
        }
    }
}

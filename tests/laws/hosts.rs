//! Sites with one host or several: a path belongs to a host (D39).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use frontend_map_catalog::path_index::{Decision, PathIndex, TypePaths};
use frontend_map_catalog::sitemap::files::{Frame, Layout, write};
use frontend_map_catalog::snapshot::{Builder, Listing, PublicUrl, Snapshot};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{Document, Pathname, RuleSet};
use proptest::prelude::*;
use url::Url;

use super::generate::UIDS;
use super::{fail, features, round_trip};

proptest! {
    #[test]
    fn path_leads_to_its_document_on_its_host_or_to_an_earlier_rule(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..6),
    ) {
        let snapshots = snapshots(&rules, &hosts, &documents)?;
        let index = index(&rules, &snapshots);
        for url in snapshots.iter().flat_map(|snapshot| snapshot.owners()) {
            let pathname = Pathname::parse(url.normalized_path());
            let host = hosts.host_if_several(url.locale());
            let Some(decision) = index.decide(&rules, &pathname, host) else {
                return Err(TestCaseError::fail(format!("{} does not resolve", url.path())));
            };
            let found = &decision.found;
            let own = &rules.rules()[url.rule()];
            if let Some(owner) = owner(&decision, &pathname) {
                prop_assert_eq!(hosts.host_if_several(owner.locale()), host, "{}", url.path());
                let uid = |url: PublicUrl<'_>| &rules.rules()[url.rule()].content_type;
                let is_same = uid(owner) == uid(url);
                prop_assert!(!is_same || owner.position() == url.position(), "{}", url.path());
                prop_assert_eq!(&found.rule.content_type, uid(owner));
                prop_assert!(owner.has_own_path() || !url.has_own_path(), "{}", url.path());
                continue;
            }
            prop_assert!(!url.has_own_path(), "{} is not found", url.path());
            // A rule of another content type is more specific.
            prop_assert_ne!(&found.rule.content_type, &own.content_type, "{}", url.path());
            let patterns = rules.patterns_by_rule();
            let built = rules.match_of_rule(&patterns, &pathname, url.rule(), url.locale());
            let built = built.expect("the rule that built a path matches it");
            let names: Vec<&str> = built.params.iter().map(|(name, _)| name).collect();
            let template = built.template;
            let shadowed = round_trip::shadows(&rules, found, template, own, &names);
            prop_assert!(shadowed, "{}: {} is found", url.path(), found.template);
        }
    }

    #[test]
    fn path_without_a_host_leads_to_the_first_host_that_has_it(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..6),
    ) {
        let snapshots = snapshots(&rules, &hosts, &documents)?;
        let index = index(&rules, &snapshots);
        for url in snapshots.iter().flat_map(|snapshot| snapshot.owners()) {
            let pathname = Pathname::parse(url.normalized_path());
            let on = |host: Option<usize>| {
                let decision = index.decide(&rules, &pathname, host)?;
                let owner = owner(&decision, &pathname)?;
                Some((hosts.host_if_several(owner.locale()), owner.rule(), owner.position()))
            };
            let own = |host| on(Some(host)).filter(|(own, ..)| *own == Some(host));
            let first = (0..=hosts.all().len()).find_map(own);
            if hosts.are_several() {
                prop_assert_eq!(on(None), first, "{}", url.path());
            }
        }
    }

    #[test]
    fn files_of_all_hosts_together_are_the_list_and_their_links_are_reciprocal(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..8),
    ) {
        // The files of a site of which a locale has no base URL are a 501.
        if hosts.first_locale_without_base().is_some() {
            return Ok(());
        }
        for snapshot in snapshots(&rules, &hosts, &documents)? {
            let mut links = BTreeMap::new();
            for (at, host) in hosts.all().iter().enumerate() {
                let frame = Frame::new(&hosts, rules.locales(), at);
                for file in Layout::new(&snapshot, None, &frame).files {
                    let own = entries(&write(&snapshot, None, &frame, file.range.clone()));
                    prop_assert_eq!(own.len(), file.urls);
                    for (url, own) in own {
                        prop_assert!(url.starts_with(&host.base.join("/")), "{}", url);
                        prop_assert!(links.insert(url, own).is_none(), "twice");
                    }
                }
            }
            let url = |url: PublicUrl<'_>| hosts.url(url.locale(), url.path()).unwrap();
            let listed: BTreeSet<String> = snapshot.listed().map(url).collect();
            prop_assert_eq!(links.keys().cloned().collect::<BTreeSet<_>>(), listed);
            for own in links.values() {
                for other in own {
                    prop_assert_eq!(links.get(other), Some(own));
                }
            }
        }
    }

    #[test]
    fn built_url_parses_to_itself_on_the_origin_of_its_locale(
        (rules, hosts) in features::site_with_own_paths(),
        documents in prop::collection::vec(features::document(), 1..4),
    ) {
        for snapshot in snapshots(&rules, &hosts, &documents)? {
            for url in snapshot.urls() {
                let Some(base) = hosts.base(url.locale()) else { continue };
                let text = base.join(url.path());
                prop_assert!(text.is_ascii() && text.len() < 2048);
                let parsed = Url::parse(&text).map_err(|error| fail(&error))?;
                prop_assert_eq!(parsed.as_str(), &text);
                let base = Url::parse(base.as_str()).map_err(|error| fail(&error))?;
                prop_assert_eq!(parsed.origin(), base.origin());
                prop_assert_eq!((parsed.query(), parsed.fragment()), (None, None));
            }
        }
    }
}

/// The snapshot of each content type, each with all documents.
pub(super) fn snapshots(
    rules: &RuleSet,
    hosts: &Hosts,
    documents: &[Document<'static>],
) -> Result<Vec<Arc<Snapshot>>, TestCaseError> {
    let of_type = |uid| {
        let mut part = Listing { rules, hosts, uid }.part();
        for document in documents {
            part.add(document);
        }
        let snapshot = Builder { path_table: true }.finish(vec![part]);
        snapshot.map(Arc::new).map_err(|error| fail(&error))
    };
    UIDS.into_iter().map(of_type).collect()
}

pub(super) fn index(rules: &RuleSet, snapshots: &[Arc<Snapshot>]) -> PathIndex {
    let types = rules.content_types();
    let paths = snapshots.iter().zip(UIDS).filter_map(|(snapshot, uid)| {
        let uid = types.iter().find(|own| own.as_str() == uid)?;
        Some((*uid, TypePaths::Fresh(Arc::clone(snapshot))))
    });
    PathIndex::new(rules, paths)
}

/// The document that has the path itself, and not in another locale.
fn owner<'i>(decision: &Decision<'_, 'i>, pathname: &Pathname<'_>) -> Option<PublicUrl<'i>> {
    decision.owner.filter(|owner| owner.normalized_path() == pathname.normalized())
}

/// The URL of each entry with the URLs of its links, or with itself if it has none.
pub(super) fn entries(text: &str) -> Vec<(String, BTreeSet<String>)> {
    let document = roxmltree::Document::parse(text).unwrap();
    let urls = document.root_element().children();
    let entry = |url: roxmltree::Node<'_, '_>| {
        let loc = url.children().find(|child| child.tag_name().name() == "loc").unwrap();
        let loc = loc.text().unwrap().to_owned();
        let links = url.children().filter_map(|child| child.attribute("href"));
        let mut links: BTreeSet<String> = links.map(str::to_owned).collect();
        if links.is_empty() {
            links.insert(loc.clone());
        }
        (loc, links)
    };
    urls.map(entry).collect()
}

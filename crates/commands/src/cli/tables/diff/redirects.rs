//! The redirects of the CMS that change: those that begin, end or lead elsewhere.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::both::SitePair;
use super::site_diff::snapshot;
use crate::cli::walk::CachedSnapshots;
use frontend_map_catalog::moved::entries::{
    EntryRow, RedirectEntries, RedirectWorld, hosts_of_entry,
};
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_catalog::site::Site;
use frontend_map_rules::ContentTypeUid;

/// The redirects of a site that change.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RedirectDiff {
    before: usize,
    after: usize,
    /// Sorted by kind, then by host and path.
    pub(super) changes: Vec<RedirectChange>,
}

/// A redirect that changes.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RedirectChange {
    #[serde(rename = "type")]
    pub(super) kind: RedirectKind,
    /// The content type of the redirect.
    content_type: String,
    pub(super) document_id: String,
    pub(super) locale: String,
    /// The path from which it leads; one that ends with `/*` stands for all paths below.
    pub(super) path: String,
    /// The host, on a site with several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) host: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<RedirectTarget>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<RedirectTarget>,
}

/// Where a redirect leads, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct RedirectTarget {
    /// A path of the site, with its host if there are several, or a URL; null: the page is gone.
    pub(super) target: Option<String>,
    pub(super) status: u16,
    pub(super) force: bool,
}

/// What happens to a redirect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RedirectKind {
    /// Another target, status or `force`.
    Changed,
    Ended,
    Began,
}

/// A redirect as it is with one of both settings.
struct Known {
    content_type: String,
    document_id: String,
    locale: String,
    target: RedirectTarget,
}

/// The host, if the site has several, and the path from which a redirect leads.
type Place = (Option<String>, String);

impl RedirectDiff {
    /// The changes of a site whose content types have these snapshots. `status` is that of redirects that
    /// have none. `None`: it has no redirects with either settings.
    pub(super) fn new(
        pair: &SitePair,
        cached_snapshots: &CachedSnapshots,
        status: u16,
    ) -> Option<Self> {
        let sites = [&pair.before, &pair.after].map(Option::as_deref);
        if !sites.iter().flatten().any(|site| site.redirects.is_some()) {
            return None;
        }
        let [before, after] = sites
            .map(|site| site.map(|site| known(site, cached_snapshots, status)).unwrap_or_default());
        let places: BTreeSet<&Place> = before.keys().chain(after.keys()).collect();
        let change = |place: &Place| {
            let (from, to) = (before.get(place), after.get(place));
            let kind = match (from, to) {
                (Some(from), Some(to)) if from.target == to.target => return None,
                (Some(_), Some(_)) => RedirectKind::Changed,
                (Some(_), None) => RedirectKind::Ended,
                (None, _) => RedirectKind::Began,
            };
            let Known { content_type, document_id, locale, .. } = to.or(from)?;
            let (host, path) = place.clone();
            let [from, to] = [from, to].map(|known| known.map(|known| known.target.clone()));
            Some(RedirectChange {
                kind,
                content_type: content_type.clone(),
                document_id: document_id.clone(),
                locale: locale.clone(),
                path,
                host,
                from,
                to,
            })
        };
        let mut changes: Vec<RedirectChange> = places.into_iter().filter_map(change).collect();
        changes.sort_by_key(|change| change.kind);
        Some(Self { before: before.len(), after: after.len(), changes })
    }

    /// How many there are of a kind.
    pub(super) fn of(&self, kind: RedirectKind) -> u64 {
        self.changes.iter().filter(|change| change.kind == kind).count() as u64
    }

    /// The redirects that `--max-moved` limits.
    pub(super) fn affected(&self) -> u64 {
        self.of(RedirectKind::Changed) + self.of(RedirectKind::Ended)
    }
}

/// The redirects of a site that do what they say.
fn known(site: &Site, cached_snapshots: &CachedSnapshots, status: u16) -> BTreeMap<Place, Known> {
    let mut all = BTreeMap::new();
    let Some(redirects) = &site.redirects else { return all };
    let index = |site: &Site| {
        let of_type = |uid: &ContentTypeUid| snapshot(Some(site), uid.as_str(), cached_snapshots);
        let types = site.rules.content_types().into_iter();
        PathIndex::new(&site.rules, types.map(|uid| (uid, TypePaths::Fresh(of_type(uid)))))
    };
    let (documents, entries) = (index(site), index(redirects));
    let entries = RedirectEntries { index: &entries };
    let world = RedirectWorld { site, index: &documents, entries, history: None, status };
    for entry in entries.all() {
        for host in hosts_of_entry(&site.hosts, entry) {
            let Some(row) = world.row(entry, host) else { continue };
            let name = host.map(|host| site.hosts.all()[host].base.host().to_owned());
            let target = target(site, &row);
            let known = Known {
                content_type: redirects.rules.rules()[entry.rule()].content_type.to_string(),
                document_id: entry.document_id().to_owned(),
                locale: site.rules.locales().codes()[entry.locale()].as_str().to_owned(),
                target: RedirectTarget { target, status: row.status, force: row.is_forced },
            };
            all.insert((name, row.from), known);
        }
    }
    all
}

/// The target as the site has it: another base URL changes none.
fn target(site: &Site, row: &EntryRow<'_>) -> Option<String> {
    let path = row.path.as_ref()?;
    let Some(url) = &row.to else { return Some(path.clone()) };
    let mut hosts = site.hosts.all().iter().map(|host| &host.base);
    Some(match hosts.find(|base| base.join(path) == *url) {
        Some(base) if site.hosts.are_several() => format!("{}{path}", base.host()),
        Some(_) => path.clone(),
        None => url.clone(),
    })
}

//! The paths of one site that change.

use std::sync::Arc;

use serde::Serialize;

use super::both::SitePair;
use super::collisions::{Collision, collisions};
use super::redirects::RedirectDiff;
use crate::cli::walk::CachedSnapshots;
use frontend_map_catalog::changes::difference::{Change, Difference, LocaleNames, Side};
use frontend_map_catalog::site::{PAGES, Site};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::ContentTypeUid;

/// The changes of a site.
pub(super) struct SiteDiff {
    pub(super) key: String,
    /// In the order of the rules, then the pages outside the CMS.
    pub(super) types: Vec<TypeDiff>,
    pub(super) collisions: Vec<Collision>,
    /// Whether there are more collisions than are listed.
    pub(super) more_collisions: bool,
    /// `None` without redirects of the CMS.
    pub(super) redirects: Option<RedirectDiff>,
    /// The base URLs of the first locale, if they differ.
    pub(super) base_urls: Option<[String; 2]>,
    before: LocaleNames,
    after: LocaleNames,
}

/// The changes of a content type.
pub(super) struct TypeDiff {
    pub(super) uid: String,
    pub(super) counts: Counts,
    before: Arc<Snapshot>,
    after: Arc<Snapshot>,
}

/// How many paths there are, and how many change.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(super) struct Counts {
    pub(super) before: u64,
    pub(super) after: u64,
    pub(super) moved: u64,
    pub(super) vanished: u64,
    pub(super) appeared: u64,
    pub(super) collisions: u64,
}

/// A changed path.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Row<'s> {
    #[serde(rename = "type")]
    pub(super) kind: Kind,
    pub(super) content_type: &'s str,
    pub(super) document_id: &'s str,
    pub(super) locale: &'s str,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from: Option<&'s str>,
    /// Where the site has several hosts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) from_host: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to: Option<&'s str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) to_host: Option<&'s str>,
}

/// What happens to a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Kind {
    Moved,
    Vanished,
    Appeared,
}

impl Counts {
    fn affected(self) -> u64 {
        self.moved + self.vanished + self.collisions
    }

    pub(super) fn is_unchanged(self) -> bool {
        self.affected() + self.appeared == 0
    }

    /// How many there are of a kind.
    pub(super) fn of(self, kind: Kind) -> u64 {
        match kind {
            Kind::Moved => self.moved,
            Kind::Vanished => self.vanished,
            Kind::Appeared => self.appeared,
        }
    }

    fn add(&mut self, other: Self) {
        self.before += other.before;
        self.after += other.after;
        self.moved += other.moved;
        self.vanished += other.vanished;
        self.appeared += other.appeared;
        self.collisions += other.collisions;
    }
}

impl SiteDiff {
    /// The changes of a site whose content types have these snapshots. `status` is that of redirects that
    /// have none.
    pub(super) fn new(pair: &SitePair, cached_snapshots: &CachedSnapshots, status: u16) -> Self {
        let names = |site: &Option<Arc<Site>>| match site {
            Some(site) => LocaleNames::of(site.rules.locales(), &site.hosts),
            None => LocaleNames::default(),
        };
        let [before, after] = [&pair.before, &pair.after];
        let type_diff = |uid: &str| TypeDiff {
            uid: uid.to_owned(),
            counts: Counts::default(),
            before: snapshot(before.as_deref(), uid, cached_snapshots),
            after: snapshot(after.as_deref(), uid, cached_snapshots),
        };
        let (collisions, more_collisions) =
            collisions([before.as_ref(), after.as_ref()], |site, uid| {
                snapshot(Some(site), uid, cached_snapshots)
            });
        let types = groups([after.as_deref(), before.as_deref()]);
        let mut diff = Self {
            key: pair.key.clone(),
            types: types.iter().map(|uid| type_diff(uid)).collect(),
            collisions,
            more_collisions,
            redirects: RedirectDiff::new(pair, cached_snapshots, status),
            base_urls: base_urls(before.as_deref(), after.as_deref()),
            before: names(before),
            after: names(after),
        };
        let counts: Vec<Counts> = diff.types.iter().map(|own| diff.count(own)).collect();
        for (own, counts) in diff.types.iter_mut().zip(counts) {
            own.counts = counts;
        }
        diff
    }

    /// The sums over all content types.
    pub(super) fn totals(&self) -> Counts {
        let mut totals = Counts::default();
        self.types.iter().for_each(|own| totals.add(own.counts));
        totals
    }

    /// The paths and redirects that `--max-moved` limits.
    pub(super) fn affected(&self) -> u64 {
        let redirects = self.redirects.as_ref().map_or(0, RedirectDiff::affected);
        self.totals().affected() + redirects
    }

    /// The changes of a content type, document by document.
    pub(super) fn rows<'s>(&'s self, of: &'s TypeDiff) -> impl Iterator<Item = Row<'s>> {
        let before = Side { snapshot: &of.before, locales: &self.before };
        let after = Side { snapshot: &of.after, locales: &self.after };
        let changes = Difference::of_rules(before, after).into_all();
        changes.filter_map(|change| self.row(of, change))
    }

    fn row<'s>(&'s self, of: &'s TypeDiff, change: Change<'s>) -> Option<Row<'s>> {
        let (kind, from, to) = match change {
            Change::Moved { before, after } => (Kind::Moved, Some(before), Some(after)),
            Change::Gone(before) => (Kind::Vanished, Some(before), None),
            Change::Added(after) => (Kind::Appeared, None, Some(after)),
            Change::Updated(_) => return None,
        };
        let (names, url) = match to {
            Some(url) => (&self.after, url),
            None => (&self.before, from?),
        };
        Some(Row {
            kind,
            content_type: &of.uid,
            document_id: url.document_id(),
            locale: names.code(url.locale()),
            from: from.map(PublicUrl::path),
            from_host: from.and_then(|url| host(&self.before, url)),
            to: to.map(PublicUrl::path),
            to_host: to.and_then(|url| host(&self.after, url)),
        })
    }

    fn count(&self, of: &TypeDiff) -> Counts {
        let (before, after) = (of.before.len() as u64, of.after.len() as u64);
        let is_own = |collision: &&Collision| collision.owner_type() == of.uid;
        let collisions = self.collisions.iter().filter(is_own).count() as u64;
        let mut counts = Counts { before, after, collisions, ..Counts::default() };
        for row in self.rows(of) {
            match row.kind {
                Kind::Moved => counts.moved += 1,
                Kind::Vanished => counts.vanished += 1,
                Kind::Appeared => counts.appeared += 1,
            }
        }
        counts
    }
}

/// The host of a URL, if the site has several.
fn host<'s>(names: &'s LocaleNames, url: PublicUrl<'_>) -> Option<&'s str> {
    Some(names.host_among(names, url.locale())).filter(|host| !host.is_empty())
}

/// The content types of both sites, each once, then the pages outside the CMS.
fn groups(sites: [Option<&Site>; 2]) -> Vec<String> {
    let mut groups: Vec<String> = Vec::new();
    let has_pages = sites.iter().flatten().any(|site| !site.pages.is_empty());
    let types = sites.iter().flatten().flat_map(|site| site.rules.content_types());
    for uid in types.map(ContentTypeUid::as_str).chain(has_pages.then_some(PAGES)) {
        if !groups.iter().any(|known| known == uid) {
            groups.push(uid.to_owned());
        }
    }
    groups
}

/// The URLs of a content type; none without a site or a rule.
pub(super) fn snapshot(
    site: Option<&Site>,
    uid: &str,
    cached_snapshots: &CachedSnapshots,
) -> Arc<Snapshot> {
    let Some(site) = site else { return Arc::default() };
    if uid == PAGES {
        return Arc::clone(site.pages.snapshot());
    }
    let cached = cached_snapshots.get(&(site.key.clone(), uid.to_owned()));
    cached.map_or_else(Arc::default, |cached| Arc::clone(&cached.snapshot))
}

/// The base URLs of the first locale on both sides, if both have one and they differ.
fn base_urls(before: Option<&Site>, after: Option<&Site>) -> Option<[String; 2]> {
    let base = |site: Option<&Site>| Some(site?.hosts.base(0)?.as_str().to_owned());
    let both = [base(before)?, base(after)?];
    (both[0] != both[1]).then_some(both)
}

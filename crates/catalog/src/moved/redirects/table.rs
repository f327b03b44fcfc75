//! The table of all redirects of a site.

use std::sync::Arc;

use serde::Serialize;

use super::{
    FormerOwner, Redirect, SiteHistory, host_if_several, is_live, is_on_site, owner_of_row,
};
use crate::json::Json;
use crate::moved::entries::{RedirectEntries, RedirectWorld, as_written, hosts_of_entry};
use crate::moved::history::{PathHistory, Row, SiteId};
use crate::path_index::PathIndex;
use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot, timestamp_text};
use crate::tables::{Rows, Step};
use frontend_map_rules::{ContentTypeUid, Pathname, RuleSet};

/// The table: each path that a document had and that neither a document nor a page has now, with where
/// the document is. It reads the history while it is written, so that the memory for it does not depend
/// on the length of the history.
#[derive(Debug)]
pub struct Redirects {
    history: OwnedSiteHistory,
    index: PathIndex,
    entries: Option<Entries>,
    /// With which frontends redirect.
    status: u16,
    /// The next rows of the history, the last one first.
    pending: Vec<Found>,
    /// The place in the history after them.
    place: usize,
    count: u64,
    gone: u64,
}

/// The figures of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct RedirectCount {
    /// The number of rows.
    pub count: u64,
    /// The former paths without a row, because their documents are not published.
    pub gone: u64,
}

/// A row: a path that leads elsewhere.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FormerPathRow<'a> {
    /// The path; one that ends with `/*` stands for all paths below.
    pub from: String,
    /// Its host, if the site has several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<&'a str>,
    /// The URL of the target; `None` without a base URL, and for a page that is gone.
    pub to: Option<String>,
    /// The path of the target on its host; `None` for a page that is gone.
    pub path: Option<String>,
    /// The status of the redirect.
    pub status: u16,
    /// The `documentId` of the target, if it is a document.
    pub document_id: Option<&'a str>,
    /// The content type of the target, if it is a document.
    pub content_type: Option<&'a str>,
    /// The code of the locale.
    pub locale: &'a str,
    /// When the document had the path last (RFC 3339); `None` for an entry.
    pub since: Option<String>,
    /// The entry of the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<EntryName<'a>>,
}

/// A redirect of the CMS.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct EntryName<'a> {
    /// Its content type.
    pub content_type: &'a str,
    /// Its `documentId`.
    pub document_id: &'a str,
    /// Whether it comes before a live page.
    pub force: bool,
}

/// The entries of the CMS.
#[derive(Debug)]
struct Entries {
    index: PathIndex,
    /// Each entry: the position of its snapshot, its position in it, and a host of which it is.
    pending: Vec<(Arc<Snapshot>, usize, Option<usize>)>,
}

/// The history of a site at one time.
#[derive(Clone, Debug)]
pub struct OwnedSiteHistory {
    /// The site.
    pub site: Arc<Site>,
    /// The history of all sites.
    pub history: Arc<PathHistory>,
    /// The id of the site in it.
    pub id: SiteId,
    /// The present time, in milliseconds since 1970.
    pub now: i64,
}

/// A row, and the position of a host on which a request finds it, if the site has several.
#[derive(Debug)]
struct Found {
    row: Row,
    host: Option<usize>,
}

impl Redirects {
    /// The redirects of a site whose content types have these snapshots: all of its types, then those of
    /// its redirects, built with path tables.
    pub fn new(
        history: OwnedSiteHistory,
        snapshots: &[(&ContentTypeUid, Arc<Snapshot>)],
        entries: &[(&ContentTypeUid, Arc<Snapshot>)],
        status: u16,
    ) -> Self {
        let index = PathIndex::of_fresh(&history.site.rules, snapshots.iter().cloned());
        let of_site = history.site.redirects.as_ref();
        let entries = of_site.map(|site| Entries::new(site, entries));
        Self { history, index, entries, status, pending: Vec::new(), place: 0, count: 0, gone: 0 }
    }

    /// Reads the next rows of the history. False: there are no more.
    fn read(&mut self) -> bool {
        let OwnedSiteHistory { history, id, now, .. } = &self.history;
        let Some((rows, next)) = history.rows_from(*id, self.place, *now) else { return false };
        self.place = next;
        self.pending = rows.into_iter().rev().flat_map(|row| self.history.found(row)).collect();
        true
    }

    fn world(&self) -> Option<RedirectWorld<'_>> {
        let OwnedSiteHistory { site, history, id, now } = &self.history;
        Some(RedirectWorld {
            site,
            index: &self.index,
            entries: RedirectEntries { index: &self.entries.as_ref()?.index },
            history: Some(SiteHistory { history, id: *id, now: *now }),
            status: self.status,
        })
    }

    /// Whether an entry decides about the path of a row.
    fn has_entry(&self, found: &Found) -> bool {
        let pathname = Pathname::parse(&found.row.path);
        let of = |world: RedirectWorld<'_>| {
            matches!(world.former_owner(&pathname, found.host), FormerOwner::Entry(_))
        };
        self.world().is_some_and(of)
    }

    /// The row of an entry, unless a live page comes before it or it leads nowhere.
    fn entry_row<'s>(
        &'s self,
        entry: PublicUrl<'s>,
        host: Option<usize>,
    ) -> Option<FormerPathRow<'s>> {
        let row = self.world()?.row(entry, host)?;
        let site = &self.history.site;
        let rules = &site.redirects.as_ref()?.rules;
        Some(FormerPathRow {
            from: row.from,
            host: host.map(|host| site.hosts.all()[host].base.host()),
            to: row.to,
            path: row.path,
            status: row.status,
            document_id: row.document.map(PublicUrl::document_id),
            content_type: row.document.map(|url| content_type(&site.rules, url)),
            locale: site.rules.locales().codes()[entry.locale()].as_str(),
            since: None,
            entry: Some(EntryName {
                content_type: content_type(rules, entry),
                document_id: entry.document_id(),
                force: row.is_forced,
            }),
        })
    }

    /// The row of a former path. It leads to the document that had it, or where the entry leads that
    /// comes before that page.
    fn former_row<'s>(&'s self, found: Found, redirect: &Redirect<'s>) -> FormerPathRow<'s> {
        let (site, to) = (&self.history.site, redirect.to);
        let (hosts, rules) = (&site.hosts, &site.rules);
        let pathname = Pathname::parse(&found.row.path);
        let owner =
            |world: RedirectWorld<'s>| world.of_former_path(*redirect, &pathname, found.host);
        let (url, path, document, status) = match self.world().map(owner) {
            Some(FormerOwner::Entry(entry)) => {
                let written = |text: Option<String>| text.map(|text| as_written(&text));
                let (url, path) = (written(entry.url(site)), written(entry.path()));
                (url, path, entry.document(), entry.status)
            }
            _ => (hosts.url(to.locale(), to.path()), Some(to.path().into()), Some(to), self.status),
        };
        FormerPathRow {
            from: found.row.path,
            host: found.host.map(|host| hosts.all()[host].base.host()),
            to: url,
            path,
            status,
            document_id: document.map(PublicUrl::document_id),
            content_type: document.map(|url| content_type(rules, url)),
            locale: rules.locales().codes()[to.locale()].as_str(),
            // As in a response of `/api/resolve`, a time that no date has is empty.
            since: Some(timestamp_text(redirect.since).unwrap_or_default()),
            entry: None,
        }
    }
}

fn content_type<'a>(rules: &'a RuleSet, url: PublicUrl<'_>) -> &'a str {
    rules.rules()[url.rule()].content_type.as_str()
}

impl Entries {
    fn new(site: &Site, snapshots: &[(&ContentTypeUid, Arc<Snapshot>)]) -> Self {
        let index = PathIndex::of_fresh(&site.rules, snapshots.iter().cloned());
        let of_snapshot = |(_, snapshot): &(_, Arc<Snapshot>)| {
            let entries = snapshot.owners().flat_map(|entry| {
                let on = hosts_of_entry(&site.hosts, entry);
                on.map(move |host| (entry.position(), host))
            });
            let entries: Vec<_> = entries.collect();
            entries
                .into_iter()
                .map(|(at, host)| (Arc::clone(snapshot), at, host))
                .collect::<Vec<_>>()
        };
        let mut pending: Vec<_> = snapshots.iter().flat_map(of_snapshot).collect();
        pending.reverse();
        Self { index, pending }
    }
}

impl OwnedSiteHistory {
    /// The requests that find a row. One from when the site had another number of hosts is found where
    /// there is none from now.
    fn found(&self, row: Row) -> Vec<Found> {
        let hosts = &self.site.hosts;
        let has_none =
            |host: &str| self.history.find(self.id, [host], &row.path, self.now).is_none();
        if hosts.are_several() && row.host.is_empty() {
            let all = hosts.all().iter().enumerate().rev();
            let found = all.filter(|(_, host)| has_none(host.base.host()));
            return found.map(|(at, _)| Found { row: row.clone(), host: Some(at) }).collect();
        }
        let is_from_now = hosts.are_several() != row.host.is_empty();
        let is_found = is_on_site(&self.site, &row) && (is_from_now || has_none(""));
        let host = host_if_several(&self.site, &row);
        is_found.then_some(Found { row, host }).into_iter().collect()
    }
}

impl SiteHistory<'_> {
    /// This history for a table, which outlives a request. `history` is [`SiteHistory::history`],
    /// shared.
    pub fn to_owned(&self, site: Arc<Site>, history: Arc<PathHistory>) -> OwnedSiteHistory {
        OwnedSiteHistory { site, history, id: self.id, now: self.now }
    }
}

impl Rows for Redirects {
    const NAME: &'static str = "redirects";
    const FIGURES_LAST: bool = true;
    type Figures = RedirectCount;

    fn figures(&self) -> RedirectCount {
        RedirectCount { count: self.count, gone: self.gone }
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        while let Some((snapshot, at, host)) =
            self.entries.as_mut().and_then(|entries| entries.pending.pop())
        {
            if let Some(row) = self.entry_row(snapshot.nth(at), host) {
                out.value(&row);
                self.count += 1;
                return Step::Row;
            }
        }
        while let Some(found) = self.pending.pop() {
            let site = &self.history.site;
            if is_live(site, &self.index, &found.row.path, found.host) {
                continue;
            }
            if self.has_entry(&found) {
                continue;
            }
            match owner_of_row(site, &self.index, &found.row) {
                FormerOwner::Moved(redirect) => {
                    out.value(&self.former_row(found, &redirect));
                    self.count += 1;
                    return Step::Row;
                }
                // All types with a rule are known, so that a document is gone where none is found.
                FormerOwner::Gone { .. }
                | FormerOwner::None
                | FormerOwner::NotKnown(_)
                | FormerOwner::Entry(_) => self.gone += 1,
            }
        }
        if self.read() { Step::Nothing } else { Step::End }
    }
}

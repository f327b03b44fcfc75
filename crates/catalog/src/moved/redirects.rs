//! Redirects: the present URL of the document that had a path before. Targets are not stored but looked
//! up in the path index, so that a redirect never leads to a path that no document has.

mod table;

use crate::moved::entries::EntryRedirect;
use crate::moved::history::{PathHistory, Row, SiteId};
use crate::path_index::{DocumentLocation, PathIndex, VersionId};
use crate::site::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Pathname};

pub use table::{EntryName, FormerPathRow, OwnedSiteHistory, RedirectCount, Redirects};

/// The most former paths of a response.
const MAX_FORMER_PATHS: usize = 20;

/// The history of one site.
#[derive(Clone, Copy, Debug)]
pub struct SiteHistory<'h> {
    /// The history of all sites.
    pub history: &'h PathHistory,
    /// The site in it.
    pub id: SiteId,
    /// The present time, in milliseconds since 1970.
    pub now: i64,
}

/// What is known of a path that no document has.
#[derive(Clone, Debug)]
pub enum FormerOwner<'i> {
    /// No document is known to have had it.
    None,
    /// The document that had it is now at another path.
    Moved(Redirect<'i>),
    /// The version that had it last has no URL now: it is not published, or another document has its
    /// path.
    Gone {
        /// When it had the path last, in milliseconds since 1970.
        since: i64,
    },
    /// It depends on the documents of this content type, which are not known.
    NotKnown(ContentTypeUid),
    /// An entry of the CMS says where it leads.
    Entry(EntryRedirect<'i>),
}

/// A redirect from a path that a document had.
#[derive(Clone, Copy, Debug)]
pub struct Redirect<'i> {
    /// Where the document is: its path resolves to it.
    pub to: PublicUrl<'i>,
    /// When the document had the path last, in milliseconds since 1970.
    pub since: i64,
    /// Whether this depends on a stale snapshot.
    pub is_stale: bool,
}

impl SiteHistory<'_> {
    /// The document that had a path last, on the first of these hosts that has a row.
    fn find<'n>(self, hosts: impl IntoIterator<Item = &'n str>, path: &str) -> Option<Row> {
        self.history.find(self.id, hosts, path, self.now)
    }
}

/// What is known of a path that no document has. Without a `host` (a position among the
/// site's hosts), the first host that knows the path decides.
pub fn former_owner<'i>(
    site_history: SiteHistory<'_>,
    site: &Site,
    index: &'i PathIndex,
    pathname: &Pathname<'_>,
    host: Option<usize>,
) -> FormerOwner<'i> {
    // A path that a document has leads to no other one (D41).
    if site_history.history.is_empty() || index.has_document(&site.rules, pathname, host) {
        return FormerOwner::None;
    }
    match site_history.find(host_names(site, host), &pathname.normalized()) {
        Some(row) => owner_of_row(site, index, &row),
        None => not_localized(site_history, site, index, pathname, host),
    }
}

/// What is known of a path in another locale than that of a document that is not localized, which had
/// the same path in the site's first locale (D19).
fn not_localized<'i>(
    site_history: SiteHistory<'_>,
    site: &Site,
    index: &'i PathIndex,
    pathname: &Pathname<'_>,
    host: Option<usize>,
) -> FormerOwner<'i> {
    let first_host = site.hosts.host_if_several(0);
    for path in paths_in_default_locale(site, pathname, host) {
        let Some(row) = site_history.find(host_names(site, first_host), &path) else { continue };
        match owner_of_row(site, index, &row) {
            // Whether a document that is gone was localized is not known.
            FormerOwner::Moved(redirect) if redirect.to.is_localized() => {}
            FormerOwner::None | FormerOwner::Gone { .. } | FormerOwner::Entry(_) => {}
            owner => return owner,
        }
    }
    FormerOwner::None
}

/// The paths in the site's first locale that a pathname in another locale, or on another host, can
/// stand for: by the rule that matches it, and by the locale at its beginning.
pub fn paths_in_default_locale(
    site: &Site,
    pathname: &Pathname<'_>,
    host: Option<usize>,
) -> impl Iterator<Item = String> {
    let found = site.rules.find_on(pathname, host);
    let by_rule = found.and_then(|found| site.rules.in_default_locale(&found, pathname, host));
    let own =
        site.rules.own_paths_in_default_locale(pathname, host).map(|(_, path)| path.into_owned());
    by_rule.into_iter().chain(own)
}

/// Where the document of a row is now; `None`: it has no URL, or that is not known.
pub fn present_url<'i>(site: &Site, index: &'i PathIndex, row: &Row) -> Option<PublicUrl<'i>> {
    match owner_of_row(site, index, row) {
        FormerOwner::Moved(redirect) => Some(redirect.to),
        _ => None,
    }
}

/// Where the document of a row is now.
fn owner_of_row<'i>(site: &Site, index: &'i PathIndex, row: &Row) -> FormerOwner<'i> {
    let version = VersionId { uid: &row.uid, document_id: &row.document_id, locale: &row.locale };
    let host = |locale| site.hosts.host_if_several(locale);
    let since = row.last_seen;
    match index.locate(&site.rules, version, host) {
        DocumentLocation::At { url: to, is_stale } => {
            FormerOwner::Moved(Redirect { to, since, is_stale })
        }
        DocumentLocation::None => FormerOwner::Gone { since },
        DocumentLocation::NotKnown(uid) => FormerOwner::NotKnown(uid),
    }
}

/// The paths that lead to a version because it had them before, those that have entered last first; at
/// most 20. A document that is not localized has those of all locales.
pub fn former_paths(
    site_history: SiteHistory<'_>,
    site: &Site,
    index: &PathIndex,
    version: VersionId<'_>,
    is_localized: bool,
) -> Vec<String> {
    let SiteHistory { history, id, now } = site_history;
    let rows = history.of_document(id, version.uid, version.document_id, now);
    let mut paths: Vec<String> = Vec::new();
    for row in rows {
        let is_own = !is_localized || row.locale == version.locale;
        if is_own && !paths.contains(&row.path) && is_without_document(site, index, &row) {
            paths.push(row.path);
        }
        if paths.len() == MAX_FORMER_PATHS {
            break;
        }
    }
    paths
}

/// Whether a request for the path of a row finds the row: its host is one of the site's, and no document
/// or page has the path now.
fn is_without_document(site: &Site, index: &PathIndex, row: &Row) -> bool {
    is_on_site(site, row) && !is_live(site, index, &row.path, host_if_several(site, row))
}

/// Whether the host of a row is one of the site's, or is not named, because the site had one host.
fn is_on_site(site: &Site, row: &Row) -> bool {
    row.host.is_empty() || position_of_host(site, row).is_some()
}

/// The host of a row among those of the site, if it has several.
fn host_if_several(site: &Site, row: &Row) -> Option<usize> {
    position_of_host(site, row).filter(|_| site.hosts.are_several())
}

fn position_of_host(site: &Site, row: &Row) -> Option<usize> {
    site.hosts.all().iter().position(|host| host.base.host() == row.host)
}

/// Whether a document or a page has a path now.
pub(crate) fn is_live(site: &Site, index: &PathIndex, path: &str, host: Option<usize>) -> bool {
    let pathname = Pathname::parse(path);
    let decision = index.decide(&site.rules, &pathname, host);
    decision.is_some_and(|decision| decision.owner.is_some())
        || index.has_document(&site.rules, &pathname, host)
        || site.pages.find(path, host).is_some()
}

/// The names of the hosts on which a path may have been: that of the request, or all of them; the
/// empty one is from when the site had one host, so that it is the first for such a site.
fn host_names(site: &Site, host: Option<usize>) -> impl Iterator<Item = &str> {
    let all = site.hosts.all();
    let is_requested = move |at: &usize| host.is_none_or(|host| host == *at);
    let names = (0..all.len()).filter(is_requested).map(|at| all[at].base.host());
    let is_one = !site.hosts.are_several();
    let (first, last) = (is_one.then_some(""), (!is_one).then_some(""));
    first.into_iter().chain(names).chain(last)
}

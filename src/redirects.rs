//! Redirects: the present URL of the document that had a path before. Targets are not stored but looked
//! up in the path index, so that a redirect never leads to a path that no document has.

use crate::path_history::{PathHistory, Row, SiteId};
use crate::path_index::{PathIndex, VersionId, Whereabouts};
use crate::rules::{ContentTypeUid, Pathname};
use crate::site::Site;
use crate::snapshot::PublicUrl;

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
pub enum Former<'i> {
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

impl Former<'_> {
    /// Whether a redirect depends on a stale snapshot; `None`: there is no redirect.
    #[must_use]
    pub fn is_stale(&self) -> Option<bool> {
        match self {
            Self::Moved(redirect) => Some(redirect.is_stale),
            Self::None | Self::Gone { .. } | Self::NotKnown(_) => None,
        }
    }
}

/// What is known of a normalized path that no document has. Without a `host` (a position among the
/// site's hosts), the first host that knows the path decides.
#[must_use]
pub fn former<'i>(
    of: SiteHistory<'_>,
    site: &Site,
    index: &'i PathIndex,
    path: &str,
    host: Option<usize>,
) -> Former<'i> {
    let Some(row) = of.history.find(of.id, host_names(site, host), path, of.now) else {
        return Former::None;
    };
    let version = VersionId { uid: &row.uid, document_id: &row.document_id, locale: &row.locale };
    let host = |locale| site.hosts.host_if_several(locale);
    let since = row.last_seen;
    match index.whereabouts(&site.rules, version, host) {
        Whereabouts::At { url: to, is_stale } => Former::Moved(Redirect { to, since, is_stale }),
        Whereabouts::Nowhere => Former::Gone { since },
        Whereabouts::NotKnown(uid) => Former::NotKnown(uid),
    }
}

/// The paths that lead to a version because it had them before, those that have entered last first; at
/// most 20. A document that is not localized has those of all locales.
#[must_use]
pub fn former_paths(
    of: SiteHistory<'_>,
    site: &Site,
    index: &PathIndex,
    version: VersionId<'_>,
    is_localized: bool,
) -> Vec<String> {
    let rows = of.history.of_document(of.id, version.uid, version.document_id, of.now);
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
    let named = site.hosts.all().iter().position(|host| host.base.host() == row.host);
    let host = named.filter(|_| site.hosts.are_several());
    if !row.host.is_empty() && host.is_none() {
        return false;
    }
    let pathname = Pathname::parse(&row.path);
    let decision = index.decide(&site.rules, &pathname, host);
    decision.is_none_or(|decision| decision.owner.is_none())
        && site.pages.find(&row.path, host).is_none()
}

/// The names of the hosts on which a path may have been: that of the request, or all of them; last the
/// empty one, from when the site had one host.
fn host_names(site: &Site, host: Option<usize>) -> impl Iterator<Item = &str> {
    let all = if site.hosts.are_several() { site.hosts.all() } else { &[] };
    let of_request = move |at: &usize| host.is_none_or(|host| host == *at);
    let names = (0..all.len()).filter(of_request).map(|at| all[at].base.host());
    names.chain([""])
}

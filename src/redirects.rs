//! Redirects: the present URL of the document that had a path before. Targets are not stored but looked
//! up in the path index, so that a redirect never leads to a path that no document has.

use crate::path_history::{PathHistory, SiteId};
use crate::path_index::{PathIndex, VersionId, Whereabouts};
use crate::rules::ContentTypeUid;
use crate::site::Site;
use crate::snapshot::PublicUrl;

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

/// The names of the hosts on which a path may have been: that of the request, or all of them; last the
/// empty one, from when the site had one host.
fn host_names(site: &Site, host: Option<usize>) -> impl Iterator<Item = &str> {
    let all = if site.hosts.are_several() { site.hosts.all() } else { &[] };
    let of_request = move |at: &usize| host.is_none_or(|host| host == *at);
    let names = (0..all.len()).filter(of_request).map(|at| all[at].base.host());
    names.chain([""])
}

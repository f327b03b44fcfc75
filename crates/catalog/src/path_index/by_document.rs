//! Where a document is published now, by its id, and which other document owns its path.

use std::sync::Arc;

use super::{Basis, PathIndex, has_path};
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::{ContentTypeUid, Pathname, RuleSet};

/// What an index knows of a content type.
#[derive(Clone, Debug)]
pub enum TypePaths {
    /// Its paths.
    Fresh(Arc<Snapshot>),
    /// Its paths, from a snapshot that is too old to decide between rules.
    Stale(Arc<Snapshot>),
    /// Nothing: its snapshot has expired.
    Expired,
    /// Nothing: its first walk has not completed.
    Missing,
}

impl TypePaths {
    /// The snapshot, fresh or stale; `None`: nothing is known.
    pub fn snapshot(&self) -> Option<&Arc<Snapshot>> {
        match self {
            Self::Fresh(snapshot) | Self::Stale(snapshot) => Some(snapshot),
            Self::Expired | Self::Missing => None,
        }
    }
}

/// A version of a document.
#[derive(Clone, Copy, Debug)]
pub struct VersionId<'v> {
    /// The content type of the document.
    pub uid: &'v str,
    /// Its `documentId`.
    pub document_id: &'v str,
    /// The code of the locale.
    pub locale: &'v str,
}

/// Where a version of a document is published.
#[derive(Clone, Debug)]
pub enum DocumentLocation<'i> {
    /// At this URL, whose path resolves to it.
    At {
        /// The URL.
        url: PublicUrl<'i>,
        /// Whether this depends on a stale snapshot.
        is_stale: bool,
    },
    /// None: it is not published, has no URL, or another document has its path.
    None,
    /// It depends on the documents of this content type, which are not known.
    NotKnown(ContentTypeUid),
}

impl PathIndex {
    /// Whether a version for which `is_it` holds has this path on the host, among those that own their
    /// paths in their content types.
    pub fn has_path_of(
        &self,
        path: &str,
        host: Option<usize>,
        is_it: impl Fn(PublicUrl<'_>) -> bool,
    ) -> bool {
        self.snapshots.iter().any(|one| one.owner_on(path, host).is_some_and(&is_it))
    }

    /// Whether another snapshot than this one has an owner of the path on the host.
    pub fn has_path_beside(&self, snapshot: &Snapshot, path: &str, host: Option<usize>) -> bool {
        let mut others =
            self.snapshots.iter().filter(|one| !std::ptr::eq(Arc::as_ptr(one), snapshot));
        others.any(|one| one.owner_on(path, host).is_some())
    }

    /// Whether a document has this path on the host, or on any host without one, even if the rule of
    /// another content type hides it.
    pub fn has_document(
        &self,
        rules: &RuleSet,
        pathname: &Pathname<'_>,
        host: Option<usize>,
    ) -> bool {
        let path = pathname.normalized();
        let is_on = |host| self.snapshots.iter().any(|one| one.owner_on(&path, host).is_some());
        if host.is_none() && rules.has_several_hosts() {
            (0..rules.host_count()).any(|host| is_on(Some(host)))
        } else {
            is_on(host)
        }
    }

    /// Where a version of a document is published. A document that is not localized is published in
    /// every locale, at its only URL. `host` is the host of a locale by their positions, if the site has
    /// several.
    pub fn locate(
        &self,
        rules: &RuleSet,
        version: VersionId<'_>,
        host: impl Fn(usize) -> Option<usize>,
    ) -> DocumentLocation<'_> {
        let own = self.types.iter().find(|(uid, _)| uid.as_str() == version.uid);
        let snapshot = match own {
            Some((_, TypePaths::Fresh(snapshot) | TypePaths::Stale(snapshot))) => snapshot,
            Some((uid, TypePaths::Missing | TypePaths::Expired)) => {
                return DocumentLocation::NotKnown(uid.clone());
            }
            None => return DocumentLocation::None,
        };
        let locale = rules.locales().position(version.locale);
        let mut versions = snapshot.versions_of(version.document_id);
        let in_locale = versions.clone().find(|url| Some(url.locale()) == locale);
        let url = in_locale.or_else(|| versions.find(|url| !url.is_localized()));
        url.map_or(DocumentLocation::None, |url| self.at(rules, url, host(url.locale())))
    }

    /// Where the version with this URL is: a document of another content type may have its path.
    fn at<'i>(
        &'i self,
        rules: &RuleSet,
        url: PublicUrl<'i>,
        host: Option<usize>,
    ) -> DocumentLocation<'i> {
        let pathname = Pathname::parse(url.path());
        let Some(decision) = self.decide(rules, &pathname, host) else {
            return DocumentLocation::None;
        };
        if let Some(uid) = decision.basis.unknown_type() {
            return DocumentLocation::NotKnown(uid.clone());
        }
        let uid = |url: PublicUrl<'_>| &rules.rules()[url.rule()].content_type;
        let is_it = |owner: &PublicUrl<'_>| {
            has_path(*owner, &pathname)
                && owner.document_id() == url.document_id()
                && uid(*owner) == uid(url)
        };
        match decision.owner.filter(is_it) {
            Some(_) => DocumentLocation::At { url, is_stale: decision.basis == Basis::Stale },
            None => DocumentLocation::None,
        }
    }
}

/// The owner of a path that a document has, if it is another document. `document` is its content type and
/// its `documentId`; `host` is a position among the site's hosts, if there are several. `index` is that
/// of a site that resolves by documents; on others, the `snapshot` of the content type decides.
pub fn other_owner<'a>(
    rules: &RuleSet,
    index: Option<&'a PathIndex>,
    snapshot: &'a Snapshot,
    uid: &str,
    document_id: &str,
    path: &str,
    host: Option<usize>,
) -> Option<PublicUrl<'a>> {
    let is_other = |owner: PublicUrl<'_>| {
        let of_type = rules.rules()[owner.rule()].content_type.as_str();
        of_type != uid || owner.document_id() != document_id
    };
    let owner = match index {
        // A look-up by path excludes nearly all documents, which own their paths.
        Some(index) if index.has_path_of(path, host, is_other) => {
            index.owner(rules, &Pathname::parse(path), host)
        }
        Some(_) => None,
        None => snapshot.owner_by_order(path, host),
    };
    owner.filter(|owner| is_other(*owner))
}

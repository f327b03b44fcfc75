//! The owner of a path that several documents have: it is what the URL of the others opens (D22).

use serde::Serialize;

use super::{PathIndex, other_owner};
use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::RuleSet;

/// `sharedPath`: another document owns the path of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SharedPath {
    /// The owner.
    pub owner: PathOwner,
}

/// The version that owns a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PathOwner {
    /// The content type.
    pub content_type: String,
    /// The `documentId`.
    pub document_id: String,
    /// The code of the locale.
    pub locale: String,
    /// Its page in the admin panel of the CMS, where that is told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_url: Option<String>,
}

/// What is known of the owners of a site's paths.
#[derive(Clone, Copy, Debug)]
pub struct PathOwners<'a> {
    site: &'a Site,
    /// For a site that resolves by documents. On others, the rules decide between content types.
    index: Option<&'a PathIndex>,
}

/// A version with a path: its content type, its `documentId`, its path, and the position of its locale.
#[derive(Clone, Copy, Debug)]
pub struct VersionPath<'v> {
    /// The content type.
    pub uid: &'v str,
    /// The `documentId`.
    pub document_id: &'v str,
    /// The path.
    pub path: &'v str,
    /// The position of the locale.
    pub locale: usize,
}

impl<'a> PathOwners<'a> {
    /// For a site, with the index of one that resolves by documents.
    pub fn new(site: &'a Site, index: Option<&'a PathIndex>) -> Self {
        Self { site, index }
    }

    /// Whether another document may own the path of a version in the snapshot of its content type: one
    /// owns it there, or the index has an owner in another content type.
    pub fn may_be_other(&self, url: PublicUrl<'_>, snapshot: &Snapshot) -> bool {
        let host = self.site.hosts.host_if_several(url.locale());
        let is_beside = |index: &PathIndex| index.has_path_beside(snapshot, url.path(), host);
        !url.is_owner() || self.index.is_some_and(is_beside)
    }

    /// The owner of the path of a version, if it is another document. `snapshot` is that of its content
    /// type.
    pub fn other_owner(&self, version: VersionPath<'_>, snapshot: &Snapshot) -> Option<SharedPath> {
        let VersionPath { uid, document_id, path, locale } = version;
        let host = self.site.hosts.host_if_several(locale);
        let rules = &self.site.rules;
        let owner = other_owner(rules, self.index, snapshot, uid, document_id, path, host)?;
        Some(SharedPath { owner: PathOwner::new(rules, owner) })
    }
}

impl PathOwner {
    /// The version with this URL.
    pub fn new(rules: &RuleSet, url: PublicUrl<'_>) -> Self {
        Self {
            content_type: rules.rules()[url.rule()].content_type.to_string(),
            document_id: url.document_id().to_owned(),
            locale: rules.locales().codes()[url.locale()].to_string(),
            admin_url: None,
        }
    }
}

//! The owner of a path that several documents have: it is what the URL of the others opens (D22).

use serde::Serialize;

use super::resolved_by;
use crate::app::App;
use frontend_map_catalog::json::Json;
use frontend_map_catalog::path_index::{self, PathIndex};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};

/// `sharedPath`: another document owns the path of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct SharedPath {
    owner: Owner,
}

/// The version that owns a path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct Owner {
    content_type: String,
    document_id: String,
    locale: String,
}

/// What is known of the owners of a site's paths.
pub(super) struct PathOwners<'a> {
    site: &'a Site,
    /// For a site that resolves by documents. On others, the rules decide between content types.
    index: Option<&'a PathIndex>,
}

/// A version with a path: its content type, its `documentId`, its path, and the position of its locale.
#[derive(Clone, Copy)]
pub(super) struct VersionPath<'v> {
    pub(super) uid: &'v str,
    pub(super) document_id: &'v str,
    pub(super) path: &'v str,
    pub(super) locale: usize,
}

impl<'a> PathOwners<'a> {
    pub(super) fn new(site: &'a Site, index: Option<&'a PathIndex>) -> Self {
        Self { site, index }
    }

    /// Whether another document may own the path of a version in the snapshot of its content type: one
    /// owns it there, or the index has an owner in another content type.
    pub(super) fn may_be_other(&self, url: PublicUrl<'_>, snapshot: &Snapshot) -> bool {
        let host = self.site.hosts.host_if_several(url.locale());
        let is_beside = |index: &PathIndex| index.has_path_beside(snapshot, url.path(), host);
        !url.is_owner() || self.index.is_some_and(is_beside)
    }

    /// The owner of the path of a version, if it is another document. `snapshot` is that of its content
    /// type.
    pub(super) fn other_owner(
        &self,
        version: VersionPath<'_>,
        snapshot: &Snapshot,
    ) -> Option<SharedPath> {
        let VersionPath { uid, document_id, path, locale } = version;
        let host = self.site.hosts.host_if_several(locale);
        let rules = &self.site.rules;
        let owner =
            path_index::other_owner(rules, self.index, snapshot, uid, document_id, path, host)?;
        Some(SharedPath {
            owner: Owner {
                content_type: rules.rules()[owner.rule()].content_type.to_string(),
                document_id: owner.document_id().to_owned(),
                locale: rules.locales().codes()[owner.locale()].to_string(),
            },
        })
    }
}

impl SharedPath {
    /// Writes the member `sharedPath` with a comma before it.
    pub(super) fn write(&self, json: &mut Json) {
        json.raw(r#","sharedPath":"#).value(self);
    }
}

/// The owner of the path of a version that was read from the CMS, if it is another document.
pub(super) fn of_document(app: &App, site: &Site, version: VersionPath<'_>) -> Option<SharedPath> {
    let known = app.snapshots.knowledge(site, version.uid);
    let snapshot = &known.usable()?.cached.snapshot;
    let state = resolved_by::path_index(app, site);
    let index = state.as_ref().map(|state| &*state.index);
    PathOwners::new(site, index).other_owner(version, snapshot)
}

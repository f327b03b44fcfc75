//! What publishing, unpublishing and deleting a version of a document would do to the public URLs of a
//! site: before an editor does it, from what the snapshots know.
//!
//! The CMS is read for the draft, and for the drafts that read it. Everything else comes from the
//! snapshots:
//!
//! - **Related documents.** A draft is read with the drafts behind its relations, and readers get the
//!   published ones. Their values stand in the paths of the versions that read them too, and in those of
//!   the related documents themselves (`published`).
//! - **Dependents.** A snapshot has no values of a version. Its path has those that the path was built
//!   from (`values`); with the values of the draft in place of those that it reads, its rule builds the
//!   next path (`dependents`). Values that are not in the path are unknown, as a key that the CMS left
//!   out is (D32): where one decides, so is the next path. There may be more dependents if the drafts
//!   that read the document are not those of the published versions that read it.
//! - **Owners.** The versions at the paths in question are put together as an update would put them, and
//!   the owners are decided by the same code (`paths`).
//!
//! A path that is computed so is a forecast for the editor; it never enters a snapshot (D60).

mod change;
mod conflict;
mod dependents;
mod effect;
mod paths;
mod published;
mod values;
mod world;

pub use conflict::{Decider, PathConflict, SiteDecider, Wins};
pub use effect::{
    Group, LostPage, MovedPage, NoPath, PathMove, PathRedirect, PublishEffect, RelatedDocument,
};
pub use published::{Draft, Related};
pub use world::{DocumentVersion, DraftDependents, FirstDrafts, Subject, World};

use std::collections::BTreeSet;

use serde::Serialize;

use self::world::Known;
use crate::snapshot::NoSnapshot;
use frontend_map_rules::{Document, FieldPath};

/// What would happen on a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SitePreview {
    /// The key of the site.
    pub site: String,
    /// Where the version is published now; `None`: its path does not lead to it, or it has none.
    pub path: Option<String>,
    /// If the draft is published.
    pub publish: PublishEffect,
    /// If the version is unpublished, or deleted alone.
    pub unpublish: PublishEffect,
    /// If the document is deleted, with all of its locales.
    pub delete: PublishEffect,
}

/// What would happen to the version of a draft.
///
/// # Errors
/// [`NoSnapshot`]: the draft lacks a key that decides about its URL (D32).
pub fn preview(
    world: &World<'_>,
    subject: Subject<'_>,
    draft: &Draft<'_>,
) -> Result<SitePreview, NoSnapshot> {
    let known = Known::new(world);
    let before = paths::Paths::of(world);
    let path = known
        .version(subject)
        .filter(|url| before.is_there(subject.uid, *url))
        .map(|url| url.path().to_owned());
    Ok(SitePreview {
        site: world.site.key.clone(),
        path,
        publish: effect::publish(&known, &before, subject, draft)?,
        unpublish: effect::withdraw(&known, &before, subject, false)?,
        delete: effect::withdraw(&known, &before, subject, true)?,
    })
}

/// The fields of a document that decide about its URL and about those of its dependents on a site; none
/// if the site has neither.
pub fn fields(world: &World<'_>, uid: &str, document_id: &str) -> BTreeSet<FieldPath> {
    let rules = &world.site.rules;
    let mut fields: BTreeSet<FieldPath> = rules.listing_fields(uid).into_iter().collect();
    for (at, (other, snapshot)) in world.types.iter().enumerate() {
        for relation in rules.relations(other.as_str()) {
            let may_be_drafted = world.draft_dependents.iter().any(|own| {
                let are_none =
                    own.drafts.as_ref().is_some_and(|FirstDrafts { versions, are_all }| {
                        *are_all && versions.is_empty()
                    });
                own.type_at == at && own.relation == relation && !are_none
            });
            if may_be_drafted || snapshot.referring(&relation, document_id).next().is_some() {
                let read = rules.listing_fields(other.as_str());
                fields.extend(read.iter().filter_map(|field| field.behind(&relation)));
            }
        }
    }
    fields
}

/// The documents behind relations of a draft about whose published versions the snapshots say too
/// little: each relation, and the `documentId`.
pub fn unknown_related(
    world: &World<'_>,
    subject: Subject<'_>,
    draft: &Document<'_>,
) -> Vec<(FieldPath, String)> {
    let known = Known::new(world);
    let draft = Draft { document: draft, published_at: "", related: &[] };
    published::as_published(&known, subject, &draft).assumed
}

#[cfg(test)]
mod tests;

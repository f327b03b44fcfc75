//! What publishing, unpublishing and deleting a version of a document would do to the public URLs of a
//! site: before an editor does it, from what the snapshots know.
//!
//! The CMS is read for the draft alone. Everything else comes from the snapshots:
//!
//! - **Related documents.** A draft is read with the drafts behind its relations, and readers get the
//!   published ones. Their values stand in the paths of the versions that read them too, and in those of
//!   the related documents themselves (`published`).
//! - **Dependents.** A snapshot has no values of a version. Its path has those that the path was built
//!   from (`values`); with the values of the draft in place of those that it reads, its rule builds the
//!   next path (`dependents`). Values that are not in the path are unknown, as a key that the CMS left
//!   out is (D32): where one decides, so is the next path.
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

pub use conflict::{Decider, PathConflict, SiteDecider, Wins};
pub use effect::{
    Group, LostPage, MovedPage, NoPath, PathMove, PathRedirect, PublishEffect, RelatedDocument,
};
pub use published::Related;

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Serialize;

use crate::moved::entries::{Destination, EntryRedirect};
use crate::moved::redirects::SiteHistory;
use crate::site::{AdminLinks, Site};
use crate::snapshot::{NoSnapshot, PublicUrl, Snapshot, Version};
use frontend_map_rules::{ContentTypeUid, Document, DocumentLocale, FieldPath, PatternsByRule};

/// The most rows of each list of an effect.
pub const MAX_ROWS: usize = 10;

/// What is known of a site.
#[derive(Clone, Debug)]
pub struct World<'w> {
    /// The site.
    pub site: &'w Site,
    /// The snapshots of its content types, in the order of their rules.
    pub types: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>,
    /// The snapshots of the content types of its redirects.
    pub redirects: Vec<(&'w ContentTypeUid, Arc<Snapshot>)>,
    /// The paths that its documents had; `None`: they lead nowhere.
    pub history: Option<SiteHistory<'w>>,
    /// Links into the admin panel of the CMS, if its URL is set.
    pub links: Option<Arc<AdminLinks>>,
}

/// The version that an editor has before them.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'v> {
    /// The content type of the document.
    pub uid: &'v str,
    /// Its `documentId`.
    pub document_id: &'v str,
    /// The position of the version's locale in the site's locales; 0 if it is not localized.
    pub locale: usize,
    /// Whether the document has a locale.
    pub is_localized: bool,
}

/// A draft that may be published.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'d> {
    /// The draft, with the [`fields`].
    pub document: &'d Document<'d>,
    /// The date that it would get as `publishedAt`.
    pub published_at: &'d str,
    /// Published documents behind its relations, those that [`unknown_related`] has named.
    pub related: &'d [Related<'d>],
}

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

/// A version of a document, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct DocumentVersion {
    /// Its content type.
    pub content_type: String,
    /// The `documentId`.
    pub document_id: String,
    /// Its locale; the site's default for a document that is not localized.
    pub locale: String,
    /// Its title, if the rule names a field for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Its page in the admin panel of the CMS, if the address of that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_url: Option<String>,
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
    for (other, snapshot) in &world.types {
        for relation in rules.relations(other.as_str()) {
            if snapshot.referring(&relation, document_id).next().is_some() {
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

impl<'v> Subject<'v> {
    /// The version of a draft; `None`: its locale is none of the site's.
    pub fn of(site: &Site, uid: &'v str, draft: &'v Document<'_>) -> Option<Self> {
        let (locale, is_localized) = match &draft.locale {
            DocumentLocale::None => (0, false),
            DocumentLocale::Named(code) => (site.rules.locales().position(code)?, true),
            DocumentLocale::NotText => return None,
        };
        Some(Self { uid, document_id: &draft.id, locale, is_localized })
    }
}

/// A world with what is needed for many look-ups.
struct Known<'w> {
    world: &'w World<'w>,
    patterns: PatternsByRule,
    /// The fields of each content type that its URLs depend on.
    fields: Vec<Arc<[FieldPath]>>,
}

impl<'w> Known<'w> {
    fn new(world: &'w World<'w>) -> Self {
        let rules = &world.site.rules;
        let fields = world.types.iter().map(|(uid, _)| rules.listing_fields(uid.as_str()).into());
        Self { world, patterns: rules.patterns_by_rule(), fields: fields.collect() }
    }

    /// The position of a content type among those of the site.
    fn type_at(&self, uid: &str) -> Option<usize> {
        self.world.types.iter().position(|(own, _)| own.as_str() == uid)
    }

    fn snapshot(&self, at: usize) -> &'w Snapshot {
        &self.world.types[at].1
    }

    /// The present URL of a version.
    fn version(&self, subject: Subject<'_>) -> Option<PublicUrl<'w>> {
        let snapshot = self.snapshot(self.type_at(subject.uid)?);
        match snapshot.version(subject.document_id, subject.locale) {
            Version::Url(url) if url.locale() == subject.locale => Some(url),
            _ => None,
        }
    }

    fn redirect(&self, entry: &EntryRedirect<'_>) -> PathRedirect {
        let to = match &entry.destination {
            Some(Destination::Url(url)) => Some(url.clone() + &entry.suffix),
            _ => entry.path(),
        };
        PathRedirect { document: self.name(entry.entry), to, force: paths::is_forced(entry) }
    }

    fn name(&self, url: PublicUrl<'_>) -> DocumentVersion {
        // Redirects have rules of their own.
        let redirects = self.world.site.redirects.as_deref();
        let of_redirect = redirects.filter(|_| url.redirect().is_some());
        let Site { rules, .. } = of_redirect.unwrap_or(self.world.site);
        let content_type = rules.rules()[url.rule()].content_type.to_string();
        let locale = rules.locales().codes()[url.locale()].to_string();
        let of_link = Some(&*locale).filter(|_| url.is_localized());
        let link = |links: &Arc<AdminLinks>| links.link(&content_type, url.document_id(), of_link);
        DocumentVersion {
            admin_url: self.world.links.as_ref().map(link),
            document_id: url.document_id().to_owned(),
            title: url.title().map(str::to_owned),
            content_type,
            locale,
        }
    }
}

#[cfg(test)]
mod tests;

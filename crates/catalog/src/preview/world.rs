//! What a preview knows of a site, the version that an editor sees, and versions as rows of a list.

use std::sync::Arc;

use serde::Serialize;

use crate::moved::redirects::SiteHistory;
use crate::site::{AdminLinks, Site};
use crate::snapshot::{PublicUrl, Snapshot, Version};
use frontend_map_rules::{ContentTypeUid, Document, DocumentLocale, FieldPath, PatternsByRule};

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
    /// The drafts that read the document.
    pub draft_dependents: Vec<DraftDependents>,
}

/// The drafts of a content type that read a document through a relation.
#[derive(Clone, Debug)]
pub struct DraftDependents {
    /// The position of the content type among those of the site.
    pub type_at: usize,
    /// The relation.
    pub relation: FieldPath,
    /// `None`: they could not be read.
    pub drafts: Option<FirstDrafts>,
}

/// The first of some drafts by `documentId`.
#[derive(Clone, Debug)]
pub struct FirstDrafts {
    /// The `documentId` of each, and the position of its locale.
    pub versions: Vec<(String, usize)>,
    /// Whether there are no others.
    pub are_all: bool,
}

/// The version that an editor sees.
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
pub(super) struct Known<'w> {
    pub(super) world: &'w World<'w>,
    pub(super) patterns: PatternsByRule,
    /// The fields of each content type that its URLs depend on.
    pub(super) fields: Vec<Arc<[FieldPath]>>,
}

impl<'w> Known<'w> {
    pub(super) fn new(world: &'w World<'w>) -> Self {
        let rules = &world.site.rules;
        let fields = world.types.iter().map(|(uid, _)| rules.listing_fields(uid.as_str()).into());
        Self { world, patterns: rules.patterns_by_rule(), fields: fields.collect() }
    }

    /// The position of a content type among those of the site.
    pub(super) fn type_at(&self, uid: &str) -> Option<usize> {
        self.world.types.iter().position(|(own, _)| own.as_str() == uid)
    }

    pub(super) fn snapshot(&self, at: usize) -> &'w Snapshot {
        &self.world.types[at].1
    }

    /// The present URL of a version.
    pub(super) fn version(&self, subject: Subject<'_>) -> Option<PublicUrl<'w>> {
        let snapshot = self.snapshot(self.type_at(subject.uid)?);
        match snapshot.version(subject.document_id, subject.locale) {
            Version::Url(url) if url.locale() == subject.locale => Some(url),
            _ => None,
        }
    }

    pub(super) fn name(&self, url: PublicUrl<'_>) -> DocumentVersion {
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

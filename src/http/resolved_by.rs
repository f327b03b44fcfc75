//! Which rule a pathname belongs to on a site that may know its documents, and how an answer says
//! what decided.

use std::sync::Arc;

use axum::http::{HeaderName, HeaderValue};

use crate::app::{App, Index};
use crate::path_index::{Owner, PathIndex, decide, owner_of};
use crate::rules::{Match, Pathname};
use crate::site::{ResolveBy, Site};

/// What decided, on sites with `resolve = "documents"` alone.
pub(super) const RESOLVED_BY: HeaderName = HeaderName::from_static("x-resolved-by");

const DOCUMENTS: HeaderValue = HeaderValue::from_static("documents");
const RULES: HeaderValue = HeaderValue::from_static("rules");
const INDEX_MISSING: HeaderValue = HeaderValue::from_static("rules; index=missing");
const INDEX_STALE: HeaderValue = HeaderValue::from_static("rules; index=stale");

/// The rule that a pathname belongs to, and what is known about its document.
pub(super) struct Choice<'a> {
    /// The rule, if one matches.
    pub(super) found: Option<Match<'a>>,
    /// `None` on a site where the rules decide alone.
    pub(super) by: Option<HeaderValue>,
    /// Whether more could be known: the answer should not be kept for long.
    pub(super) passing: bool,
    owner: Option<Owner>,
    index: Option<Arc<PathIndex>>,
}

impl<'a> Choice<'a> {
    /// Decides. A site without the opt-in costs no more than the rules do.
    pub(super) fn make(app: &App, site: &'a Site, pathname: &'a Pathname<'_>) -> Self {
        if site.resolve == ResolveBy::Rules {
            return Self::by_rules(site, pathname, None);
        }
        match app.index(site) {
            Some(Index::Fresh(index)) => Self::by_documents(site, pathname, index),
            // Too old to settle a tie; good enough to say which document it was.
            Some(Index::Stale(index)) => {
                let choice = Self::by_rules(site, pathname, Some(INDEX_STALE));
                let found = choice.found.as_ref();
                let owner = found.and_then(|found| owner_of(&site.rules, pathname, found, &index));
                Self { owner, index: Some(index), ..choice }
            }
            Some(Index::Missing) | None => Self::by_rules(site, pathname, Some(INDEX_MISSING)),
        }
    }

    fn by_rules(site: &'a Site, pathname: &'a Pathname<'_>, by: Option<HeaderValue>) -> Self {
        let found = site.rules.find(pathname);
        Self { found, passing: by.is_some(), by, owner: None, index: None }
    }

    fn by_documents(site: &'a Site, pathname: &'a Pathname<'_>, index: Arc<PathIndex>) -> Self {
        let decision = decide(&site.rules, pathname, &index);
        let (found, owner) = decision.map_or((None, None), |d| (Some(d.found), d.owner));
        let by = Some(if owner.is_some() { DOCUMENTS } else { RULES });
        Self { found, by, passing: false, owner, index: Some(index) }
    }

    /// The document of the matched content type that owns the path, and the index that knows it.
    pub(super) fn document(&self) -> Option<(&PathIndex, Owner)> {
        Some((self.index.as_deref()?, self.owner?))
    }
}

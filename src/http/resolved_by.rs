//! Which rule a pathname belongs to on a site that may know its documents, and how an answer says
//! what decided.

use axum::http::{HeaderName, HeaderValue};

use super::envelope::Answer;
use crate::app::{App, Index};
use crate::rules::{Match, Pathname};
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;

/// What decided, on sites with `resolve = "documents"` alone.
const RESOLVED_BY: HeaderName = HeaderName::from_static("x-resolved-by");

const DOCUMENTS: HeaderValue = HeaderValue::from_static("documents");
const RULES: HeaderValue = HeaderValue::from_static("rules");
const INDEX_MISSING: HeaderValue = HeaderValue::from_static("rules; index=missing");
const INDEX_STALE: HeaderValue = HeaderValue::from_static("rules; index=stale");

/// The rule that a pathname belongs to, and what is known about its document.
pub(super) struct Choice<'a> {
    /// The rule, if one matches.
    pub(super) found: Option<Match<'a>>,
    /// `None` on a site where the rules decide alone.
    by: Option<HeaderValue>,
    /// Whether more could be known: the answer should not be kept for long.
    pub(super) passing: bool,
    /// The URL with this path, if a document of the matched content type has it.
    pub(super) owner: Option<PublicUrl<'a>>,
}

/// What the site knows about its documents; a site without the opt-in costs nothing.
pub(super) fn knowledge(app: &App, site: &Site) -> Option<Index> {
    (site.resolve == ResolveBy::Documents).then(|| app.index(site).unwrap_or(Index::Missing))
}

impl<'a> Choice<'a> {
    /// How long the answer may be kept.
    pub(super) fn policy<'p>(&self, app: &'p App) -> &'p HeaderValue {
        let passing = self.passing || self.found.is_none();
        if passing { &app.caching.resolve_miss } else { &app.caching.resolve }
    }

    /// Says what decided, if that is not always the same.
    pub(super) fn tell(&self, answer: &mut Answer) {
        if let Some(by) = &self.by {
            answer.headers_mut().insert(RESOLVED_BY, by.clone());
        }
    }

    /// Decides.
    pub(super) fn make(
        site: &'a Site,
        pathname: &'a Pathname<'_>,
        index: Option<&'a Index>,
    ) -> Self {
        match index {
            None => Self::by_rules(site, pathname, None),
            Some(Index::Missing) => Self::by_rules(site, pathname, Some(INDEX_MISSING)),
            // Too old to settle a tie; good enough to say which document it was.
            Some(Index::Stale(index)) => {
                let choice = Self::by_rules(site, pathname, Some(INDEX_STALE));
                let found = choice.found.as_ref();
                let owner = found.and_then(|found| index.owner(&site.rules, pathname, found));
                Self { owner, ..choice }
            }
            Some(Index::Fresh(index)) => {
                let decision = index.decide(&site.rules, pathname);
                let (found, owner) = decision.map_or((None, None), |d| (Some(d.found), d.owner));
                let by = Some(if owner.is_some() { DOCUMENTS } else { RULES });
                Self { found, by, passing: false, owner }
            }
        }
    }

    fn by_rules(site: &'a Site, pathname: &'a Pathname<'_>, by: Option<HeaderValue>) -> Self {
        Self { found: site.rules.find(pathname), passing: by.is_some(), by, owner: None }
    }
}

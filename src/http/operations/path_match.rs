//! The rule that a pathname matches, on a site with or without a path index, and the header
//! `X-Resolved-By`, which says what decided.

use axum::http::{HeaderName, HeaderValue};

use crate::app::App;
use crate::http::response::envelope::HttpResponse;
use crate::rules::{Match, Pathname};
use crate::site::{ResolveBy, Site};
use crate::snapshot::PublicUrl;
use crate::snapshot_cache::PathIndexState;

/// What decided; only sites with `resolve = "documents"` send it.
const X_RESOLVED_BY: HeaderName = HeaderName::from_static("x-resolved-by");

const DOCUMENTS: HeaderValue = HeaderValue::from_static("documents");
const RULES: HeaderValue = HeaderValue::from_static("rules");
const INDEX_MISSING: HeaderValue = HeaderValue::from_static("rules; index=missing");
const INDEX_STALE: HeaderValue = HeaderValue::from_static("rules; index=stale");

/// The rule that a pathname matches, and its document if the path index has one.
pub(super) struct PathMatch<'a> {
    /// The rule, if one matches.
    pub(super) found: Option<Match<'a>>,
    /// The URL with this path, if a document of the matched content type has it.
    pub(super) owner: Option<PublicUrl<'a>>,
    /// `None` on a site without a path index.
    resolved_by: Option<HeaderValue>,
    /// Whether a fresh index may decide otherwise, so that the response is cached for a short time.
    provisional: bool,
}

/// The path index of a site with `resolve = "documents"`.
pub(super) fn path_index(app: &App, site: &Site) -> Option<PathIndexState> {
    (site.resolve == ResolveBy::Documents).then(|| {
        let index = app.snapshots.path_index(site);
        index.expect("a site that resolves by documents has a path index")
    })
}

impl<'a> PathMatch<'a> {
    /// Finds the rule of a pathname.
    pub(super) fn find(
        site: &'a Site,
        pathname: &'a Pathname<'_>,
        index: Option<&'a PathIndexState>,
    ) -> Self {
        match index {
            None => Self::by_rules(site, pathname, None),
            Some(PathIndexState::Missing) => Self::by_rules(site, pathname, Some(INDEX_MISSING)),
            // Too old to decide between rules, but still used to name the document.
            Some(PathIndexState::Stale(index)) => {
                let by_rules = Self::by_rules(site, pathname, Some(INDEX_STALE));
                let found = by_rules.found.as_ref();
                let owner = found.and_then(|found| index.owner(&site.rules, pathname, found));
                Self { owner, ..by_rules }
            }
            Some(PathIndexState::Fresh(index)) => {
                let decision = index.decide(&site.rules, pathname);
                let (found, owner) = decision.map_or((None, None), |d| (Some(d.found), d.owner));
                let resolved_by = Some(if owner.is_some() { DOCUMENTS } else { RULES });
                Self { found, owner, resolved_by, provisional: false }
            }
        }
    }

    fn by_rules(
        site: &'a Site,
        pathname: &'a Pathname<'_>,
        resolved_by: Option<HeaderValue>,
    ) -> Self {
        let found = site.rules.find(pathname);
        Self { found, owner: None, provisional: resolved_by.is_some(), resolved_by }
    }

    /// The `Cache-Control` of the response.
    pub(super) fn cache_control<'p>(&self, app: &'p App) -> &'p HeaderValue {
        let short = self.provisional || self.found.is_none();
        if short { &app.http.cache_policy.resolve_miss } else { &app.http.cache_policy.resolve }
    }

    /// Adds `X-Resolved-By` on a site with a path index.
    pub(super) fn insert_resolved_by(&self, response: &mut HttpResponse) {
        if let Some(resolved_by) = &self.resolved_by {
            response.headers_mut().insert(X_RESOLVED_BY, resolved_by.clone());
        }
    }
}

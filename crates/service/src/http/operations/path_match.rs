//! The rule that a pathname matches, on a site with or without a path index, and the header
//! `X-Resolved-By`, which says what decided.

use axum::http::{HeaderName, HeaderValue};

use crate::app::App;
use crate::http::response::envelope::HttpResponse;
use crate::http::response::error::ApiError;
use frontend_map_cache::PathIndexState;
use frontend_map_catalog::path_index::{Basis, Decision};
use frontend_map_catalog::site::{ResolveBy, Site};
use frontend_map_rules::{Match, Pathname};

/// What decided; only sites with `resolve = "documents"` send it.
const X_RESOLVED_BY: HeaderName = HeaderName::from_static("x-resolved-by");

const DOCUMENTS: HeaderValue = HeaderValue::from_static("documents");
const RULES: HeaderValue = HeaderValue::from_static("rules");
const INDEX_MISSING: HeaderValue = HeaderValue::from_static("rules; index=missing");
const INDEX_STALE: HeaderValue = HeaderValue::from_static("rules; index=stale");
const PAGES: HeaderValue = HeaderValue::from_static("pages");
const CMS: HeaderValue = HeaderValue::from_static("cms");
const STALE_DOCUMENTS: HeaderValue = HeaderValue::from_static("documents; index=stale");
const DOCUMENTS_WITHOUT_INDEX: HeaderValue = HeaderValue::from_static("documents; index=missing");
const HISTORY: HeaderValue = HeaderValue::from_static("history");
const STALE_HISTORY: HeaderValue = HeaderValue::from_static("history; index=stale");

/// What decided which rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResolvedBy {
    /// The document that owns the path.
    Documents,
    /// The order of the settings: no document owns the path.
    Rules,
    /// The order of the settings, because a content type is not known yet.
    RulesWithoutIndex,
    /// The order of the settings, because the index is stale.
    RulesWithStaleIndex,
    /// The document that owned the path when the index was fresh.
    StaleDocuments,
    /// The document that owns the path, unless one of a content type that is not known yet has it as
    /// its own path.
    DocumentsWithoutIndex,
    /// The document that had the path before.
    History,
    /// The document that had the path before, whose present path is not known at the moment.
    StaleHistory,
    /// The CMS.
    Cms,
    /// The settings: it is the path of a page outside the CMS.
    Pages,
}

/// The rule that a pathname matches.
pub(super) struct PathMatch<'a> {
    /// The rule, if one matches.
    pub(super) found: Option<Match<'a>>,
    /// The position of the host of the request, else of the document, if the site has several.
    pub(super) host: Option<usize>,
    /// `None` on a site without a path index.
    resolved_by: Option<ResolvedBy>,
}

/// The path index of a site with `resolve = "documents"`.
pub(super) fn path_index(app: &App, site: &Site) -> Option<PathIndexState> {
    (site.resolve == ResolveBy::Documents).then(|| {
        let index = app.snapshots.path_index(site);
        index.expect("a site that resolves by documents has a path index")
    })
}

/// 501: the site has no path index.
pub(super) fn without_path_index(site: &Site) -> ApiError {
    let message = format!("site \"{}\" does not have resolve = \"documents\"", site.key);
    ApiError::not_configured(message)
}

/// The host of the document that owns the path, if the site has several.
pub(super) fn owner_host(site: &Site, decision: &Decision<'_, '_>) -> Option<usize> {
    let owner = decision.owner.filter(|owner| owner.is_localized())?;
    site.hosts.host_if_several(owner.locale())
}

impl<'a> PathMatch<'a> {
    /// Finds the rule of a pathname. Never waits for documents: while a content type that could own
    /// the path is not known, or too old to decide, the rules decide alone (D33).
    pub(super) fn find(
        site: &'a Site,
        pathname: &'a Pathname<'_>,
        index: Option<&PathIndexState>,
        host: Option<usize>,
    ) -> Self {
        let Some(PathIndexState { index, .. }) = index else {
            let found = site
                .rules
                .find_on(pathname, host)
                .map(|found| site.rules.with_locale_of_host(found, host));
            return Self { found, host, resolved_by: None };
        };
        let Some(decision) = index.decide(&site.rules, pathname, host) else {
            let resolved_by = ResolvedBy::of_no_rule(index.basis_without_rule(&site.rules));
            return Self { found: None, host, resolved_by: Some(resolved_by) };
        };
        let mut host = host;
        let (found, resolved_by) = match decision.basis {
            Basis::Fresh if decision.owner.is_some() => {
                host = host.or(owner_host(site, &decision));
                (decision.found, ResolvedBy::Documents)
            }
            Basis::OwnPathsUnknown => {
                host = host.or(owner_host(site, &decision));
                (decision.found, ResolvedBy::DocumentsWithoutIndex)
            }
            Basis::Fresh => (decision.found, ResolvedBy::Rules),
            Basis::Missing(_) => (decision.found, ResolvedBy::RulesWithoutIndex),
            Basis::Expired(_) => (decision.found, ResolvedBy::RulesWithStaleIndex),
            // The rules have no match for an own path: a stale document decides (D41).
            Basis::Stale if decision.has_own_path() => {
                host = host.or(owner_host(site, &decision));
                (decision.found, ResolvedBy::StaleDocuments)
            }
            Basis::Stale => {
                let first = site.rules.find_on(pathname, host).unwrap_or(decision.found);
                (first, ResolvedBy::RulesWithStaleIndex)
            }
        };
        let found = Some(site.rules.with_locale_of_host(found, host));
        Self { found, host, resolved_by: Some(resolved_by) }
    }

    /// The `Cache-Control` of the response.
    pub(super) fn cache_control<'p>(&self, app: &'p App) -> &'p HeaderValue {
        let provisional = self.resolved_by.is_some_and(ResolvedBy::is_provisional);
        let short = provisional || self.found.is_none();
        if short { &app.http.cache_policy.resolve_miss } else { &app.http.cache_policy.resolve }
    }

    /// Adds `X-Resolved-By` on a site with a path index.
    pub(super) fn insert_resolved_by(&self, response: &mut HttpResponse) {
        if let Some(resolved_by) = self.resolved_by {
            resolved_by.insert(response);
        }
    }
}

impl ResolvedBy {
    /// For a path that no rule matches.
    pub(super) fn of_no_rule(basis: Basis<'_>) -> Self {
        match basis {
            Basis::Fresh | Basis::OwnPathsUnknown => Self::Rules,
            Basis::Missing(_) => Self::RulesWithoutIndex,
            Basis::Stale | Basis::Expired(_) => Self::RulesWithStaleIndex,
        }
    }

    /// For a path that a document had before.
    pub(super) fn of_history(is_stale: bool) -> Self {
        if is_stale { Self::StaleHistory } else { Self::History }
    }

    /// Whether the response depends on a stale snapshot, for a decision on this basis.
    pub(super) fn is_stale(self, basis: Basis<'_>) -> bool {
        self == Self::StaleHistory || basis == Basis::Stale
    }

    /// Whether a fresh index may decide otherwise, so that the response is cached for a short time.
    pub(super) fn is_provisional(self) -> bool {
        !matches!(self, Self::Documents | Self::Rules | Self::History | Self::Cms | Self::Pages)
    }

    /// Adds `X-Resolved-By`.
    pub(super) fn insert(self, response: &mut HttpResponse) {
        let value = match self {
            Self::Documents => DOCUMENTS,
            Self::Rules => RULES,
            Self::RulesWithoutIndex => INDEX_MISSING,
            Self::RulesWithStaleIndex => INDEX_STALE,
            Self::StaleDocuments => STALE_DOCUMENTS,
            Self::DocumentsWithoutIndex => DOCUMENTS_WITHOUT_INDEX,
            Self::History => HISTORY,
            Self::StaleHistory => STALE_HISTORY,
            Self::Cms => CMS,
            Self::Pages => PAGES,
        };
        response.headers_mut().insert(X_RESOLVED_BY, value);
    }
}

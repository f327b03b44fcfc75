//! What a pathname resolves to: a page outside the CMS, a document, a rule without a document, or the
//! present URL of the document that had the path before. It names what decided.
//!
//! [`resolve`] decides, and [`Resolution::answer`] has the members of the response. What decided is named
//! here alone: for `X-Resolved-By` by [`ResolvedByHeader`], for the response by [`ResolvedBy`].

mod answer;
mod rule_match;

pub use answer::{
    Alternates, Breadcrumb, Gone, Kind, Redirection, ResolvedBy, ResolvedPath, SitePaths,
    Unresolved,
};
pub use rule_match::{CompactMatch, ParamValues, PathMatch, Requested, RuleMatch};

use crate::moved::redirects::FormerOwner;
use crate::path_index::{Basis, Decision, PathIndex};
use crate::site::Site;
use crate::snapshot::PublicUrl;
use frontend_map_rules::{ContentTypeUid, Match, Pathname, percent_decode};

/// What a pathname resolves to.
#[derive(Debug)]
pub struct Resolution<'r, 'i> {
    /// What has the path.
    pub found: Found<'r, 'i>,
    /// What decided.
    pub resolved_by: ResolvedByHeader,
    /// Whether this depends on a stale snapshot.
    pub is_stale: bool,
}

/// What has a path.
#[derive(Debug)]
pub enum Found<'r, 'i> {
    /// A page outside the CMS, which no document can have.
    Page(PublicUrl<'r>),
    /// This content type could own the path, and its documents are not known (D33).
    NotKnown(ContentTypeUid),
    /// A rule matches.
    Rule {
        /// The rule, and the values that it captures.
        matched: Match<'r>,
        /// The host of the request, else of the document, if the site has several.
        host: Option<usize>,
        /// The document with the path.
        document: Option<PublicUrl<'i>>,
        /// What is known of the path, if no document has it.
        former: FormerOwner<'i>,
    },
    /// No rule matches.
    NoRule(FormerOwner<'i>),
}

/// The rule that a pathname matches, for `/api/get-content-type`.
#[derive(Debug)]
pub struct RuleResolution<'r> {
    /// The rule, if one matches.
    pub matched: Option<Match<'r>>,
    /// The host of the request, else of the document, if the site has several.
    pub host: Option<usize>,
    /// What decided; `None` on a site without a path index.
    pub resolved_by: Option<ResolvedByHeader>,
}

/// What decided which rule matches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ResolvedByHeader {
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
    /// An entry of the CMS that redirects the path.
    Redirects,
    /// An entry of the CMS, by a stale snapshot.
    StaleRedirects,
    /// The document that had the path before, whose present path is not known at the moment.
    StaleHistory,
    /// The CMS.
    Cms,
    /// The settings: it is the path of a page outside the CMS.
    Pages,
}

/// Resolves a pathname. `forced` is what an entry says that comes before a live page; `former` is called
/// if no document has the path.
pub fn resolve<'r, 'i>(
    site: &'r Site,
    index: &'i PathIndex,
    pathname: &'r Pathname<'_>,
    host: Option<usize>,
    forced: FormerOwner<'i>,
    former: impl FnOnce() -> FormerOwner<'i>,
) -> Resolution<'r, 'i> {
    let is_forced = !matches!(forced, FormerOwner::None);
    if let Some(page) = page(site, pathname, host).filter(|_| !is_forced) {
        let found = Found::Page(page);
        return Resolution { found, resolved_by: ResolvedByHeader::Pages, is_stale: false };
    }
    let decision = index.decide(&site.rules, pathname, host);
    let basis = decision
        .as_ref()
        .map_or_else(|| index.basis_without_rule(&site.rules), |decision| decision.basis);
    if let Basis::Missing(uid) | Basis::Expired(uid) = basis
        && !is_forced
    {
        return Resolution::not_known(uid.clone(), basis);
    }
    let owner = decision.as_ref().and_then(|decision| decision.owner);
    let document = owner.filter(|_| !is_forced);
    let former = match document {
        _ if is_forced => forced,
        Some(_) => FormerOwner::None,
        None => former(),
    };
    if let FormerOwner::NotKnown(uid) = former {
        return Resolution::not_known(uid, basis);
    }
    let resolved_by = match (&former, &decision) {
        (FormerOwner::Moved(redirect), _) => {
            ResolvedByHeader::of_history(redirect.is_stale || basis == Basis::Stale)
        }
        (FormerOwner::Entry(entry), _) => {
            ResolvedByHeader::of_redirects(entry.is_stale || basis == Basis::Stale)
        }
        (_, Some(decision)) => ResolvedByHeader::of_decision(site, pathname, decision, host),
        (_, None) => ResolvedByHeader::of_basis(basis),
    };
    let is_stale =
        matches!(resolved_by, ResolvedByHeader::StaleHistory | ResolvedByHeader::StaleRedirects)
            || basis == Basis::Stale;
    let Some(decision) = decision else {
        return Resolution { found: Found::NoRule(former), resolved_by, is_stale };
    };
    let host = host.or(owner_host(site, &decision));
    let matched = site.rules.with_locale_of_host(decision.found, host);
    Resolution { found: Found::Rule { matched, host, document, former }, resolved_by, is_stale }
}

/// The page outside the CMS with this path.
pub fn page<'s>(
    site: &'s Site,
    pathname: &Pathname<'_>,
    host: Option<usize>,
) -> Option<PublicUrl<'s>> {
    if site.pages.is_empty() { None } else { site.pages.find(&pathname.normalized(), host) }
}

/// Whether a requested pathname is the path of this URL, percent-encoded or not and without query and
/// fragment, on its host (by its position, if the site has several).
pub fn is_canonical(pathname: &str, host: Option<usize>, url: PublicUrl<'_>) -> bool {
    let end = pathname.find(['?', '#']).unwrap_or(pathname.len());
    let written = &pathname[..end];
    let is_same_path =
        written == url.path() || percent_decode(written) == percent_decode(url.path());
    is_same_path && host.is_none_or(|host| host == url.host())
}

/// Finds the rule of a pathname. While a content type that could own the path is not known, or too old
/// to decide, the rules decide alone (D33).
pub fn resolve_rule<'r>(
    site: &'r Site,
    index: Option<&PathIndex>,
    pathname: &'r Pathname<'_>,
    host: Option<usize>,
) -> RuleResolution<'r> {
    let with_locale = |found, host| site.rules.with_locale_of_host(found, host);
    let by_rules = || site.rules.find_on(pathname, host);
    let Some(index) = index else {
        let matched = by_rules().map(|found| with_locale(found, host));
        return RuleResolution { matched, host, resolved_by: None };
    };
    let Some(decision) = index.decide(&site.rules, pathname, host) else {
        let resolved_by = ResolvedByHeader::of_basis(index.basis_without_rule(&site.rules));
        return RuleResolution { matched: None, host, resolved_by: Some(resolved_by) };
    };
    let own_host = host.or(owner_host(site, &decision));
    let (found, host, resolved_by) = match decision.basis {
        Basis::Fresh if decision.owner.is_some() => {
            (decision.found, own_host, ResolvedByHeader::Documents)
        }
        Basis::OwnPathsUnknown => {
            (decision.found, own_host, ResolvedByHeader::DocumentsWithoutIndex)
        }
        Basis::Fresh => (decision.found, host, ResolvedByHeader::Rules),
        Basis::Missing(_) => (decision.found, host, ResolvedByHeader::RulesWithoutIndex),
        Basis::Expired(_) => (decision.found, host, ResolvedByHeader::RulesWithStaleIndex),
        // The rules have no match for an own path: a stale document decides (D41).
        Basis::Stale if decision.has_own_path() => {
            (decision.found, own_host, ResolvedByHeader::StaleDocuments)
        }
        Basis::Stale => {
            (by_rules().unwrap_or(decision.found), host, ResolvedByHeader::RulesWithStaleIndex)
        }
    };
    RuleResolution { matched: Some(with_locale(found, host)), host, resolved_by: Some(resolved_by) }
}

/// The host of the document that owns the path, if the site has several.
fn owner_host(site: &Site, decision: &Decision<'_, '_>) -> Option<usize> {
    let owner = decision.owner.filter(|owner| owner.is_localized())?;
    site.hosts.host_if_several(owner.locale())
}

impl Resolution<'_, '_> {
    /// Whether there is a page at the path, or a redirect from it, or an entry that says that it is gone.
    pub fn leads_to_page(&self) -> bool {
        match &self.found {
            Found::Page(_) | Found::Rule { document: Some(_), .. } => true,
            Found::Rule { former, .. } | Found::NoRule(former) => {
                matches!(former, FormerOwner::Moved(_) | FormerOwner::Entry(_))
            }
            Found::NotKnown(_) => false,
        }
    }

    /// Whether it is known that the path leads to no page, from fresh snapshots of all types that could
    /// have it.
    pub fn is_definite_miss(&self) -> bool {
        let is_known = !matches!(self.found, Found::NotKnown(_));
        is_known && !self.leads_to_page() && !self.resolved_by.is_provisional()
    }

    /// Marks the result as stale if no document and no redirect was found: a redirect that is not in the
    /// stale snapshot may exist.
    pub fn with_stale_redirects(self) -> Self {
        let former = match &self.found {
            Found::Rule { document: None, former, .. } | Found::NoRule(former) => former,
            Found::Page(_) | Found::NotKnown(_) | Found::Rule { .. } => return self,
        };
        let resolved_by = match former {
            FormerOwner::Entry(_) | FormerOwner::NotKnown(_) => return self,
            FormerOwner::Moved(_) => ResolvedByHeader::StaleHistory,
            FormerOwner::None | FormerOwner::Gone { .. } => match self.resolved_by {
                ResolvedByHeader::Rules => ResolvedByHeader::RulesWithStaleIndex,
                other => other,
            },
        };
        Self { resolved_by, is_stale: true, ..self }
    }

    fn not_known(uid: ContentTypeUid, basis: Basis<'_>) -> Self {
        let resolved_by = ResolvedByHeader::of_basis(basis);
        Self { found: Found::NotKnown(uid), resolved_by, is_stale: false }
    }
}

impl ResolvedByHeader {
    /// For a path that no document has.
    fn of_basis(basis: Basis<'_>) -> Self {
        match basis {
            Basis::Fresh | Basis::OwnPathsUnknown => Self::Rules,
            Basis::Missing(_) => Self::RulesWithoutIndex,
            Basis::Stale | Basis::Expired(_) => Self::RulesWithStaleIndex,
        }
    }

    /// For a path that a document had before.
    fn of_history(is_stale: bool) -> Self {
        if is_stale { Self::StaleHistory } else { Self::History }
    }

    /// For a path that an entry of the CMS redirects.
    fn of_redirects(is_stale: bool) -> Self {
        if is_stale { Self::StaleRedirects } else { Self::Redirects }
    }

    /// For a path that a rule matches. Documents of a stale index decide only in [`resolve`]:
    /// [`resolve_rule`] has another rule then.
    fn of_decision(
        site: &Site,
        pathname: &Pathname<'_>,
        decision: &Decision<'_, '_>,
        host: Option<usize>,
    ) -> Self {
        match decision.basis {
            Basis::Stale => {
                let by_rules =
                    site.rules.find_on(pathname, host).filter(|_| !decision.has_own_path());
                let agree =
                    by_rules.is_some_and(|found| std::ptr::eq(found.rule, decision.found.rule));
                if agree { Self::RulesWithStaleIndex } else { Self::StaleDocuments }
            }
            Basis::OwnPathsUnknown => Self::DocumentsWithoutIndex,
            _ if decision.owner.is_some() => Self::Documents,
            _ => Self::Rules,
        }
    }

    /// Whether a fresh index may decide otherwise, so that the response is cached for a short time.
    pub fn is_provisional(self) -> bool {
        !matches!(
            self,
            Self::Documents
                | Self::Rules
                | Self::Redirects
                | Self::History
                | Self::Cms
                | Self::Pages
        )
    }

    /// The value of `X-Resolved-By`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Documents => "documents",
            Self::Rules => "rules",
            Self::RulesWithoutIndex => "rules; index=missing",
            Self::RulesWithStaleIndex => "rules; index=stale",
            Self::StaleDocuments => "documents; index=stale",
            Self::DocumentsWithoutIndex => "documents; index=missing",
            Self::Redirects => "redirects",
            Self::StaleRedirects => "redirects; index=stale",
            Self::History => "history",
            Self::StaleHistory => "history; index=stale",
            Self::Cms => "cms",
            Self::Pages => "pages",
        }
    }
}

#[cfg(test)]
mod tests;

//! The answer of `/api/resolve`: what a pathname leads to, with the members that the response has.

use serde::{Serialize, Serializer};

use super::rule_match::{PathMatch, Requested, RuleMatch};
use super::{Found, Resolution, is_canonical};
use crate::moved::entries::{EntryRedirect, RedirectWorld};
use crate::moved::redirects::FormerOwner;
use crate::path_index::{PathIndex, SharedPath};
use crate::site::{AbsoluteUrl, Site};
use crate::snapshot::{PublicUrl, timestamp_text};
use frontend_map_rules::{ContentTypeUid, Pathname};

/// A site, and what is known of its paths.
#[derive(Clone, Copy, Debug)]
pub struct SitePaths<'a> {
    /// The site.
    pub site: &'a Site,
    /// Its documents.
    pub index: &'a PathIndex,
    /// The redirects of the CMS.
    pub redirects: Option<RedirectWorld<'a>>,
    /// The status with which frontends redirect from former paths.
    pub redirect_status: u16,
}

/// What a pathname leads to.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResolvedPath<'a> {
    /// The key of the site.
    pub site: &'a str,
    /// As requested; by an id the path of the document.
    pub pathname: &'a str,
    /// The locale of the path, else of the request.
    pub locale: &'a str,
    /// The rule that matches.
    pub matched: Option<RuleMatch<'a>>,
    /// What has the path.
    pub kind: Kind,
    /// The name of the page outside the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'a str>,
    /// Where a frontend has to redirect to.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Redirection<'a>>,
    /// That there was a page, or that a redirect of the CMS says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<Gone<'a>>,
    /// What decided.
    pub resolved_by: ResolvedBy,
    /// The `documentId` of the document.
    pub document_id: Option<&'a str>,
    /// The path of the document or page.
    pub canonical_path: Option<&'a str>,
    /// Its URL; `None` without a base URL.
    pub canonical_url: Option<AbsoluteUrl<'a>>,
    /// Whether the requested pathname is that path, on the host of the document.
    pub is_canonical: Option<bool>,
    /// The document in the API of the CMS.
    pub resource: Option<String>,
    /// When the version was modified (RFC 3339).
    pub last_modified: Option<String>,
    /// What has the prefixes of the path, the shortest first.
    pub breadcrumbs: Vec<Breadcrumb<'a>>,
    /// All versions of the document or page.
    pub alternates: Alternates<'a>,
    /// The paths that lead to the document because it had them before, where these are requested.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub former_paths: Option<Vec<String>>,
    /// The owner of the path, if it is another document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shared_path: Option<SharedPath>,
}

/// What has a path.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A document.
    Document,
    /// A page outside the CMS.
    Page,
    /// Nothing, and it leads elsewhere.
    Redirect,
    /// Nothing.
    #[default]
    None,
}

/// What decided, as the response says it. `X-Resolved-By` also has what the rules would say, and whether
/// that may change: see [`ResolvedByHeader`](super::ResolvedByHeader).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ResolvedBy {
    /// The document that owns the path.
    Documents,
    /// The order of the settings: no document owns the path.
    #[default]
    Rules,
    /// The document that had the path before.
    History,
    /// A redirect of the CMS.
    Redirects,
    /// The CMS, which was read for the request.
    Cms,
    /// The settings: it is the path of a page outside the CMS.
    Pages,
}

/// Where a frontend has to redirect to.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Redirection<'a> {
    /// The URL; `None` without a base URL.
    pub to: Option<String>,
    /// The path on its host.
    pub path: Option<String>,
    /// The status of the redirect.
    pub status: u16,
    /// The target, if it is a document.
    pub document_id: Option<&'a str>,
    /// The locale of the target.
    pub locale: &'a str,
    /// When the document had the requested path last (RFC 3339); `None` for another spelling of its present
    /// path, and for a redirect of the CMS.
    pub since: Option<String>,
    /// The `documentId` of the redirect of the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<&'a str>,
}

/// A page that is not published now.
#[derive(Debug, Default, Serialize)]
pub struct Gone<'a> {
    /// When a document had the path last (RFC 3339); `None` for a redirect of the CMS.
    pub since: Option<String>,
    /// The status of the redirect of the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub status: Option<u16>,
    /// The `documentId` of the redirect of the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub entry: Option<&'a str>,
}

/// What has a prefix of a path: a document, or a page outside the CMS.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Breadcrumb<'a> {
    /// Its path.
    pub path: &'a str,
    /// Its URL; `None` without a base URL.
    pub url: Option<AbsoluteUrl<'a>>,
    /// The content type of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<&'a str>,
    /// The `documentId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<&'a str>,
    /// The name of the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'a str>,
}

/// The URLs of all versions by their `hreflang`, in the order of the site's locales. The first one is
/// `x-default` too, because the site's default locale is its first.
#[derive(Debug, Default)]
pub struct Alternates<'a>(Vec<Alternate<'a>>);

/// The URL of a version.
#[derive(Debug)]
struct Alternate<'a> {
    hreflang: &'a str,
    url: AbsoluteUrl<'a>,
}

/// Why a pathname has no answer.
#[derive(Debug, PartialEq, Eq)]
pub enum Unresolved {
    /// This content type could own the path, and its documents are not known (D33).
    NotKnown(ContentTypeUid),
    /// No rule matches. Until this time, in milliseconds since 1970, a document had the path.
    NoMatch {
        /// `None`: no document had it.
        gone: Option<i64>,
    },
}

impl<'a> Resolution<'a, 'a> {
    /// The answer to the request. `resource` is the document of a URL in the API of the CMS.
    ///
    /// # Errors
    /// If the path is not known, or neither a rule nor a redirect has it.
    pub fn answer(
        self,
        paths: SitePaths<'a>,
        requested: Requested<'a>,
        resource: impl FnOnce(PublicUrl<'a>) -> Option<String>,
    ) -> Result<ResolvedPath<'a>, Unresolved> {
        match self.found {
            Found::NotKnown(uid) => Err(Unresolved::NotKnown(uid)),
            Found::Page(page) => Ok(ResolvedPath::of_page(paths, requested, page)),
            Found::NoRule(former) => ResolvedPath::without_rule(paths, requested, &former),
            Found::Rule { matched, host, document, former } => {
                let requested = Requested { host, ..requested };
                let matched = PathMatch::new(paths.site, requested, &matched);
                let mut answer = ResolvedPath::of_rule(matched, ResolvedBy::Rules);
                match document {
                    Some(url) => {
                        answer.resolved_by = ResolvedBy::Documents;
                        answer.set_document(paths, url, host, resource(url));
                        answer.redirect_to_canonical(paths, url);
                    }
                    None => answer.set_former(paths, &former),
                }
                Ok(answer)
            }
        }
    }
}

impl<'a> ResolvedPath<'a> {
    /// A path that a rule matches, and that nothing has yet.
    pub fn of_rule(found: PathMatch<'a>, resolved_by: ResolvedBy) -> Self {
        let PathMatch { site, pathname, locale, matched } = found;
        let matched = Some(matched);
        Self { site, pathname, locale, matched, resolved_by, ..Self::default() }
    }

    /// The path of a page outside the CMS, which no document can have.
    pub fn of_page(paths: SitePaths<'a>, requested: Requested<'a>, page: PublicUrl<'a>) -> Self {
        let SitePaths { site, .. } = paths;
        let codes = site.rules.locales().codes();
        let mut locales = site.pages.locales_of(page, codes.len()).map(|at| &codes[at]);
        let wanted = locales.find(|own| requested.locale == Some(own));
        let locale = wanted.unwrap_or(&codes[page.locale()]).as_str();
        let mut answer = Self {
            site: &site.key,
            pathname: requested.pathname,
            locale,
            kind: Kind::Page,
            page: Some(page.document_id()),
            resolved_by: ResolvedBy::Pages,
            ..Self::default()
        };
        answer.set_url(paths, page, requested.host);
        answer.redirect_to_canonical(paths, page);
        answer
    }

    /// A path that no rule matches, and that a document had or a redirect of the CMS has.
    fn without_rule(
        paths: SitePaths<'a>,
        requested: Requested<'a>,
        former: &FormerOwner<'a>,
    ) -> Result<Self, Unresolved> {
        let locale = match former {
            FormerOwner::Moved(redirect) => redirect.to.locale(),
            FormerOwner::Entry(entry) => entry.entry.locale(),
            FormerOwner::Gone { since } => return Err(Unresolved::NoMatch { gone: Some(*since) }),
            FormerOwner::None | FormerOwner::NotKnown(_) => {
                return Err(Unresolved::NoMatch { gone: None });
            }
        };
        let (site, pathname) = (&paths.site.key, requested.pathname);
        let locale = code(paths.site, locale);
        let mut answer = Self { site, pathname, locale, ..Self::default() };
        answer.set_former(paths, former);
        Ok(answer)
    }

    /// Says that the document with this URL has the path. `host` is the position of the requested host, if
    /// the site has several.
    pub fn set_document(
        &mut self,
        paths: SitePaths<'a>,
        url: PublicUrl<'a>,
        host: Option<usize>,
        resource: Option<String>,
    ) {
        self.kind = Kind::Document;
        self.document_id = Some(url.document_id());
        self.resource = resource;
        self.set_url(paths, url, host);
    }

    fn set_url(&mut self, paths: SitePaths<'a>, url: PublicUrl<'a>, host: Option<usize>) {
        self.canonical_path = Some(url.path());
        self.canonical_url = paths.site.url_of(url);
        self.is_canonical = Some(is_canonical(self.pathname, host, url));
        self.last_modified = url.modified().and_then(timestamp_text);
        self.breadcrumbs = breadcrumbs(paths, url);
        self.alternates = Alternates::of(paths, url);
    }

    /// Redirects another spelling of the path of the document or page at this URL.
    fn redirect_to_canonical(&mut self, paths: SitePaths<'a>, url: PublicUrl<'a>) {
        if self.is_canonical == Some(false) {
            self.redirect = Some(Redirection::to(paths, url, self.document_id));
        }
    }

    /// Says what is known of a path that no document has.
    fn set_former(&mut self, paths: SitePaths<'a>, former: &FormerOwner<'a>) {
        match former {
            FormerOwner::Moved(moved) => {
                self.kind = Kind::Redirect;
                self.resolved_by = ResolvedBy::History;
                self.redirect = Some(Redirection {
                    since: Some(timestamp(moved.since)),
                    ..Redirection::to(paths, moved.to, Some(moved.to.document_id()))
                });
            }
            FormerOwner::Entry(entry) => {
                self.resolved_by = ResolvedBy::Redirects;
                match Redirection::of_entry(paths.site, entry) {
                    Some(redirect) => {
                        self.kind = Kind::Redirect;
                        self.redirect = Some(redirect);
                    }
                    None => self.gone = Some(Gone::of_entry(entry)),
                }
            }
            FormerOwner::Gone { since } => self.gone = Some(Gone::since(*since)),
            FormerOwner::None | FormerOwner::NotKnown(_) => {}
        }
    }
}

impl<'a> Redirection<'a> {
    fn to(paths: SitePaths<'a>, url: PublicUrl<'a>, document_id: Option<&'a str>) -> Self {
        Self {
            to: paths.site.hosts.url(url.locale(), url.path()),
            path: Some(url.path().to_owned()),
            status: paths.redirect_status,
            document_id,
            locale: code(paths.site, url.locale()),
            ..Self::default()
        }
    }

    /// Of a redirect of the CMS; `None`: it says that the page is gone.
    fn of_entry(site: &'a Site, redirect: &EntryRedirect<'a>) -> Option<Self> {
        let destination = redirect.destination.as_ref()?;
        Some(Self {
            to: redirect.url(site),
            path: redirect.path(),
            status: redirect.status,
            document_id: redirect.document().map(PublicUrl::document_id),
            locale: code(site, destination.locale().unwrap_or(redirect.entry.locale())),
            entry: Some(redirect.entry.document_id()),
            ..Self::default()
        })
    }
}

impl<'a> Gone<'a> {
    /// A document had the path until this time, in milliseconds since 1970.
    pub fn since(milliseconds: i64) -> Self {
        Self { since: Some(timestamp(milliseconds)), ..Self::default() }
    }

    fn of_entry(redirect: &EntryRedirect<'a>) -> Self {
        let entry = redirect.entry.document_id();
        Self { since: None, status: Some(redirect.status), entry: Some(entry) }
    }
}

impl<'a> Alternates<'a> {
    /// The versions that no redirect of the CMS hides and whose locales have a base URL.
    fn of(paths: SitePaths<'a>, url: PublicUrl<'a>) -> Self {
        let locales = paths.site.rules.locales().as_slice();
        let is_hidden = |url| paths.redirects.is_some_and(|own| own.hides(url).is_some());
        let version = |url: PublicUrl<'a>| {
            let hreflang = locales[url.locale()].hreflang();
            Some(Alternate { hreflang, url: paths.site.url_of(url)? })
        };
        Self(url.versions().filter(|url| !is_hidden(*url)).filter_map(version).collect())
    }
}

impl Serialize for Alternates<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let by_locale = self.0.iter().map(|version| (version.hreflang, version.url));
        let first = self.0.first().map(|version| ("x-default", version.url));
        serializer.collect_map(by_locale.chain(first))
    }
}

/// The pages and documents that have the prefixes of a path, the shortest first. A prefix that a document
/// of a type that is not known could own has none.
fn breadcrumbs<'a>(paths: SitePaths<'a>, url: PublicUrl<'a>) -> Vec<Breadcrumb<'a>> {
    let SitePaths { site, index, .. } = paths;
    let (path, host) = (url.normalized_path(), site.hosts.host_if_several(url.locale()));
    if path == "/" {
        return Vec::new();
    }
    let prefix = |(at, _)| if at == 0 { "/" } else { &path[..at] };
    let breadcrumb = |url: PublicUrl<'a>| Breadcrumb {
        path: url.path(),
        url: site.url_of(url),
        ..Breadcrumb::default()
    };
    let owner = |prefix| {
        if let Some(page) = site.pages.find(prefix, host) {
            return Some(Breadcrumb { page: Some(page.document_id()), ..breadcrumb(page) });
        }
        let url = index.owner(&site.rules, &Pathname::parse(prefix), host)?;
        Some(Breadcrumb {
            content_type: Some(site.rules.rules()[url.rule()].content_type.as_str()),
            document_id: Some(url.document_id()),
            ..breadcrumb(url)
        })
    };
    path.match_indices('/').map(prefix).filter_map(owner).collect()
}

/// The code of the locale at a position.
fn code(site: &Site, locale: usize) -> &str {
    site.rules.locales().codes()[locale].as_str()
}

/// As `lastModified` has it (RFC 3339).
fn timestamp(milliseconds: i64) -> String {
    // A time that no date has is written as nothing: it cannot be one of this clock.
    timestamp_text(milliseconds).unwrap_or_default()
}

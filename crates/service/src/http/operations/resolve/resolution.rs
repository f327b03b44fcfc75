//! The members of `data` behind `matched`.

use super::former::Note;
use crate::app::App;
use frontend_map_catalog::json::Json;
use frontend_map_catalog::moved::entries::RedirectWorld;
use frontend_map_catalog::path_index::PathIndex;
use frontend_map_catalog::resolve::is_canonical;
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{PublicUrl, timestamp_text};
use frontend_map_rules::Pathname;

/// What the response says of a pathname or a document.
pub(super) struct ResolvedData<'a> {
    pub(super) site: &'a Site,
    /// What decided: `documents`, `rules`, `history`, `cms` or `pages`.
    pub(super) resolved_by: &'static str,
    pub(super) document: Option<ResolvedDocument<'a>>,
    pub(super) note: Note<'a>,
}

/// The document or the page.
pub(super) struct ResolvedDocument<'a> {
    url: PublicUrl<'a>,
    /// Whether the requested pathname is the path of the document, on its host.
    is_canonical: bool,
    /// The document in the API of the CMS.
    resource: Option<String>,
    /// The URLs at the prefixes of the path, the shortest first.
    breadcrumbs: Vec<Breadcrumb<'a>>,
    /// Whether it is a page outside the CMS.
    is_page: bool,
    /// The redirects of the CMS, which may hide versions of it.
    redirects: Option<RedirectWorld<'a>>,
}

/// A document or a page outside the CMS that has a prefix of a path.
enum Breadcrumb<'a> {
    Document(PublicUrl<'a>),
    Page(PublicUrl<'a>),
}

impl<'a> ResolvedDocument<'a> {
    /// The document with this URL, for the requested pathname and the position of the requested host, if
    /// the site has several.
    pub(super) fn new(
        app: &App,
        site: &'a Site,
        index: &'a PathIndex,
        url: PublicUrl<'a>,
        pathname: &str,
        host: Option<usize>,
    ) -> Self {
        let uid = &site.rules.rules()[url.rule()].content_type;
        let locale = &site.rules.locales().codes()[url.locale()];
        let resource = app.snapshots.content().resource(uid, url.document_id());
        let resource = resource
            .map(|path| if url.is_localized() { format!("{path}?locale={locale}") } else { path });
        Self { resource, is_page: false, ..Self::page(site, index, url, pathname, host) }
    }

    /// A page outside the CMS.
    pub(super) fn page(
        site: &'a Site,
        index: &'a PathIndex,
        url: PublicUrl<'a>,
        pathname: &str,
        host: Option<usize>,
    ) -> Self {
        let is_canonical = is_canonical(pathname, host, url);
        let host = site.hosts.host_if_several(url.locale());
        let breadcrumbs = breadcrumbs(index, site, url.normalized_path(), host);
        Self { url, is_canonical, resource: None, breadcrumbs, is_page: true, redirects: None }
    }

    /// With the redirects of the CMS: the versions that they hide are no alternates.
    pub(super) fn with_redirects(self, redirects: Option<RedirectWorld<'a>>) -> Self {
        Self { redirects, ..self }
    }
}

impl<'a> ResolvedDocument<'a> {
    /// A redirect with this status, if the requested pathname is another spelling of the path.
    pub(super) fn note(&self, status: u16) -> Note<'a> {
        if self.is_canonical {
            Note::Nothing
        } else {
            Note::of_spelling(self.url, self.is_page, status)
        }
    }
}

/// The pages and documents that have the prefixes of a path, the shortest first. A prefix that a document of a
/// type that is not known could own has none.
fn breadcrumbs<'i>(
    index: &'i PathIndex,
    site: &'i Site,
    path: &str,
    host: Option<usize>,
) -> Vec<Breadcrumb<'i>> {
    if path == "/" {
        return Vec::new();
    }
    let prefix = |(at, _)| if at == 0 { "/" } else { &path[..at] };
    let prefixes = path.match_indices('/').map(prefix);
    let owner = |prefix| match site.pages.find(prefix, host) {
        Some(page) => Some(Breadcrumb::Page(page)),
        None => index.owner(&site.rules, &Pathname::parse(prefix), host).map(Breadcrumb::Document),
    };
    prefixes.filter_map(owner).collect()
}

impl ResolvedData<'_> {
    /// Writes the members with a comma before them.
    pub(super) fn write(&self, json: &mut Json) {
        let document = self.document.as_ref();
        let url = document.map(|document| document.url);
        let page = document.filter(|document| document.is_page).map(|page| page.url.document_id());
        let kind = match document {
            None if self.note.has_moved() => "redirect",
            None => "none",
            Some(ResolvedDocument { is_page: true, .. }) => "page",
            Some(_) => "document",
        };
        json.raw(r#","kind":"#).word(kind);
        if let Some(name) = page {
            json.raw(r#","page":"#).word(name);
        }
        self.note.write(json, self.site);
        json.raw(r#","resolvedBy":"#).word(self.resolved_by);
        json.raw(r#","documentId":"#)
            .text_or_null(url.filter(|_| page.is_none()).map(PublicUrl::document_id));
        json.raw(r#","canonicalPath":"#).text_or_null(url.map(PublicUrl::path));
        json.raw(r#","canonicalUrl":"#);
        self.write_url(json, url);
        json.raw(r#","isCanonical":"#).raw(match document {
            None => "null",
            Some(document) if document.is_canonical => "true",
            Some(_) => "false",
        });
        let resource = document.and_then(|document| document.resource.as_deref());
        json.raw(r#","resource":"#).text_or_null(resource);
        let modified = url.and_then(PublicUrl::modified).and_then(timestamp_text);
        json.raw(r#","lastModified":"#).text_or_null(modified.as_deref());
        json.raw(r#","breadcrumbs":["#);
        for (position, url) in document.iter().flat_map(|own| &own.breadcrumbs).enumerate() {
            json.raw(if position == 0 { "" } else { "," });
            self.write_breadcrumb(json, url);
        }
        json.raw(r#"],"alternates":{"#);
        self.write_alternates(json);
        json.raw("}");
    }

    fn write_breadcrumb(&self, json: &mut Json, breadcrumb: &Breadcrumb<'_>) {
        let (Breadcrumb::Document(url) | Breadcrumb::Page(url)) = *breadcrumb;
        json.raw(r#"{"path":"#).text(url.path()).raw(r#","url":"#);
        self.write_url(json, Some(url));
        if let Breadcrumb::Page(page) = breadcrumb {
            json.raw(r#","page":"#).word(page.document_id()).raw("}");
            return;
        }
        let uid = &self.site.rules.rules()[url.rule()].content_type;
        json.raw(r#","contentType":"#).word(uid.as_str());
        json.raw(r#","documentId":"#).text(url.document_id()).raw("}");
    }

    /// The absolute URLs of all versions that no redirect hides, by their `hreflang`; none without a
    /// document or a base URL.
    fn write_alternates(&self, json: &mut Json) {
        let Some(document) = &self.document else {
            return;
        };
        let locales = self.site.rules.locales().as_slice();
        let mut first = None;
        for url in document.url.versions() {
            if document.redirects.is_some_and(|redirects| redirects.hides(url).is_some()) {
                continue;
            }
            let Some(link) = self.url(url) else { continue };
            json.raw(if first.is_none() { "" } else { "," });
            json.word(locales[url.locale()].hreflang()).raw(":").text(&link);
            first.get_or_insert(link);
        }
        // The site's default locale is its first, so the first version is the best default.
        if let Some(link) = first {
            json.raw(r#","x-default":"#).text(&link);
        }
    }

    fn write_url(&self, json: &mut Json, url: Option<PublicUrl<'_>>) {
        json.text_or_null(url.and_then(|url| self.url(url)).as_deref());
    }

    /// The absolute URL; `None` without a base URL of its locale.
    fn url(&self, url: PublicUrl<'_>) -> Option<String> {
        self.site.hosts.url(url.locale(), url.path())
    }
}

//! The targets of a run: the listed URLs of one content type, and the source of each.

use std::sync::Arc;

use url::Url;

use super::content::Expected;
use super::content::html::AlternateLink;
use frontend_map_catalog::site::{AdminLinks, PAGES, Site};
use frontend_map_catalog::sitemap::{HiddenUrls, ListedUrls};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::Template;

/// The listed URLs of one content type of a site, all below the site's base URLs.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The site.
    pub site: Arc<Site>,
    /// The content-type UID, or [`PAGES`].
    pub content_type: String,
    /// The URLs. The position of a URL is its index among the listed ones, in the order of D22, without
    /// the hidden ones.
    pub snapshot: Arc<Snapshot>,
    /// The URLs that redirects hide.
    pub hidden: Option<Arc<HiddenUrls>>,
}

/// One URL and its source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Target<'t> {
    /// The absolute URL.
    pub url: String,
    /// The content-type UID, or [`PAGES`].
    pub content_type: &'t str,
    /// The `documentId`, for the repair of a dead URL, or the name of a page outside the CMS.
    pub document_id: &'t str,
    /// The locale of the URL.
    pub locale: &'t str,
    /// The template that built it, as written in the settings.
    pub rule: &'t str,
}

impl Targets {
    /// The targets of a content type, or of the pages outside the CMS, each of whose locales has a base URL.
    pub fn new(site: &Arc<Site>, content_type: &str, snapshot: Arc<Snapshot>) -> Self {
        let (site, content_type) = (Arc::clone(site), content_type.to_owned());
        Self { site, content_type, snapshot, hidden: None }
    }

    /// Without these URLs of the snapshot.
    pub fn without(self, hidden: Option<Arc<HiddenUrls>>) -> Self {
        Self { hidden, ..self }
    }

    fn listed(&self) -> ListedUrls<'_> {
        ListedUrls::new(&self.snapshot, self.hidden.as_deref())
    }

    /// The number of URLs.
    pub fn count(&self) -> usize {
        self.listed().count()
    }

    /// All positions and absolute URLs, in the order of the results.
    pub fn urls(&self) -> impl Iterator<Item = (usize, String)> + Send {
        self.listed().from(0).map(|url| self.url_of(url)).enumerate()
    }

    /// The absolute URL at a position of [`Targets::urls`].
    pub fn url(&self, position: usize) -> String {
        self.url_of(self.listed().nth(position))
    }

    /// The positions of the URLs of a document, in the order of the site's locales.
    pub fn positions_of(&self, document_id: &str) -> impl Iterator<Item = usize> {
        self.listed().positions_of(document_id)
    }

    fn locale(&self, url: PublicUrl<'_>) -> &str {
        self.site.rules.locales().codes()[url.locale()].as_str()
    }

    fn url_of(&self, url: PublicUrl<'_>) -> String {
        let absolute = self.site.hosts.url(url.locale(), url.path());
        absolute.expect("each locale of the content type has a base URL")
    }

    /// The title of the version at a position of [`Targets::urls`], and its page in the admin panel.
    pub fn labels(
        &self,
        position: usize,
        links: Option<&AdminLinks>,
    ) -> (Option<&str>, Option<String>) {
        let url = self.listed().nth(position);
        let locale = url.is_localized().then(|| self.locale(url));
        let link = |links: &AdminLinks| links.link(&self.content_type, url.document_id(), locale);
        (url.title(), links.filter(|_| self.content_type != PAGES).map(link))
    }

    /// The positions of the rule and of the locale of the URL at a position.
    pub(super) fn rule_and_locale(&self, position: usize) -> (usize, usize) {
        let url = self.listed().nth(position);
        (url.rule(), url.locale())
    }

    /// What the sitemap says of the page at a position of [`Targets::urls`].
    ///
    /// # Panics
    /// Never: a base URL and an encoded path make a URL.
    pub fn expected(&self, position: usize) -> Expected {
        let url = self.listed().nth(position);
        let link = |hreflang: &str, url: PublicUrl<'_>| {
            let href = self.site.hosts.url(url.locale(), url.path())?;
            Some(AlternateLink { hreflang: hreflang.to_owned(), href })
        };
        let locales = self.site.rules.locales().as_slice();
        let language = |url: PublicUrl<'_>| locales[url.locale()].hreflang();
        let own = |url: PublicUrl<'_>| link(language(url), url);
        let is_listed = |url: &PublicUrl<'_>| self.listed().has(*url);
        let mut listed: Vec<AlternateLink> =
            url.versions().filter(is_listed).filter_map(own).collect();
        if listed.len() < 2 {
            listed.clear();
        }
        // Sitemaps take the first listed version for the default, and `/api/resolve` the first.
        let defaults = [url.versions().find(is_listed), url.versions().next()];
        let defaults = defaults.into_iter().flatten();
        let defaults = defaults.filter_map(|url| link("x-default", url));
        let published = url.versions().filter_map(own).chain(defaults).collect();
        let has_language = url.is_localized() || locales.len() == 1;
        Expected {
            url: Url::parse(&self.url_of(url)).expect("a base URL and an encoded path make a URL"),
            language: has_language.then(|| language(url).to_owned()),
            listed,
            published,
            title: url.title().map(str::to_owned),
        }
    }

    /// The URL at a position of [`Targets::urls`].
    pub fn target(&self, position: usize) -> Target<'_> {
        let url = self.listed().nth(position);
        let codes = self.site.rules.locales().codes();
        let rule = self.site.rules.rules().get(url.rule());
        // A page outside the CMS has none, nor one that is listed for another type.
        let rule = rule.filter(|rule| rule.content_type.as_str() == self.content_type);
        let template = rule.and_then(|rule| rule.template(&codes[url.locale()]));
        Target {
            url: self.url_of(url),
            content_type: &self.content_type,
            document_id: url.document_id(),
            locale: self.locale(url),
            rule: template.map_or("", Template::as_str),
        }
    }
}

//! The targets of a run: the listed URLs of one content type, and the source of each.

use std::collections::HashMap;
use std::sync::Arc;

use url::Url;

use super::content::Expected;
use super::content::html::AlternateLink;
use frontend_map_catalog::site::{AdminLinks, PAGES, Site};
use frontend_map_catalog::sitemap::{HiddenUrls, ListedUrls};
use frontend_map_catalog::snapshot::{PublicUrl, Snapshot};
use frontend_map_rules::frontend_url::Hosts;

/// The listed URLs of one content type of a site, all below the site's base URLs.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The site key.
    pub site: String,
    /// The content-type UID, or [`PAGES`].
    pub content_type: String,
    /// The base URLs of the paths.
    hosts: Hosts,
    /// The URLs. The position of a URL is its index among the listed ones, in the order of D22, without
    /// the hidden ones.
    pub snapshot: Arc<Snapshot>,
    /// The URLs that redirects hide.
    pub hidden: Option<Arc<HiddenUrls>>,
    locales: Vec<String>,
    /// The values of `hreflang`.
    languages: Vec<String>,
    /// Templates by the indexes of rule and locale.
    templates: HashMap<(usize, usize), String>,
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
    #[must_use]
    pub fn new(site: &Site, content_type: &str, snapshot: Arc<Snapshot>) -> Self {
        let locales = site.rules.locales().codes();
        let languages = site.rules.locales().as_slice().iter();
        let mut templates = HashMap::new();
        for rule in site.rules.positions_of_type(content_type) {
            for (at, locale) in locales.iter().enumerate() {
                if let Some(template) = site.rules.rules()[rule].template(locale) {
                    templates.insert((rule, at), template.as_str().to_owned());
                }
            }
        }
        Self {
            site: site.key.clone(),
            content_type: content_type.to_owned(),
            hosts: site.hosts.clone(),
            snapshot,
            hidden: None,
            locales: locales.iter().map(|locale| locale.as_str().to_owned()).collect(),
            languages: languages.map(|locale| locale.hreflang().to_owned()).collect(),
            templates,
        }
    }

    /// Without these URLs of the snapshot.
    #[must_use]
    pub fn without(self, hidden: Option<Arc<HiddenUrls>>) -> Self {
        Self { hidden, ..self }
    }

    fn listed(&self) -> ListedUrls<'_> {
        ListedUrls::new(&self.snapshot, self.hidden.as_deref())
    }

    /// The number of URLs.
    #[must_use]
    pub fn count(&self) -> usize {
        self.listed().count()
    }

    /// All positions and absolute URLs, in the order of the results.
    pub fn urls(&self) -> impl Iterator<Item = (usize, String)> + Send {
        self.listed().from(0).map(|url| self.url_of(url)).enumerate()
    }

    /// The absolute URL at a position of [`Targets::urls`].
    #[must_use]
    pub fn url(&self, position: usize) -> String {
        self.url_of(self.listed().nth(position))
    }

    /// The positions of the URLs of a document, in the order of the site's locales.
    pub fn positions_of(&self, document_id: &str) -> impl Iterator<Item = usize> {
        self.listed().positions_of(document_id)
    }

    fn url_of(&self, url: PublicUrl<'_>) -> String {
        let absolute = self.hosts.url(url.locale(), url.path());
        absolute.expect("each locale of the content type has a base URL")
    }

    /// The title of the version at a position of [`Targets::urls`], and its page in the admin panel.
    #[must_use]
    pub fn labels(
        &self,
        position: usize,
        links: Option<&AdminLinks>,
    ) -> (Option<&str>, Option<String>) {
        let url = self.listed().nth(position);
        let locale = self.locales.get(url.locale()).filter(|_| url.is_localized());
        let link = |links: &AdminLinks| {
            links.link(&self.content_type, url.document_id(), locale.map(String::as_str))
        };
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
    #[must_use]
    pub fn expected(&self, position: usize) -> Expected {
        let url = self.listed().nth(position);
        let link = |hreflang: &str, url: PublicUrl<'_>| {
            let href = self.hosts.url(url.locale(), url.path())?;
            Some(AlternateLink { hreflang: hreflang.to_owned(), href })
        };
        let own = |url: PublicUrl<'_>| link(&self.languages[url.locale()], url);
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
        let has_language = url.is_localized() || self.languages.len() == 1;
        Expected {
            url: Url::parse(&self.url_of(url)).expect("a base URL and an encoded path make a URL"),
            language: has_language.then(|| self.languages[url.locale()].clone()),
            listed,
            published,
            title: url.title().map(str::to_owned),
        }
    }

    /// The URL at a position of [`Targets::urls`].
    #[must_use]
    pub fn target(&self, position: usize) -> Target<'_> {
        let url = self.listed().nth(position);
        let template = self.templates.get(&(url.rule(), url.locale()));
        Target {
            url: self.url_of(url),
            content_type: &self.content_type,
            document_id: url.document_id(),
            locale: self.locales.get(url.locale()).map_or("", String::as_str),
            rule: template.map_or("", String::as_str),
        }
    }
}

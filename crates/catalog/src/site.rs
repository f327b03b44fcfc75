//! Sites: their rules and base URLs, and which site a content type belongs to.

mod absolute_url;
mod admin_links;
mod pages;

pub use absolute_url::AbsoluteUrl;
pub use admin_links::AdminLinks;
pub use pages::{PAGES, SitePages};

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::snapshot::PublicUrl;
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{ContentTypeUid, FieldPath, Locale, RuleSet};

/// A site: a frontend with its rules.
#[derive(Clone, Debug)]
pub struct Site {
    /// The key, `[A-Za-z0-9._-]{1,64}`, compared exactly.
    pub key: String,
    /// The rules and the locales.
    pub rules: RuleSet,
    /// The base URL of its frontend, for each locale; not needed to resolve pathnames.
    pub hosts: Hosts,
    /// What decides between rules of equal precedence.
    pub resolve: ResolveBy,
    /// The path on the frontend, below its base URL, under which it publishes the sitemap files;
    /// without a slash at its end.
    pub sitemap_path: String,
    /// The pages outside the CMS.
    pub pages: SitePages,
    /// The content types whose documents are redirects of the site, as the rules of a site of their own:
    /// with the same key, locales, hosts and content source.
    pub redirects: Option<Arc<Site>>,
    /// The content types whose fields have links to list; none unless the settings ask for it.
    pub links: Vec<LinkSource>,
    /// A hash of what a table of these links depends on: the fields, the locales, the hosts of all sites
    /// and the content source.
    pub links_fingerprint: u128,
    /// A hash of the site's settings and content source. As part of a cache key, it keeps data from
    /// before a change of these from being found.
    pub fingerprint: u128,
    /// A hash of the address of the CMS: with equal ones, equal ids are equal documents. 0 for content
    /// from a file.
    pub source: u128,
}

/// What decides between several rules of equal precedence that match a pathname.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResolveBy {
    /// The order of the settings (D8).
    #[default]
    Rules,
    /// The document that owns the path, by an index of the site's published paths.
    Documents,
}

/// A content type whose fields have links.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinkSource {
    /// The content type, with or without a rule.
    pub content_type: ContentTypeUid,
    /// The fields, through components and dynamic zones; none is the beginning of another one.
    pub fields: Vec<FieldPath>,
}

/// All sites, in the order of the settings. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sites(Arc<[Arc<Site>]>);

impl Sites {
    /// The sites, in the order of the settings.
    pub fn new(sites: Vec<Site>) -> Self {
        Self(sites.into_iter().map(Arc::new).collect())
    }

    /// The site with exactly this key.
    pub fn get(&self, key: &str) -> Option<&Arc<Site>> {
        self.iter().find(|site| site.key == key)
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &Arc<Site>> {
        self.0.iter()
    }

    /// Each site, followed by its redirects as a site of their own.
    pub fn with_redirects(&self) -> impl Iterator<Item = &Arc<Site>> {
        self.iter().flat_map(|site| [Some(site), site.redirects.as_ref()]).flatten()
    }

    /// Whether both have the same sites with the same fingerprints.
    pub fn have_same_fingerprints(&self, other: &Self) -> bool {
        let fingerprint = |site: &Arc<Site>| (site.key.clone(), site.fingerprint);
        let sorted = |sites: &Self| sites.iter().map(fingerprint).collect::<BTreeMap<_, _>>();
        sorted(self) == sorted(other)
    }

    /// The site of a content type when the request names none (D17): the only one with a rule for
    /// it, else the only one of these with the requested locale, else the one named like the type's
    /// plugin, else the first.
    pub fn of_type(&self, uid: &str, locale: Option<&str>) -> Option<&Arc<Site>> {
        let with_rule = |site: &&Arc<Site>| site.has_rule(uid);
        let plugin = ContentTypeUid::parse(uid).ok()?.plugin().map(str::to_owned);
        let named = |site: &&Arc<Site>| Some(&site.key) == plugin.as_ref();
        let candidates = || self.iter().filter(with_rule);
        let in_locale = |code: &str| {
            let has = |site: &&Arc<Site>| site.rules.locales().get(code).is_some();
            only(candidates().filter(has))
        };
        let one = locale.and_then(in_locale).or_else(|| candidates().find(named));
        one.or_else(|| candidates().next())
    }
}

/// The only element, if there is exactly one.
fn only<T>(mut all: impl Iterator<Item = T>) -> Option<T> {
    all.next().filter(|_| all.next().is_none())
}

impl Site {
    /// Whether the content types are those of redirects of another site.
    pub fn has_redirects_alone(&self) -> bool {
        self.rules.rules().first().is_some_and(|rule| rule.redirect.is_some())
    }

    /// The content types of the rules, then those of the redirects.
    pub fn all_content_types(&self) -> impl Iterator<Item = &ContentTypeUid> {
        let redirects = self.redirects.iter().flat_map(|site| site.rules.content_types());
        self.rules.content_types().into_iter().chain(redirects)
    }

    /// Whether the site has a rule for this content type.
    pub fn has_rule(&self, uid: &str) -> bool {
        self.rules.of_type(uid).next().is_some()
    }

    /// The positions of the locales in which the site has rules for one of these content types.
    fn locales_of<'u>(
        &self,
        uids: impl Iterator<Item = &'u str> + Clone,
    ) -> impl Iterator<Item = usize> {
        let codes = self.rules.locales().codes();
        let has = move |code: &Locale| {
            let mut rules = uids.clone().flat_map(|uid| self.rules.of_type(uid));
            rules.any(|rule| rule.template(code).is_some())
        };
        (0..codes.len()).filter(move |at| has(&codes[*at]))
    }

    /// The first locale without a base URL in which these content types can have URLs: its position.
    pub fn first_without_base<'u>(
        &self,
        uids: impl IntoIterator<Item = &'u str, IntoIter: Clone>,
    ) -> Option<usize> {
        self.hosts.first_without(self.locales_of(uids.into_iter()))
    }

    /// Whether this is a content type with a rule, or stands for the pages outside the CMS.
    pub fn has_group(&self, group: &str) -> bool {
        self.has_rule(group) || (group == PAGES && !self.pages.is_empty())
    }

    /// The first locale without a base URL in which sitemaps list pages outside the CMS.
    pub fn first_page_without_base(&self) -> Option<usize> {
        self.hosts.first_without(self.pages.snapshot().listed().map(PublicUrl::locale))
    }

    /// The environment variable that would give this locale, which has no base URL, one.
    pub fn missing_variable(&self, locale: usize) -> String {
        let code = self.rules.locales().codes().get(locale);
        match code.filter(|_| !self.hosts.all().is_empty()) {
            Some(code) => Self::locale_variable(&self.key, code.as_str()),
            None => Self::base_url_variable(&self.key),
        }
    }

    /// The environment variable with the base URL of one locale: that of the site, `_` and the code
    /// of the locale, written in the same way.
    pub fn locale_variable(key: &str, code: &str) -> String {
        format!("{}_{}", Self::base_url_variable(key), variable_part(code))
    }

    /// The environment variable with the base URL: `FRONT_END_URL_` and the key in upper case, each
    /// character that is not a letter or digit replaced by `_`.
    pub fn base_url_variable(key: &str) -> String {
        "FRONT_END_URL_".to_owned() + &variable_part(key)
    }
}

/// In upper case, with `_` for each character that is not a letter or digit.
fn variable_part(text: &str) -> String {
    text.to_uppercase().replace(|c: char| !c.is_ascii_alphanumeric(), "_")
}

#[cfg(test)]
mod tests {
    use super::*;
    use frontend_map_rules::{LocalePrefix, Locales, Rule, Template};

    fn site(key: &str, uids: &[&str], locales: &[&str]) -> Site {
        let template = Template::parse("/{slug}").unwrap();
        let rule = |uid: &&str| Rule::new(ContentTypeUid::parse(uid).unwrap(), template.clone());
        let locales = locales.iter().map(|code| Locale::parse(code).unwrap()).collect();
        let locales = Locales::new(locales).unwrap();
        let rules = RuleSet::new(locales, LocalePrefix::Always, uids.iter().map(rule).collect());
        Site {
            key: key.into(),
            rules,
            hosts: Hosts::default(),
            resolve: ResolveBy::Rules,
            sitemap_path: String::new(),
            pages: SitePages::default(),
            redirects: None,
            links: Vec::new(),
            links_fingerprint: 0,
            fingerprint: 0,
            source: 0,
        }
    }

    #[test]
    fn site_of_a_type_is_the_one_in_the_locale_or_named_like_its_plugin_else_the_first() {
        let sites = Sites::new(vec![
            site("a", &["plugin::cms.page", "api::b.b"], &["en", "de"]),
            site("b", &["plugin::cms.page", "plugin::cms.only", "api::b.b"], &["en", "fr"]),
            site("cms", &["plugin::cms.page"], &["en", "de"]),
        ]);
        for (uid, locale, expected) in [
            ("plugin::cms.only", None, Some("b")),
            ("plugin::cms.only", Some("de"), Some("b")),
            ("plugin::cms.page", None, Some("cms")),
            ("plugin::cms.page", Some("fr"), Some("b")),
            // Several sites have the locale, or none.
            ("plugin::cms.page", Some("en"), Some("cms")),
            ("plugin::cms.page", Some("xx"), Some("cms")),
            ("api::b.b", None, Some("a")),
            ("api::b.b", Some("en"), Some("a")),
            ("api::b.b", Some("de"), Some("a")),
            ("api::b.b", Some("fr"), Some("b")),
            ("api::c.c", Some("en"), None),
        ] {
            let site = sites.of_type(uid, locale).map(|site| site.key.as_str());
            assert_eq!(site, expected, "{uid} {locale:?}");
        }
    }

    #[test]
    fn base_url_variable_has_the_site_key_in_upper_case() {
        assert_eq!(Site::base_url_variable("my.shop-2"), "FRONT_END_URL_MY_SHOP_2");
        assert_eq!(Site::locale_variable("my.shop", "pt-BR"), "FRONT_END_URL_MY_SHOP_PT_BR");
    }
}

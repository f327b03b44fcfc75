//! The text that all sitemap files of a site share.

use quick_xml::escape::escape;

use crate::frontend_url::BaseUrl;
use crate::rules::Locales;

/// The text around the paths of a sitemap file, already escaped.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The text before a path in a `loc`.
    pub(super) loc: String,
    /// The text before a path in an alternate link, for each locale of the site.
    pub(super) links: Vec<String>,
    /// The text before a path in the `x-default` link.
    pub(super) default_link: String,
}

impl Frame {
    /// The frame of a site with this base URL and these locales.
    #[must_use]
    pub fn new(base: &BaseUrl, locales: &Locales) -> Self {
        let base = escape(base.as_str());
        let link =
            |code: &str| format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href="{base}"#);
        let locales = locales.as_slice().iter();
        let links = locales.map(|locale| link(locale.hreflang())).collect();
        Self { loc: format!("<url><loc>{base}"), links, default_link: link("x-default") }
    }
}

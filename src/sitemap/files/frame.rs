//! What all files of a site have in common.

use quick_xml::escape::escape;

use crate::frontend_url::BaseUrl;
use crate::rules::Locales;

/// The parts of a file that are the same for every document, ready to be written.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What stands before a path in a `loc`.
    pub(super) loc: String,
    /// For each locale of the site, what stands before a path in a link to an alternate.
    pub(super) links: Vec<String>,
    /// The same in the link for readers whose language is none of the site's.
    pub(super) default_link: String,
}

impl Frame {
    /// The frame of a site with this frontend and these locales.
    #[must_use]
    pub fn new(base: &BaseUrl, locales: &Locales) -> Self {
        let base = escape(base.as_str());
        let link =
            |code: &str| format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href="{base}"#);
        let locales = locales.as_slice().iter();
        // Strapi writes some codes with an underscore, BCP 47 none.
        let links = locales.map(|locale| link(&locale.as_str().replace('_', "-"))).collect();
        Self { loc: format!("<url><loc>{base}"), links, default_link: link("x-default") }
    }
}

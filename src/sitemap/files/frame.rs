//! What all files of a site have in common.

use quick_xml::escape::escape;

use crate::frontend_url::BaseUrl;
use crate::rules::Locales;

/// The parts of a file that are the same for every document, ready to be written.
#[derive(Clone, Debug)]
pub struct Frame {
    /// What stands before a path in a `loc` or `href`.
    pub(super) base: String,
    /// For each locale of the site, what stands before the base URL in a link to an alternate.
    pub(super) links: Vec<String>,
}

/// The link for readers whose language is none of the site's.
pub(super) const DEFAULT_LINK: &str = r#"<xhtml:link rel="alternate" hreflang="x-default" href=""#;

impl Frame {
    /// The frame of a site with this frontend and these locales.
    #[must_use]
    pub fn new(base: &BaseUrl, locales: &Locales) -> Self {
        let link = |code: &str| {
            // Strapi writes some codes with an underscore, BCP 47 none.
            let code = code.replace('_', "-");
            format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href=""#)
        };
        let links = locales.as_slice().iter().map(|locale| link(locale.as_str())).collect();
        Self { base: escape(base.as_str()).into_owned(), links }
    }
}

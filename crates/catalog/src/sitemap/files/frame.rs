//! The text that all sitemap files of a site share.

use quick_xml::escape::escape;

use frontend_map_rules::Locales;
use frontend_map_rules::frontend_url::{BaseUrl, Hosts};

/// The text around the paths of a sitemap file, already escaped.
#[derive(Clone, Debug)]
pub struct Frame {
    /// The text before a path in a `loc`, for each locale of the site, like the others.
    pub(super) locs: Vec<String>,
    /// The text before a path in an alternate link.
    pub(super) links: Vec<String>,
    /// The text before a path in the `x-default` link.
    pub(super) default_links: Vec<String>,
    /// For each locale, whether the files list its URLs; alternate links lead to those of all locales.
    listed: Vec<bool>,
    /// The position of the host among the site's hosts.
    pub(super) host: usize,
}

impl Frame {
    /// The frame of one of the hosts of a site with these base URLs and locales.
    pub fn new(hosts: &Hosts, locales: &Locales, host: usize) -> Self {
        let base = |at| escape(hosts.base(at).map_or("", BaseUrl::as_str));
        let link = |code: &str, at: usize| {
            format!(r#"<xhtml:link rel="alternate" hreflang="{code}" href="{}"#, base(at))
        };
        let locales = locales.as_slice();
        let all = 0..locales.len();
        Self {
            locs: all.clone().map(|at| format!("<url><loc>{}", base(at))).collect(),
            links: all.clone().map(|at| link(locales[at].hreflang(), at)).collect(),
            default_links: all.clone().map(|at| link("x-default", at)).collect(),
            listed: all.map(|at| hosts.host_of(at) == host).collect(),
            host,
        }
    }

    /// Whether the files of the host list the URLs of the locale at this position.
    pub(super) fn lists(&self, locale: usize) -> bool {
        self.listed.get(locale).copied().unwrap_or_default()
    }
}

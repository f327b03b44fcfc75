//! What a run checks: the listed URLs of one content type, and where each of them comes from.

use std::collections::HashMap;
use std::sync::Arc;

use crate::frontend_url::BaseUrl;
use crate::site::Site;
use crate::snapshot::{PublicUrl, Snapshot};

/// The listed URLs of one content type of a site, all on the site's own origin.
#[derive(Clone, Debug)]
pub struct Targets {
    /// The site key.
    pub site: String,
    /// The content-type UID.
    pub content_type: String,
    /// What every path is appended to.
    pub base: BaseUrl,
    /// The URLs. A position among the listed ones, in the order of D22, names one of them.
    pub snapshot: Arc<Snapshot>,
    locales: Vec<String>,
    /// By the positions of rule and locale.
    templates: HashMap<(usize, usize), String>,
}

/// One URL, and where it comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Target<'t> {
    /// What its path is appended to.
    pub base: &'t BaseUrl,
    /// The path on the frontend: absolute, percent-encoded ASCII.
    pub path: &'t str,
    /// The content-type UID.
    pub content_type: &'t str,
    /// The document that editors have to open when the URL is dead.
    pub document_id: &'t str,
    /// The locale that the URL stands under.
    pub locale: &'t str,
    /// The template that built it, as written in the settings.
    pub rule: &'t str,
}

impl Targets {
    /// What there is to check; `None` when the site has no base URL.
    #[must_use]
    pub fn new(site: &Site, content_type: &str, snapshot: Arc<Snapshot>) -> Option<Self> {
        let base = site.base.clone()?;
        let locales = site.rules.locales().as_slice();
        let mut templates = HashMap::new();
        for rule in site.rules.positions_of_type(content_type) {
            for (at, locale) in locales.iter().enumerate() {
                if let Some(template) = site.rules.rules()[rule].template(locale) {
                    templates.insert((rule, at), template.as_str().to_owned());
                }
            }
        }
        Some(Self {
            site: site.key.clone(),
            content_type: content_type.to_owned(),
            base,
            snapshot,
            locales: locales.iter().map(|locale| locale.as_str().to_owned()).collect(),
            templates,
        })
    }

    /// How many URLs there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.snapshot.listed_count()
    }

    /// The positions and paths of all of them, in the order of the results.
    pub fn paths(&self) -> impl Iterator<Item = (usize, &str)> + Send {
        self.snapshot.listed().map(PublicUrl::path).enumerate()
    }

    /// The URL at a position, one of [`Targets::paths`].
    #[must_use]
    pub fn target(&self, position: usize) -> Target<'_> {
        let url = self.snapshot.nth_listed(position);
        let template = self.templates.get(&(url.rule(), url.locale()));
        Target {
            base: &self.base,
            path: url.path(),
            content_type: &self.content_type,
            document_id: url.document_id(),
            locale: self.locales.get(url.locale()).map_or("", String::as_str),
            rule: template.map_or("", String::as_str),
        }
    }
}

impl Target<'_> {
    /// The absolute URL.
    #[must_use]
    pub fn url(&self) -> String {
        self.base.join(self.path)
    }
}

//! A run over content types of a site: what report files are written from.

use serde::Serialize;

use super::Tally;
use crate::validator::{CheckResult, Finding, Targets};

/// What came of every URL of some content types of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport<'t> {
    /// The site key.
    pub site: &'t str,
    /// What the path of each URL was appended to.
    #[serde(skip)]
    pub base: &'t str,
    /// When the run began (RFC 3339).
    pub checked_at: String,
    /// The counters over all content types.
    #[serde(flatten)]
    pub tally: Tally,
    /// One after the other, in the order of the settings.
    pub content_types: Vec<TypeReport<'t>>,
}

/// The payload of `validate=true`, but for its entries, which also say where they come from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct TypeReport<'t> {
    /// Always true.
    pub validated: bool,
    /// The site key.
    pub site: &'t str,
    /// The content-type UID.
    pub content_type: &'t str,
    /// The counters over all of `results`.
    #[serde(flatten)]
    pub tally: Tally,
    /// One for each URL, in the order of the sitemap.
    pub results: Vec<Finding<'t>>,
}

impl<'t> SiteReport<'t> {
    /// Puts the content types together.
    #[must_use]
    pub fn new(
        (site, base): (&'t str, &'t str),
        checked_at: String,
        content_types: Vec<TypeReport<'t>>,
    ) -> Self {
        let mut tally = Tally::default();
        for part in &content_types {
            tally.merge(&part.tally);
        }
        Self { site, base, checked_at, tally, content_types }
    }

    /// All URLs, in the order of the content types and of their sitemaps.
    pub fn findings(&self) -> impl Iterator<Item = &Finding<'t>> {
        self.content_types.iter().flat_map(|part| &part.results)
    }
}

impl<'t> TypeReport<'t> {
    /// Counts the results, which name their URL by its position, and brings them into the order of
    /// the sitemap.
    #[must_use]
    pub fn new(targets: &'t Targets, mut checked: Vec<(usize, CheckResult)>) -> Self {
        checked.sort_unstable_by_key(|(position, _)| *position);
        let mut tally = Tally::default();
        let finding = |(position, checked): (usize, CheckResult)| {
            tally.add(&checked);
            Finding::new(targets.target(position), checked)
        };
        let results = checked.into_iter().map(finding).collect();
        let (site, content_type) = (targets.site.as_str(), targets.content_type.as_str());
        Self { validated: true, site, content_type, tally, results }
    }
}

//! The report of a site, from which all formats are written.

use serde::Serialize;

use super::Tally;
use crate::validator::{CheckResult, Finding, Targets};

/// The results of some content types of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport<'t> {
    /// The site key.
    pub site: &'t str,
    /// The base URL.
    #[serde(skip)]
    pub base: &'t str,
    /// When the run began (RFC 3339).
    pub checked_at: String,
    /// The counters over all content types.
    #[serde(flatten)]
    pub tally: Tally,
    /// In the order of the settings.
    pub content_types: Vec<TypeReport<'t>>,
}

/// The data of `validate=true`, with the source of each result.
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
    /// The report of these content types.
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

    /// All findings, in the order of the content types and of their sitemaps.
    pub fn findings(&self) -> impl Iterator<Item = &Finding<'t>> {
        self.content_types.iter().flat_map(|part| &part.results)
    }
}

impl<'t> TypeReport<'t> {
    /// The report of results with their positions, in any order.
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

//! The report of a site, from which all formats are written.

use serde::Serialize;

use super::Tally;
use crate::checks::{CheckResult, Finding, Targets};
use frontend_map_catalog::site::AdminLinks;
use frontend_map_catalog::tables::{Problem, Problems};

/// The results of some content types of a site.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SiteReport<'t> {
    /// The site key.
    pub site: &'t str,
    /// The base URLs.
    #[serde(skip)]
    pub bases: Vec<&'t str>,
    /// When the run began (RFC 3339).
    pub checked_at: String,
    /// The counters over all content types.
    #[serde(flatten)]
    pub tally: Tally,
    /// In the order of the settings.
    pub content_types: Vec<TypeReport<'t>>,
    /// The documents without a URL, and the paths that several documents have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<ProblemList<'t>>,
}

/// The data of `/api/problems`, for the content types of a report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProblemList<'t> {
    /// How many problems there are, with a row or without one.
    pub count: usize,
    /// Whether rows, or versions in a row, are left out.
    pub truncated: bool,
    /// The rows.
    pub problems: Vec<Problem<'t>>,
}

impl<'t> ProblemList<'t> {
    /// The rows of a table.
    #[must_use]
    pub fn new(table: &'t Problems) -> Self {
        let problems = table.rows().collect();
        Self { count: table.count(), truncated: table.is_truncated(), problems }
    }
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
        site: &'t str,
        bases: Vec<&'t str>,
        checked_at: String,
        content_types: Vec<TypeReport<'t>>,
    ) -> Self {
        let mut tally = Tally::default();
        for part in &content_types {
            tally.merge(&part.tally);
        }
        Self { site, bases, checked_at, tally, content_types, problems: None }
    }

    /// All findings, in the order of the content types and of their sitemaps.
    pub fn findings(&self) -> impl Iterator<Item = &Finding<'t>> {
        self.content_types.iter().flat_map(|part| &part.results)
    }
}

impl<'t> TypeReport<'t> {
    /// The report of results with their positions, in any order.
    #[must_use]
    pub fn new(
        targets: &'t Targets,
        mut checked: Vec<(usize, CheckResult)>,
        links: Option<&AdminLinks>,
    ) -> Self {
        checked.sort_unstable_by_key(|(position, _)| *position);
        let mut tally = Tally::default();
        let finding = |(position, checked): (usize, CheckResult)| {
            tally.add(&checked);
            let (title, admin_url) = targets.labels(position, links);
            Finding { title, admin_url, ..Finding::new(targets.target(position), checked) }
        };
        let results = checked.into_iter().map(finding).collect();
        let (site, content_type) = (targets.site.as_str(), targets.content_type.as_str());
        Self { validated: true, site, content_type, tally, results }
    }
}

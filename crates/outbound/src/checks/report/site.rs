//! The report of a site, from which all formats are written.

use serde::Serialize;

use super::Tally;
use crate::checks::content::{FaultTally, UnreadableRobots};
use crate::checks::{CheckedUrl, Finding, Targets};
use frontend_map_catalog::links::ContentLink;
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
    /// What was found in the pages, if they were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<FoundInPages>,
    /// In the order of the settings.
    pub content_types: Vec<TypeReport<'t>>,
    /// The documents without a URL, and the paths that several documents have.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problems: Option<ProblemList<'t>>,
    /// The links in the content that lead to no page, if they were asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub links: Option<BrokenLinks<'t>>,
}

/// What was found in the pages of a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FoundInPages {
    /// The counters over all content types.
    #[serde(flatten)]
    pub tally: FaultTally,
    /// The `robots.txt` that cannot be read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub robots: Vec<UnreadableRobots>,
}

impl FoundInPages {
    /// Whether there is a fault; hints do not count.
    pub fn has_faults(&self) -> bool {
        self.tally.faulty > 0 || !self.robots.is_empty()
    }
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
    pub fn new(table: &'t Problems) -> Self {
        let problems = table.rows().collect();
        Self { count: table.count(), truncated: table.is_truncated(), problems }
    }
}

/// Links of `/api/links` that lead to no page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrokenLinks<'t> {
    /// Figures about them.
    #[serde(flatten)]
    pub figures: BrokenLinkFigures,
    /// Each of them.
    pub links: Vec<ContentLink<'t>>,
}

/// How many links lead to no page, and about how many that is not known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct BrokenLinkFigures {
    /// How many lead to no page.
    pub count: usize,
    /// When the content was read (RFC 3339).
    pub read_at: String,
    /// Of the links in the selected content types: how many have the verdict `unknown`.
    pub unknown: u64,
    /// Of all content of the site: how many links are not in the list.
    pub left_out: u64,
    /// Of all content of the site: how many fields and documents could not be read.
    pub unreadable: u64,
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
    /// What was found in the pages, if they were judged.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content: Option<FaultTally>,
    /// One for each URL, in the order of the sitemap.
    pub results: Vec<Finding<'t>>,
}

impl<'t> SiteReport<'t> {
    /// The report of these content types.
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
        let mut content = None::<FoundInPages>;
        for tally in content_types.iter().filter_map(|part| part.content.as_ref()) {
            content.get_or_insert_default().tally.merge(tally);
        }
        let (problems, links) = (None, None);
        Self { site, bases, checked_at, tally, content, content_types, problems, links }
    }

    /// The links that lead to no page, if they were asked for.
    pub fn broken_links(&self) -> &[ContentLink<'t>] {
        self.links.as_ref().map_or(&[], |links| &links.links)
    }

    /// All findings, in the order of the content types and of their sitemaps.
    pub fn findings(&self) -> impl Iterator<Item = &Finding<'t>> {
        self.content_types.iter().flat_map(|part| &part.results)
    }
}

impl<'t> TypeReport<'t> {
    /// The report of results in any order.
    pub fn new(
        targets: &'t Targets,
        mut checked: Vec<CheckedUrl>,
        links: Option<&AdminLinks>,
    ) -> Self {
        checked.sort_unstable_by_key(|checked| checked.position);
        let (mut tally, mut content) = (Tally::default(), None::<FaultTally>);
        let finding = |checked: CheckedUrl| {
            let CheckedUrl { position, result, judged } = checked;
            tally.add(&result);
            if let Some(judged) = &judged {
                content.get_or_insert_default().add(judged.is_read, &judged.faults);
            }
            let (title, admin_url) = targets.labels(position, links);
            let faults = judged.map(|judged| judged.faults).unwrap_or_default();
            let finding = Finding::new(targets.target(position), result).with_faults(faults);
            Finding { title, admin_url, ..finding }
        };
        let results = checked.into_iter().map(finding).collect();
        let (site, content_type) = (targets.site.key.as_str(), targets.content_type.as_str());
        Self { validated: true, site, content_type, tally, content, results }
    }
}

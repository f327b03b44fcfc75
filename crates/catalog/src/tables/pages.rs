//! The table of all pages of a site: a row for each content type and path, of its owner.

use std::cmp::Ordering;
use std::sync::Arc;

use serde::Serialize;

use super::chunks::{Rows, Step};
use crate::json::Json;
use crate::resolve::ParamValues;
use crate::site::{AbsoluteUrl, Site};
use crate::snapshot::{PublicUrl, Snapshot, timestamp_text};
use frontend_map_rules::{Pathname, PatternsByRule};

/// How many pages in turn that a filter leaves out are looked at in one step.
const MAX_LEFT_OUT: usize = 1_000;

/// Which pages are in the table.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageFilter {
    /// Only those in the locale at this position of the site's locales.
    pub locale: Option<usize>,
    /// Without those that were modified before, in milliseconds since 1970. Pages without a date
    /// stay.
    pub since: Option<i64>,
    /// With those that sitemaps leave out.
    pub unlisted: bool,
}

/// The table of pages, in the order of the sitemap: content types in the order of their rules, then
/// the site's order of locales, then the path by code point.
#[derive(Debug)]
pub struct Pages {
    site: Arc<Site>,
    patterns: PatternsByRule,
    /// In the order of the rules; behind them the pages outside the CMS, if they are in the table.
    snapshots: Vec<Arc<Snapshot>>,
    /// How many of the snapshots are of content types.
    types: usize,
    filter: PageFilter,
    count: u64,
    next: Next,
}

/// The figures of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct PageCount {
    /// The number of rows.
    pub count: u64,
}

/// A row: a page of a document, or one outside the CMS.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageRow<'a> {
    /// The path.
    pub path: &'a str,
    /// The URL; `None` without a base URL.
    pub url: Option<AbsoluteUrl<'a>>,
    /// The code of the locale.
    pub locale: &'a str,
    /// The content type of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<&'a str>,
    /// The `documentId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<&'a str>,
    /// The template of its rule.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<&'a str>,
    /// The values of its placeholders, as `/api/get-content-type` has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub params: Option<ParamValues<'a>>,
    /// The name of the page outside the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<&'a str>,
    /// When it was modified (RFC 3339).
    pub last_modified: Option<String>,
    /// Whether sitemaps list it.
    pub listed: bool,
}

/// The positions of the next page.
#[derive(Clone, Copy, Debug, Default)]
struct Next {
    snapshot: usize,
    listed: usize,
    unlisted: usize,
}

impl PageFilter {
    fn has(&self, url: PublicUrl<'_>) -> bool {
        let is_since = |since| url.modified().is_none_or(|modified| modified >= since);
        self.locale.is_none_or(|locale| url.locale() == locale)
            && self.since.is_none_or(is_since)
            && (self.unlisted || url.is_listed())
    }

    fn count(&self, snapshot: &Snapshot) -> u64 {
        let count = match self {
            Self { locale: None, since: None, unlisted: true } => snapshot.len(),
            Self { locale: None, since: None, unlisted: false } => snapshot.listed_count(),
            // Not in the order of the table, which would read the entries at random.
            _ => snapshot.owners().filter(|url| self.has(*url)).count(),
        };
        count as u64
    }
}

impl Pages {
    /// The pages in these snapshots of the site, which are in the order of the rules, and those outside
    /// the CMS if `with_pages`. Counts them, which takes some milliseconds for a million.
    pub fn new(
        site: Arc<Site>,
        mut snapshots: Vec<Arc<Snapshot>>,
        with_pages: bool,
        filter: PageFilter,
    ) -> Self {
        let types = snapshots.len();
        snapshots.extend(with_pages.then(|| Arc::clone(site.pages.snapshot())));
        let count = snapshots.iter().map(|snapshot| filter.count(snapshot)).sum();
        let patterns = site.rules.patterns_by_rule();
        Self { site, patterns, snapshots, types, filter, count, next: Next::default() }
    }

    /// The number of rows.
    pub fn count(&self) -> u64 {
        self.count
    }

    fn row<'a>(&'a self, url: PublicUrl<'a>, pathname: &'a Pathname<'a>) -> PageRow<'a> {
        let rules = &self.site.rules;
        let locale = &rules.locales().codes()[url.locale()];
        let page = PageRow {
            path: url.path(),
            url: self.site.url_of(url),
            locale: locale.as_str(),
            last_modified: url.modified().and_then(timestamp_text),
            listed: url.is_listed(),
            ..PageRow::default()
        };
        if self.next.snapshot >= self.types {
            return PageRow { page: Some(url.document_id()), ..page };
        }
        let rule = &rules.rules()[url.rule()];
        // An own path has no placeholders (D41).
        let by_template =
            || rules.match_of_rule(&self.patterns, pathname, url.rule(), url.locale());
        let found = if url.has_own_path() { None } else { by_template() };
        let captured = found.map(|found| found.params);
        PageRow {
            content_type: Some(rule.content_type.as_str()),
            document_id: Some(url.document_id()),
            rule: Some(rule.template(locale).unwrap_or(rule.first_template()).as_str()),
            params: Some(ParamValues { locale: locale.as_str(), captured }),
            ..page
        }
    }
}

impl Rows for Pages {
    const NAME: &'static str = "pages";

    type Figures = PageCount;

    fn figures(&self) -> PageCount {
        PageCount { count: self.count }
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        for _ in 0..MAX_LEFT_OUT {
            let Some(snapshot) = self.snapshots.get(self.next.snapshot).cloned() else {
                return Step::End;
            };
            match self.next.url(&snapshot, self.filter.unlisted) {
                Some(url) if self.filter.has(url) => {
                    out.value(&self.row(url, &Pathname::parse(url.path())));
                    return Step::Row;
                }
                Some(_) => {}
                None => self.next = Next { snapshot: self.next.snapshot + 1, ..Next::default() },
            }
        }
        Step::Nothing
    }
}

impl Next {
    /// The next page of the snapshot in the order of sitemaps; `None` behind the last one.
    fn url<'s>(&mut self, snapshot: &'s Snapshot, with_unlisted: bool) -> Option<PublicUrl<'s>> {
        let listed = snapshot.listed_from(self.listed).next();
        let unlisted =
            with_unlisted.then(|| snapshot.unlisted_from(self.unlisted).next()).flatten();
        let order = |url: PublicUrl<'s>| (url.locale(), url.path());
        let is_listed = match (listed, unlisted) {
            (Some(listed), Some(unlisted)) => order(listed).cmp(&order(unlisted)) == Ordering::Less,
            (listed, _) => listed.is_some(),
        };
        let (next, url) =
            if is_listed { (&mut self.listed, listed) } else { (&mut self.unlisted, unlisted) };
        *next += 1;
        url
    }
}

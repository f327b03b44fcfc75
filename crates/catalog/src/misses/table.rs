//! The table of paths that were not found, those that are requested most first.

use std::sync::Arc;

use serde::Serialize;

use super::new_redirect::NewRedirect;
use super::suggestion::{Suggestion, suggest};
use super::summary::{MissedPath, Summary, Tally};
use crate::json::Json;
use crate::site::Site;
use crate::snapshot::{Snapshot, timestamp_text};
use crate::tables::{Rows, Step};

/// The table: a row for each path, and as the last one that of scanners.
#[derive(Debug)]
pub struct Misses {
    rows: Vec<MissRow>,
    uncounted: u64,
    next: usize,
}

/// The figures of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct MissCount {
    /// The number of rows.
    pub count: usize,
    /// The requests that are in no row.
    pub uncounted: u64,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissRow {
    /// `path`, or `scanners` for all paths that only scanners request.
    pub kind: &'static str,
    /// The host, if the site has several and the requests named it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// The normalized path; `None` for scanners.
    pub path: Option<String>,
    /// How many requests there were; it may be too high by up to `error`.
    pub count: u64,
    /// How many of these may have been for other paths.
    pub error: u64,
    /// The time of the first one.
    pub first_at: Option<String>,
    /// The time of the last one.
    pub last_at: Option<String>,
    /// The page that was perhaps meant.
    pub suggestion: Option<MissSuggestion>,
    /// The redirect in the CMS that an editor would create for the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<NewRedirect>,
}

/// A page that was perhaps meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct MissSuggestion {
    /// Its path.
    pub path: String,
    /// Its URL; `None` without a base URL of its locale.
    pub url: Option<String>,
    /// The code of its locale.
    pub locale: String,
    /// The content type of the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// The `documentId`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document_id: Option<String>,
    /// The name of the page outside the CMS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// Why it was perhaps meant.
    pub reason: &'static str,
}

impl Misses {
    /// The paths of a summary, each with the page of these snapshots of the site that was perhaps meant.
    /// Takes some seconds for 1,000 paths and a million URLs.
    pub fn new(summary: &Summary, site: &Site, snapshots: &[Arc<Snapshot>]) -> Self {
        let paths = summary.paths();
        let hosts = site.hosts.all();
        let host = |name: &str| hosts.iter().position(|host| host.base.host() == name);
        let missed: Vec<_> = paths.iter().map(|path| (host(path.host), path.path)).collect();
        let suggestions = suggest(site, snapshots, &missed).into_iter();
        let rows = paths.iter().zip(&missed).zip(suggestions);
        let rows = rows.map(|((path, (host, _)), suggestion)| {
            let meant = suggestion.map(|suggestion| suggestion.url);
            let redirect = NewRedirect::of(site, *host, path.path, meant);
            let suggestion = suggestion.map(|suggestion| MissSuggestion::of(site, suggestion));
            MissRow { suggestion, redirect, ..MissRow::of_path(*path) }
        });
        let scanners = summary.scanners().map(|tally| MissRow::of("scanners", tally));
        let rows = rows.chain(scanners).collect();
        Self { rows, uncounted: summary.uncounted(), next: 0 }
    }

    /// The number of rows.
    pub fn count(&self) -> usize {
        self.rows.len()
    }
}

impl MissRow {
    fn of(kind: &'static str, tally: Tally) -> Self {
        let Tally { count, error, first, last } = tally;
        Self {
            kind,
            host: None,
            path: None,
            count,
            error,
            first_at: timestamp_text(first),
            last_at: timestamp_text(last),
            suggestion: None,
            redirect: None,
        }
    }

    fn of_path(path: MissedPath<'_>) -> Self {
        let host = (!path.host.is_empty()).then(|| path.host.to_owned());
        Self { host, path: Some(path.path.to_owned()), ..Self::of("path", path.tally) }
    }
}

impl MissSuggestion {
    fn of(site: &Site, Suggestion { url, is_page, reason }: Suggestion<'_>) -> Self {
        let rules = &site.rules;
        let id = || url.document_id().to_owned();
        let uid = || rules.rules()[url.rule()].content_type.as_str().to_owned();
        Self {
            path: url.path().to_owned(),
            url: site.hosts.url(url.locale(), url.path()),
            locale: rules.locales().codes()[url.locale()].as_str().to_owned(),
            content_type: (!is_page).then(uid),
            document_id: (!is_page).then(id),
            page: is_page.then(id),
            reason: reason.as_str(),
        }
    }
}

impl Rows for Misses {
    const NAME: &'static str = "misses";

    type Figures = MissCount;

    fn figures(&self) -> MissCount {
        MissCount { count: self.count(), uncounted: self.uncounted }
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        let Some(row) = self.rows.get(self.next) else { return Step::End };
        out.value(row);
        self.next += 1;
        Step::Row
    }
}

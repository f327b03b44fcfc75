//! The table of problems of a site: versions without a URL, and paths that several documents have.

use std::sync::Arc;

use serde::Serialize;

use super::MAX_ROWS;
use super::chunks::{Rows, Step};
use super::redirect_problems::{RedirectProblem, RedirectProblems};
use super::shared_paths::{SharedPath, SharedPaths, VersionAt};
use crate::json::Json;
use crate::site::{AdminLinks, Site};
use crate::snapshot::{NoUrlRow, PublicUrl, Snapshot};

/// The table, by content types in the order of their rules: first the versions without a URL, by
/// locale and `documentId`, then the shared paths whose owner is of the type, by path.
#[derive(Debug)]
pub struct Problems {
    site: Arc<Site>,
    /// In the order of the rules.
    snapshots: Vec<Arc<Snapshot>>,
    shared: Arc<SharedPaths>,
    links: Option<Arc<AdminLinks>>,
    redirects: Option<Box<RedirectProblems>>,
    next: Next,
}

/// The positions of the next row.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Next {
    /// 0 for the documents of the site, 1 for those of its redirects, 2 for what the redirects do.
    part: usize,
    snapshot: usize,
    row: usize,
}

/// The figures of the table.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct ProblemCount {
    /// All problems, with a row or without one.
    pub count: usize,
    /// Whether rows, or versions in a row, are left out.
    pub truncated: bool,
}

/// A row of the table.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Problem<'a> {
    /// A published version has no URL.
    NoUrl {
        /// The version.
        #[serde(flatten)]
        version: VersionRow<'a>,
        /// The reason, as in `details.reason` of `/api/frontend-url`.
        reason: &'a str,
        /// The template of the rule that was tried.
        rule: &'a str,
    },
    /// Several documents have one path.
    SharedPath {
        /// The path.
        path: &'a str,
        /// The version that the path leads to.
        owner: VersionRow<'a>,
        /// The other versions in the order of ownership.
        others: Vec<VersionRow<'a>>,
    },
    /// A redirect of the CMS does not do what it says.
    #[serde(untagged)]
    Redirect(RedirectProblem<'a>),
}

/// A version of a document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct VersionRow<'a> {
    /// Its content type.
    pub content_type: &'a str,
    /// The `documentId`.
    pub document_id: &'a str,
    /// Its locale; the site's default for a document that is not localized, `None` if it is not
    /// text.
    pub locale: Option<&'a str>,
    /// Its title, if the rule names a field for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<&'a str>,
    /// Its page in the admin panel of the CMS, if the address of that is set.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub admin_url: Option<String>,
    /// The position of its rule in the settings of the site, from 0.
    #[serde(skip)]
    pub rule: usize,
}

impl Problems {
    /// The problems in these snapshots of the site, which are in the order of the rules; `shared` are
    /// their shared paths.
    pub fn new(
        site: Arc<Site>,
        snapshots: Vec<Arc<Snapshot>>,
        shared: Arc<SharedPaths>,
        links: Option<Arc<AdminLinks>>,
    ) -> Self {
        Self { site, snapshots, shared, links, redirects: None, next: Next::default() }
    }

    /// With those of the redirects of the site behind.
    pub fn with_redirects(self, redirects: Option<RedirectProblems>) -> Self {
        Self { redirects: redirects.map(Box::new), ..self }
    }

    /// How many problems there are, with a row or without one.
    pub fn count(&self) -> usize {
        let no_url: usize = self.snapshots.iter().map(|snapshot| snapshot.no_url().len()).sum();
        let redirects = self.redirects.as_ref().map_or(0, |redirects| redirects.count());
        no_url + self.shared.count + redirects
    }

    /// Whether rows, or versions in a row, are left out.
    pub fn is_truncated(&self) -> bool {
        let is_truncated = |snapshot: &Arc<Snapshot>| snapshot.no_url().len() > MAX_ROWS;
        self.shared.is_truncated
            || self.snapshots.iter().any(is_truncated)
            || self.redirects.as_ref().is_some_and(|redirects| redirects.is_truncated())
    }

    /// The rows.
    pub fn rows(&self) -> impl Iterator<Item = Problem<'_>> {
        let mut next = self.next;
        std::iter::from_fn(move || self.row(&mut next))
    }

    fn row(&self, next: &mut Next) -> Option<Problem<'_>> {
        if next.part == 0 {
            if let Some(problem) = self.row_of_documents(next) {
                return Some(problem);
            }
            *next = Next { part: 1, ..Next::default() };
        }
        let redirects = self.redirects.as_ref()?;
        if next.part == 1 {
            if let Some(problem) = redirects.of_types().row_of_documents(next) {
                return Some(problem.of_redirect());
            }
            *next = Next { part: 2, ..Next::default() };
        }
        next.row += 1;
        redirects.row(next.row - 1)
    }

    /// The next row about the documents of the snapshots.
    fn row_of_documents(&self, next: &mut Next) -> Option<Problem<'_>> {
        loop {
            let snapshot = self.snapshots.get(next.snapshot)?;
            let rows = snapshot.no_url().len().min(MAX_ROWS);
            let shared = self.shared.of_snapshot(next.snapshot);
            let row = next.row;
            next.row += 1;
            if row < rows {
                return snapshot.no_url_from(row).next().map(|row| self.no_url(row));
            }
            if let Some(path) = shared.get(row - rows) {
                return Some(self.shared_path(path));
            }
            *next = Next { snapshot: next.snapshot + 1, row: 0, ..*next };
        }
    }

    fn no_url<'a>(&'a self, row: NoUrlRow<'a>) -> Problem<'a> {
        let rules = &self.site.rules;
        let rule = &rules.rules()[row.rule];
        let locale = row.locale.map(|at| &rules.locales().codes()[at]);
        let template = locale.and_then(|locale| rule.template(locale));
        let version = Version {
            rule: row.rule,
            document_id: row.document_id,
            locale: row.locale,
            is_localized: row.is_localized,
            title: row.title,
        };
        let rule = template.unwrap_or(rule.first_template()).as_str();
        Problem::NoUrl { version: self.version(version), reason: row.reason, rule }
    }

    fn shared_path(&self, SharedPath { versions }: &SharedPath) -> Problem<'_> {
        let url = |at: &VersionAt| self.snapshots[at.snapshot].nth(at.version);
        let version = |at: &VersionAt| self.version_of(url(at));
        let (owner, others) = versions.split_first().expect("a shared path has versions");
        Problem::SharedPath {
            path: url(owner).path(),
            owner: version(owner),
            others: others.iter().map(version).collect(),
        }
    }

    pub(super) fn snapshot(&self, at: usize) -> &Snapshot {
        &self.snapshots[at]
    }

    /// A version with a URL.
    pub(super) fn version_of<'a>(&'a self, url: PublicUrl<'a>) -> VersionRow<'a> {
        self.version(Version {
            rule: url.rule(),
            document_id: url.document_id(),
            locale: Some(url.locale()),
            is_localized: url.is_localized(),
            title: url.title(),
        })
    }

    fn version<'a>(&'a self, version: Version<'a>) -> VersionRow<'a> {
        let Version { rule, document_id, locale, is_localized, title } = version;
        let uid = &self.site.rules.rules()[rule].content_type;
        let locale = locale.map(|at| self.site.rules.locales().codes()[at].as_str());
        let link = |links: &Arc<AdminLinks>| {
            links.link(uid.as_str(), document_id, locale.filter(|_| is_localized))
        };
        VersionRow {
            content_type: uid.as_str(),
            document_id,
            locale,
            title,
            admin_url: self.links.as_ref().map(link),
            rule,
        }
    }
}

/// A version as the snapshots have it.
#[derive(Clone, Copy)]
struct Version<'a> {
    rule: usize,
    document_id: &'a str,
    locale: Option<usize>,
    is_localized: bool,
    title: Option<&'a str>,
}

impl Rows for Problems {
    const NAME: &'static str = "problems";

    type Figures = ProblemCount;

    fn figures(&self) -> ProblemCount {
        ProblemCount { count: self.count(), truncated: self.is_truncated() }
    }

    fn write_next(&mut self, out: &mut Json) -> Step {
        let mut next = self.next;
        let Some(problem) = self.row(&mut next) else { return Step::End };
        out.value(&problem);
        self.next = next;
        Step::Row
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::changes::difference::fixture::Settings;
    use crate::site::{ResolveBy, SitePages};
    use frontend_map_rules::frontend_url::Hosts;

    #[test]
    fn versions_without_a_url_beyond_the_bound_are_counted_alone() {
        let settings = Settings::new("/{slug}", &[("en", "")]);
        let ids: Vec<String> = (0..MAX_ROWS + 3).map(|n| format!("id{n:05}")).collect();
        for (count, is_truncated) in [(MAX_ROWS, false), (MAX_ROWS + 3, true)] {
            let rows: Vec<_> = ids[..count].iter().map(|id| (&**id, "en", "", "")).collect();
            let snapshot = Arc::new(settings.snapshot(&rows));
            let site = Site {
                key: "main".to_owned(),
                rules: settings.rules().clone(),
                hosts: Hosts::default(),
                resolve: ResolveBy::Rules,
                sitemap_path: String::new(),
                pages: SitePages::new(Snapshot::default()),
                redirects: None,
                links: Vec::new(),
                links_fingerprint: 0,
                fingerprint: 0,
                source: 0,
            };
            let problems = Problems::new(Arc::new(site), vec![snapshot], Arc::default(), None);
            let listed = problems.rows().count();
            assert_eq!((listed, problems.count()), (MAX_ROWS, count));
            assert_eq!(problems.is_truncated(), is_truncated);
        }
    }
}

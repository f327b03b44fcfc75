//! Problems of redirects that are documents of the CMS.

use std::sync::Arc;

use serde::Serialize;

use super::MAX_ROWS;
use super::problems::{Problem, Problems, VersionRow};
use super::shared_paths::SharedPaths;
use crate::moved::entries::{EntryFault, RedirectEntries, RedirectWorld, as_written};
use crate::moved::redirects::SiteHistory;
use crate::path_index::PathIndex;
use crate::site::{AdminLinks, Site};
use crate::snapshot::Snapshot;
use frontend_map_rules::ContentTypeUid;

/// The reason of a redirect without a target.
const NO_TARGET: &str = "target_missing";

/// A redirect that does not do what it says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedirectProblem<'a> {
    /// What is wrong: `redirect_shadowed`, `redirect_hides_page`, `redirect_loop`,
    /// `redirect_without_target` or `redirect_unusable`.
    pub kind: &'static str,
    /// The redirect.
    #[serde(flatten)]
    pub version: VersionRow<'a>,
    /// The path from which it leads, if that can be used; of a page that a path with `*` hides, that of
    /// the page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// What is wrong with its fields.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<&'a str>,
}

/// The problems of the redirects of a site.
#[derive(Debug)]
pub struct RedirectProblems {
    /// Documents that are no redirects, and paths that several redirects have.
    of_types: Problems,
    faults: Faults,
}

#[derive(Debug, Default)]
struct Faults {
    /// At most [`MAX_ROWS`].
    rows: Vec<Fault>,
    /// How many faults there are.
    count: usize,
}

#[derive(Debug)]
struct Fault {
    /// The position of the snapshot.
    snapshot: usize,
    /// The position of the redirect in it.
    entry: usize,
    kind: EntryFault,
    /// The path of a page that a path with `*` hides.
    page: Option<String>,
}

impl Faults {
    fn add(&mut self, fault: impl FnOnce() -> Fault) {
        self.count += 1;
        if self.rows.len() < MAX_ROWS {
            self.rows.push(fault());
        }
    }
}

impl RedirectProblems {
    /// The problems of the redirects in these snapshots, which are those of all content types of the
    /// site, and of all those of its redirects, in the order of the rules. `None`: the site has no
    /// redirects.
    pub fn find(
        site: &Site,
        documents: &[(&ContentTypeUid, Arc<Snapshot>)],
        redirects: &[(&ContentTypeUid, Arc<Snapshot>)],
        history: Option<SiteHistory<'_>>,
        links: Option<Arc<AdminLinks>>,
    ) -> Option<Self> {
        let of_redirects = site.redirects.as_ref()?;
        let index = PathIndex::of_fresh(&site.rules, documents.iter().cloned());
        let entries = PathIndex::of_fresh(&of_redirects.rules, redirects.iter().cloned());
        let entries = RedirectEntries { index: &entries };
        // The status does not decide where a redirect leads.
        let world = RedirectWorld { site, index: &index, entries, history, status: 308 };
        let mut faults = Faults::default();
        for (at, (_, snapshot)) in redirects.iter().enumerate() {
            for entry in snapshot.owners() {
                if let Some(fault) = world.fault(entry) {
                    let entry = entry.position();
                    faults.add(|| Fault { snapshot: at, entry, kind: fault, page: None });
                }
            }
        }
        let documents = documents.iter().map(|(_, snapshot)| snapshot);
        for (page, entry) in
            documents.chain([site.pages.snapshot()]).flat_map(|pages| world.hidden_below(pages))
        {
            let uid = &of_redirects.rules.rules()[entry.rule()].content_type;
            let of_type = redirects.iter().position(|(own, _)| *own == uid);
            let (entry, page) = (entry.position(), || Some(as_written(page.path())));
            if let Some(snapshot) = of_type {
                let kind = EntryFault::HidesPage;
                faults.add(|| Fault { snapshot, entry, kind, page: page() });
            }
        }
        let snapshots: Vec<_> = redirects.iter().map(|(_, one)| Arc::clone(one)).collect();
        let shared = Arc::new(SharedPaths::find(of_redirects, &snapshots));
        let of_types = Problems::new(Arc::clone(of_redirects), snapshots, shared, links);
        Some(Self { of_types, faults })
    }

    /// How many there are, with a row or without one.
    pub(super) fn count(&self) -> usize {
        self.of_types.count() + self.faults.count
    }

    pub(super) fn is_truncated(&self) -> bool {
        self.of_types.is_truncated() || self.faults.rows.len() < self.faults.count
    }

    /// The row at a position.
    pub(super) fn row(&self, at: usize) -> Option<Problem<'_>> {
        let Fault { snapshot, entry, kind, page } = self.faults.rows.get(at)?;
        let entry = self.of_types.snapshot(*snapshot).nth(*entry);
        let kind = match kind {
            EntryFault::Shadowed => "redirect_shadowed",
            EntryFault::HidesPage => "redirect_hides_page",
            EntryFault::Loop => "redirect_loop",
            EntryFault::NoTarget => "redirect_without_target",
        };
        let (version, path) = (self.of_types.version_of(entry), page.clone());
        let path = path.or_else(|| Some(as_written(entry.path())));
        Some(Problem::Redirect(RedirectProblem { kind, version, path, reason: None }))
    }

    /// The problems of the documents themselves.
    pub(super) fn of_types(&self) -> &Problems {
        &self.of_types
    }
}

impl Problem<'_> {
    /// The problem of a document of a content type for redirects.
    pub(super) fn of_redirect(self) -> Self {
        let Self::NoUrl { version, reason, .. } = self else { return self };
        let is_without = reason == NO_TARGET;
        let kind = if is_without { "redirect_without_target" } else { "redirect_unusable" };
        let reason = (!is_without).then_some(reason);
        Self::Redirect(RedirectProblem { kind, version, path: None, reason })
    }
}

impl RedirectProblem<'_> {
    /// What is wrong, as the rest of a sentence about the redirect.
    pub fn in_words(&self) -> String {
        match (self.kind, self.reason) {
            ("redirect_shadowed", _) => "a live page has its path".to_owned(),
            ("redirect_hides_page", _) => "it comes before a live page".to_owned(),
            ("redirect_loop", _) => "it leads back to where it begins".to_owned(),
            ("redirect_without_target", _) => {
                "it has no target, or the target is not published in this locale".to_owned()
            }
            (_, reason) => format!("it cannot be used: {}", reason.unwrap_or_default()),
        }
    }
}

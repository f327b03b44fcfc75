//! What else has the path that a version gets, and which of both has it afterwards.

use serde::Serialize;

use super::change::Change;
use super::paths::Paths;
use super::world::DocumentVersion;
use crate::snapshot::{Claims, Criterion, PublicUrl};
use frontend_map_rules::Pathname;

/// What else has the path of a version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathConflict {
    /// The path.
    pub path: String,
    /// The other document that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub document: Option<DocumentVersion>,
    /// The page outside the CMS that has it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
    /// The template of the rule that the path leads to, if that decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Which of both visitors would see.
    pub wins: Wins,
    /// What decides.
    pub by: Decider,
}

/// Which of two has a path afterwards.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Wins {
    /// The version itself.
    This,
    /// The other one.
    Other,
    /// The dates of creation decide, which are not known.
    Unknown,
}

/// What decides between two that have a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Decider {
    /// The order of D22, of documents of one content type.
    Owner(Criterion),
    /// The content types, or the settings.
    Site(SiteDecider),
}

/// What decides between content types.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SiteDecider {
    /// It is the own path of a document (D41).
    OwnPath,
    /// The rules: the more specific one, or of equal ones the first.
    Rule,
    /// A page outside the CMS comes before all documents.
    Page,
}

impl Change<'_, '_> {
    /// What else has the path that the version gets.
    pub(super) fn conflict(&self, after: &Paths<'_>, path: &str) -> Option<PathConflict> {
        let own = self.own.urls().next()?;
        let host = own.host();
        match after.page_at(path, host) {
            Some(page) if self.is_of_document(after, page) => {
                self.undecided(after, own).or_else(|| self.taken(after, own))
            }
            Some(page) => {
                let by = self.decider(after, page, own);
                let is_undecided = by == Decider::Owner(Criterion::Created);
                let wins = if is_undecided { Wins::Unknown } else { Wins::Other };
                Some(self.with(after, path, Some(page), (wins, by)))
            }
            // The path leads to another content type, of which no document has it.
            None => {
                Some(self.with(after, path, None, (Wins::Other, Decider::Site(SiteDecider::Rule))))
            }
        }
    }

    /// A document that gets the same path at the same time, so that dates of creation decide.
    fn undecided(&self, after: &Paths<'_>, own: PublicUrl<'_>) -> Option<PathConflict> {
        let snapshot = after.snapshot(self.subject.uid)?;
        let by = Decider::Owner(Criterion::Created);
        let is_rival = |url: &PublicUrl<'_>| {
            (url.normalized_path(), url.host()) == (own.normalized_path(), own.host())
                && !self.is_of_document(after, *url)
                && self.decider(after, *url, own) == by
        };
        let rival = snapshot.urls().find(is_rival)?;
        Some(self.with(after, own.path(), Some(rival), (Wins::Unknown, by)))
    }

    /// The document from which the version takes its path.
    fn taken(&self, after: &Paths<'_>, own: PublicUrl<'_>) -> Option<PathConflict> {
        let before = self.before;
        let other = before.page_at(own.path(), own.host());
        let other = other.filter(|page| !self.is_of_document(before, *page))?;
        let by = self.decider(before, other, own);
        let is_left = after.has(before.type_of(other), other);
        is_left.then(|| self.with(before, own.path(), Some(other), (Wins::This, by)))
    }

    fn is_of_document(&self, paths: &Paths<'_>, url: PublicUrl<'_>) -> bool {
        url.document_id() == self.subject.document_id && paths.type_of(url) == self.subject.uid
    }

    /// What decides between another document and the version.
    fn decider(&self, paths: &Paths<'_>, other: PublicUrl<'_>, own: PublicUrl<'_>) -> Decider {
        if paths.type_of(other) != self.subject.uid {
            let is_own_path = other.has_own_path() || own.has_own_path();
            let by = if is_own_path { SiteDecider::OwnPath } else { SiteDecider::Rule };
            return Decider::Site(by);
        }
        let before = self.known.type_at(self.subject.uid).map(|at| self.known.snapshot(at));
        let claims = before.map(Claims::after).unwrap_or_default();
        Decider::Owner(claims.criterion(other, own))
    }

    fn with(
        &self,
        paths: &Paths<'_>,
        path: &str,
        other: Option<PublicUrl<'_>>,
        (wins, by): (Wins, Decider),
    ) -> PathConflict {
        let site = self.known.world.site;
        let is_of_type = other.is_some_and(|url| paths.type_of(url) == self.subject.uid);
        let pathname = Pathname::parse(path);
        let found = (!is_of_type).then(|| {
            site.rules.find_on(&pathname, site.hosts.host_if_several(self.subject.locale))
        });
        let rule = found.flatten().map(|found| found.template.to_string());
        let document = other.map(|url| self.known.name(url));
        PathConflict { path: path.to_owned(), document, page: None, rule, wins, by }
    }

    /// A page outside the CMS has the path.
    pub(super) fn conflict_with_page(&self, path: &str) -> PathConflict {
        let site = self.known.world.site;
        let page = site.pages.find(path, site.hosts.host_if_several(self.subject.locale));
        PathConflict {
            path: path.to_owned(),
            document: None,
            page: page.map(|page| page.document_id().to_owned()),
            rule: None,
            wins: Wins::Other,
            by: Decider::Site(SiteDecider::Page),
        }
    }
}

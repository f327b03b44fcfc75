//! What one action would do.

use serde::Serialize;

use super::change::{Change, own_snapshot};
use super::conflict::PathConflict;
use super::dependents::dependents;
use super::paths::Paths;
use super::published::{self, AsPublished, Draft};
use super::world::{DocumentVersion, Known, Subject};
use crate::snapshot::NoSnapshot;
use frontend_map_rules::frontend_url::{NoUrl, NoUrlReason, NullLink, in_words, write_path};
use frontend_map_rules::{Document, FieldPath};

/// The most rows of each list of an effect.
pub(super) const MAX_ROWS: usize = 10;

/// What publishing, unpublishing or deleting would do on a site.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PublishEffect {
    /// Whether nothing speaks against it: a published version gets a URL of its own from documents
    /// that are published, which no other page has or had, and visitors find a page at every path, as far
    /// as is known (`gone.more`).
    pub ok: bool,
    /// The path that the version would have. `None`: it would have none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Its URL, if its locale has a base URL.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Why a published version would have no path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_path: Option<NoPath>,
    /// The documents behind relations that are not published, so that the published version would not
    /// have them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unpublished: Vec<RelatedDocument>,
    /// The documents behind relations of whose published versions nothing is known: the values of their
    /// drafts stand for them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub assumed: Vec<RelatedDocument>,
    /// What else has the path.
    pub conflict: Option<PathConflict>,
    /// The redirect of the CMS at `path`, or at the path that the version leaves.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<PathRedirect>,
    /// Where the page of the version moves.
    pub moves: Option<PathMove>,
    /// The pages of other documents that move along.
    pub dependents: Group<MovedPage>,
    /// The pages at whose paths nothing is found any more.
    pub gone: Group<LostPage>,
}

/// Why a version would have no path.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NoPath {
    /// The reason, as in `details.reason` of `/api/frontend-url` (D13).
    pub reason: String,
    /// The template of the rule that was tried.
    pub rule: String,
    /// The reason in words.
    pub message: String,
}

/// A document behind a relation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RelatedDocument {
    /// The relation.
    pub field: String,
    /// The `documentId` of the document.
    pub document_id: String,
}

/// A path that becomes another one.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathMove {
    /// The path now.
    pub from: String,
    /// The path afterwards.
    pub to: String,
    /// Whether the old path will lead to the new one. Not if paths of this site do not redirect, another
    /// document has it, or a redirect of the CMS leads elsewhere.
    pub redirects: bool,
    /// The redirect of the CMS that decides where the old path leads.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<PathRedirect>,
}

/// A redirect of the CMS.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PathRedirect {
    /// Its document.
    pub document: DocumentVersion,
    /// The path to which it leads, or the URL of another host; `None`: the page is gone (410).
    pub to: Option<String>,
    /// Whether it comes before a live page.
    pub force: bool,
}

/// A page of another document that moves along.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MovedPage {
    /// The version.
    #[serde(flatten)]
    pub version: DocumentVersion,
    /// Its paths.
    #[serde(flatten)]
    pub moves: PathMove,
}

/// A page that is not found any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct LostPage {
    /// The version.
    #[serde(flatten)]
    pub version: DocumentVersion,
    /// Its path.
    pub path: String,
}

/// Some pages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Group<T> {
    /// How many.
    pub count: usize,
    /// Whether there may be more of them, or others: some paths depend on values that are not known.
    pub more: bool,
    /// The first ten, by path.
    pub first: Vec<T>,
}

impl<T> Default for Group<T> {
    fn default() -> Self {
        Self { count: 0, more: false, first: Vec::new() }
    }
}

impl<T> Group<T> {
    pub(super) fn of(mut all: Vec<T>, more: bool, path: impl Fn(&T) -> (&str, &str)) -> Self {
        let count = all.len();
        all.sort_by(|one, other| path(one).cmp(&path(other)));
        all.truncate(MAX_ROWS);
        Self { count, more, first: all }
    }
}

/// If the draft is published.
pub(super) fn publish(
    known: &Known<'_>,
    before: &Paths<'_>,
    subject: Subject<'_>,
    draft: &Draft<'_>,
) -> Result<PublishEffect, NoSnapshot> {
    let site = known.world.site;
    let published = published::as_published(known, subject, draft);
    let AsPublished { document, unpublished, assumed } = &published;
    let dependents = dependents(known, subject, false, Some(document));
    let own = own_snapshot(site, subject, Some(document))?;
    let change = Change { known, before, subject, all_locales: false, own: &own, dependents };
    let after = change.after()?;
    let mut effect = change.effect(&after);
    let mut path = String::new();
    let rules = site.rules.of_type(subject.uid);
    match write_path(&site.rules, &site.hosts, rules, document, false, &mut path) {
        Some(Ok(_)) => {
            effect.conflict = change.conflict(&after, &path);
            effect.url = site.hosts.url(subject.locale, &path);
            effect.path = Some(path);
        }
        Some(Err(no_url)) => {
            if no_url.reason == NoUrlReason::PathTakenByPage {
                effect.conflict = Some(change.conflict_with_page(&path));
            }
            effect.no_path = Some(NoPath::new(&no_url, document, unpublished));
        }
        None => {}
    }
    let name = |all: &[(FieldPath, String)]| {
        let all = all.iter();
        all.map(|(field, id)| RelatedDocument { field: field.to_string(), document_id: id.clone() })
            .collect()
    };
    (effect.unpublished, effect.assumed) = (name(unpublished), name(assumed));
    // Other sites have the documents that the conditions leave out.
    let is_elsewhere =
        effect.no_path.as_ref().is_none_or(|no_path| no_path.reason == "conditions_not_met");
    let has_all = unpublished.is_empty() && assumed.is_empty();
    let is_hidden = effect.redirect.as_ref().is_some_and(|redirect| redirect.force);
    let is_free = effect.conflict.is_none() && !is_hidden;
    effect.ok = is_free && effect.gone.count == 0 && is_elsewhere && has_all;
    Ok(effect)
}

/// If the version, or all versions of the document, are withdrawn.
pub(super) fn withdraw(
    known: &Known<'_>,
    before: &Paths<'_>,
    subject: Subject<'_>,
    all_locales: bool,
) -> Result<PublishEffect, NoSnapshot> {
    let dependents = dependents(known, subject, all_locales, None);
    let own = own_snapshot(known.world.site, subject, None)?;
    let change = Change { known, before, subject, all_locales, own: &own, dependents };
    let effect = change.effect(&change.after()?);
    Ok(PublishEffect { ok: effect.gone.count == 0, ..effect })
}

impl NoPath {
    fn new(
        NoUrl { reason, template, .. }: &NoUrl<'_>,
        document: &Document<'_>,
        unpublished: &[(FieldPath, String)],
    ) -> Self {
        let reason = reason.to_string();
        let of_relation = unpublished.iter().find(|(relation, _)| {
            reason.strip_suffix("_missing") == Some(relation.to_string().as_str())
        });
        let message = match of_relation {
            Some((relation, id)) => format!(
                "`{relation}` leads to document {id}, which is not published in this locale"
            ),
            None => in_words(&reason, template, Some(document), |_| NullLink::Empty)
                .unwrap_or_else(|| reason.clone()),
        };
        Self { reason, rule: template.to_string(), message }
    }
}

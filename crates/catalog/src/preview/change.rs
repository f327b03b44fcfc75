//! A version that changes together with its dependents: the paths afterwards, and what becomes of pages.

use std::sync::Arc;

use super::dependents::{Dependent, Dependents, Outcome};
use super::effect::{Effect, Group, Lost, Move, MovedPage};
use super::paths::{self, Paths};
use super::{Known, Subject};
use crate::site::Site;
use crate::snapshot::{
    Builder, Listing, NoSnapshot, PathsOnHosts, PublicUrl, Rebuilt, Replacement, Snapshot,
};
use frontend_map_rules::{Document, without_trailing_slash};

/// A version that changes, with its dependents.
pub(super) struct Change<'c, 'w> {
    pub(super) known: &'c Known<'w>,
    pub(super) before: &'c Paths<'w>,
    pub(super) subject: Subject<'c>,
    /// Whether all versions of the document are withdrawn.
    pub(super) all_locales: bool,
    /// The version as it is published.
    pub(super) own: &'c Snapshot,
    pub(super) dependents: Dependents<'w>,
}

impl<'w> Change<'_, 'w> {
    /// The present versions of the document that change.
    fn versions(&self) -> Vec<PublicUrl<'w>> {
        let all = 0..self.known.world.site.rules.locales().as_slice().len();
        let wanted = all.filter(|own| self.all_locales || *own == self.subject.locale);
        wanted.filter_map(|locale| self.known.version(Subject { locale, ..self.subject })).collect()
    }

    /// The paths in question, afterwards.
    pub(super) fn after(&self) -> Result<Paths<'w>, NoSnapshot> {
        let site = self.known.world.site;
        let mut in_question = PathsOnHosts::default();
        for url in self.versions().into_iter().chain(self.own.urls()) {
            paths::add(&mut in_question, site, url.path(), url.host());
        }
        for dependent in &self.dependents.all {
            let url = dependent.url;
            match &dependent.outcome {
                Outcome::Path { path, .. } => {
                    paths::add(&mut in_question, site, url.path(), url.host());
                    in_question.add(path, url.host());
                }
                Outcome::Gone => paths::add(&mut in_question, site, url.path(), url.host()),
                Outcome::Same | Outcome::Unknown => {}
            }
        }
        let mut types = self.known.world.types.clone();
        for (at, (uid, snapshot)) in types.iter_mut().enumerate() {
            let is_own = uid.as_str() == self.subject.uid;
            let changed: Vec<&Dependent<'w>> = self
                .dependents
                .all
                .iter()
                .filter(|one| one.type_at == at && one.changes())
                .collect();
            if !is_own && changed.is_empty() {
                continue;
            }
            let affected = self.affected(snapshot, &in_question, is_own, &changed)?;
            *snapshot = Arc::new(affected);
        }
        Ok(Paths::new(site, types))
    }

    fn affected(
        &self,
        snapshot: &Snapshot,
        in_question: &PathsOnHosts,
        is_own: bool,
        changed: &[&Dependent<'w>],
    ) -> Result<Snapshot, NoSnapshot> {
        let mut ids: Vec<(&str, usize)> =
            changed.iter().map(|one| (one.url.document_id(), one.url.locale())).collect();
        ids.sort_unstable();
        let is_replaced = |id: &str, locale: usize| {
            let is_version = self.all_locales || locale == self.subject.locale;
            (is_own && id == self.subject.document_id && is_version)
                || ids.binary_search(&(id, locale)).is_ok()
        };
        let rebuilt = changed.iter().filter_map(|one| one.rebuilt());
        let rebuilt: Vec<Rebuilt<'_>> = rebuilt.collect();
        let none = Snapshot::default();
        let own = if is_own { self.own } else { &none };
        snapshot.affected(in_question, is_replaced, Replacement { own, rebuilt: &rebuilt })
    }

    /// What happens to pages.
    pub(super) fn effect(&self, after: &Paths<'_>) -> Effect {
        let (before, uid) = (self.before, self.subject.uid);
        let mut gone = Vec::new();
        let mut own_move = None;
        for url in self.versions() {
            if !before.is_there(uid, url) {
                continue;
            }
            let own = self.own.urls().next().filter(|own| own.locale() == url.locale());
            match own.filter(|own| after.is_there(uid, *own)) {
                Some(own) => own_move = self.moved(after, url, own.path()),
                None if after.is_live(url.path(), url.host()) => {}
                None => gone.push(self.lost(url)),
            }
        }
        let mut pages = Vec::new();
        let is_unknown = |one: &Dependent<'_>| matches!(one.outcome, Outcome::Unknown);
        let are_more = self.dependents.are_more || self.dependents.all.iter().any(is_unknown);
        for Dependent { url, outcome, .. } in &self.dependents.all {
            let of_type = before.type_of(*url);
            if !before.is_there(of_type, *url) {
                continue;
            }
            match outcome {
                Outcome::Same | Outcome::Unknown => {}
                Outcome::Path { path, .. }
                    if after.leads_to(path, url.host(), of_type, url.document_id()) =>
                {
                    let moves = self.moved(after, *url, path);
                    let version = self.known.name(*url);
                    pages.extend(moves.map(|moves| MovedPage { version, moves }));
                }
                Outcome::Path { .. } | Outcome::Gone => {
                    if !after.is_live(url.path(), url.host()) {
                        gone.push(self.lost(*url));
                    }
                }
            }
        }
        Effect {
            moves: own_move,
            dependents: Group::of(pages, are_more, |one| {
                (one.moves.from.as_str(), one.version.document_id.as_str())
            }),
            gone: Group::of(gone, are_more, |one| {
                (one.path.as_str(), one.version.document_id.as_str())
            }),
            ..Effect::default()
        }
    }

    fn lost(&self, url: PublicUrl<'_>) -> Lost {
        Lost { version: self.known.name(url), path: url.path().to_owned() }
    }

    /// The move of a page; `None`: its path stays.
    fn moved(&self, after: &Paths<'_>, from: PublicUrl<'_>, to: &str) -> Option<Move> {
        let is_same = from.normalized_path() == without_trailing_slash(to);
        let (path, host) = (from.path(), from.host());
        let redirects = || {
            self.known.world.redirects
                && from.is_owner()
                && after.is_owner(from)
                && !after.is_live(path, host)
                && !self.before.is_shared(path, host)
        };
        (!is_same).then(|| Move {
            from: path.to_owned(),
            to: to.to_owned(),
            redirects: redirects(),
        })
    }
}

impl<'w> Dependent<'w> {
    fn changes(&self) -> bool {
        matches!(self.outcome, Outcome::Path { .. } | Outcome::Gone)
    }

    fn rebuilt(&self) -> Option<Rebuilt<'w>> {
        let Outcome::Path { path, rule, is_own } = &self.outcome else { return None };
        Some(Rebuilt { url: self.url, path: path.clone(), rule: *rule, is_own: *is_own })
    }
}

/// The version alone, as a walk would find it.
pub(super) fn own_snapshot(
    site: &Site,
    subject: Subject<'_>,
    document: Option<&Document<'_>>,
) -> Result<Snapshot, NoSnapshot> {
    let mut part = Listing { rules: &site.rules, hosts: &site.hosts, uid: subject.uid }.part();
    if let Some(document) = document {
        part.add(document);
    }
    Builder { path_table: true }.finish(vec![part])
}

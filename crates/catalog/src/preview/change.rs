//! A version that changes together with its dependents: the paths afterwards, and what becomes of pages.

use std::sync::Arc;

use super::dependents::{Dependent, Dependents, Outcome};
use super::effect::{Group, LostPage, MovedPage, PathMove, PathRedirect, PublishEffect};
use super::paths::{self, Paths};
use super::world::{Known, Subject};
use crate::moved::entries::{Destination, EntryRedirect};
use crate::moved::redirects::SiteHistory;
use crate::site::Site;
use crate::snapshot::{
    Builder, Listing, NoSnapshot, PathsOnHosts, PublicUrl, Rebuilt, Replacement, Snapshot,
};
use frontend_map_rules::{Document, ENCODED_REST, without_trailing_slash};

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
        // A redirect may lead to any page, so that all of them are needed where there is one.
        let has_entry = in_question.any(|path, host| self.before.has_entry(path, host));
        let in_question = (!has_entry).then_some(&in_question);
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
            let affected = self.affected(snapshot, in_question, is_own, &changed)?;
            *snapshot = Arc::new(affected);
        }
        let mut after = self.before.with(types);
        if has_entry && self.takes_paths() {
            let dependents = self.dependents.all.iter().filter(|one| one.changes());
            let all = self.versions().into_iter().chain(dependents.map(|one| one.url));
            for url in all.filter(|url| url.is_owner()) {
                if !after.is_owner(url) {
                    after.left.add(url.path(), url.host());
                } else if !after.has(after.type_of(url), url) {
                    after.moved.push(url);
                }
            }
        }
        Ok(after)
    }

    fn affected(
        &self,
        snapshot: &Snapshot,
        in_question: Option<&PathsOnHosts>,
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
    pub(super) fn effect(&self, after: &Paths<'_>) -> PublishEffect {
        let (before, uid) = (self.before, self.subject.uid);
        let mut gone = Vec::new();
        let mut own_move = None;
        for url in self.versions() {
            if !before.is_there(uid, url) {
                continue;
            }
            let own = self.own.urls().next().filter(|own| own.locale() == url.locale());
            let has_page = |own: &PublicUrl<'_>| {
                after.has_page(own.path(), own.host(), uid, own.document_id())
            };
            match own.filter(has_page) {
                Some(own) => own_move = self.moved(after, url, own.path()),
                None if after.is_found(url.path(), url.host()) => {}
                None => gone.push(self.lost(url)),
            }
        }
        let at = self.own.urls().next().or_else(|| self.known.version(self.subject));
        let redirect = at.and_then(|url| self.redirect_at(after, url));
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
                    if after.has_page(path, url.host(), of_type, url.document_id()) =>
                {
                    let moves = self.moved(after, *url, path);
                    let version = self.known.name(*url);
                    pages.extend(moves.map(|moves| MovedPage { version, moves }));
                }
                Outcome::Path { .. } | Outcome::Gone => {
                    if !after.is_found(url.path(), url.host()) {
                        gone.push(self.lost(*url));
                    }
                }
            }
        }
        PublishEffect {
            redirect,
            moves: own_move,
            dependents: Group::of(pages, are_more, |one| {
                (one.moves.from.as_str(), one.version.document_id.as_str())
            }),
            gone: Group::of(gone, are_more, |one| {
                (one.path.as_str(), one.version.document_id.as_str())
            }),
            ..PublishEffect::default()
        }
    }

    fn lost(&self, url: PublicUrl<'_>) -> LostPage {
        LostPage { version: self.known.name(url), path: url.path().to_owned() }
    }

    /// The move of a page; `None`: its path stays.
    fn moved(&self, after: &Paths<'_>, from: PublicUrl<'_>, to: &str) -> Option<PathMove> {
        let is_same = from.normalized_path() == without_trailing_slash(to);
        let (path, host) = (from.path(), from.host());
        let is_former = || {
            self.takes_paths()
                && from.is_owner()
                && after.is_owner(from)
                && !after.is_live(path, host)
                && !self.before.is_shared(path, host)
        };
        (!is_same).then(|| {
            let deciding = after.deciding_entry(path, host);
            let is_former = deciding.is_none() && is_former();
            let entry = deciding.or_else(|| {
                let rules = self.known.world.site.rules.rules();
                let uid = rules[from.rule()].content_type.as_str();
                is_former.then(|| after.entry_before_page(path, host, uid, from)).flatten()
            });
            PathMove {
                from: path.to_owned(),
                to: to.to_owned(),
                redirects: entry.as_ref().map_or(is_former, |entry| leads_to(entry, from, to)),
                redirect: entry.map(|entry| self.redirect(&entry)),
            }
        })
    }

    /// Whether the paths that documents leave lead to them.
    fn takes_paths(&self) -> bool {
        let takes_paths = |own: SiteHistory<'_>| own.history.takes_paths();
        self.known.world.history.is_some_and(takes_paths)
    }

    /// The redirect of the CMS for a path that a version gets or leaves. One for all paths below another
    /// is named only where it decides.
    fn redirect_at(&self, after: &Paths<'_>, url: PublicUrl<'_>) -> Option<PathRedirect> {
        let (path, host) = (url.path(), url.host());
        let entry = after.entry_at(path, host)?;
        let is_exact = !entry.entry.path().ends_with(ENCODED_REST);
        let is_named = is_exact || after.deciding_entry(path, host).is_some();
        is_named.then(|| self.redirect(&entry))
    }

    fn redirect(&self, entry: &EntryRedirect<'_>) -> PathRedirect {
        let to = match &entry.destination {
            Some(Destination::Url(url)) => Some(url.clone() + &entry.suffix),
            _ => entry.path(),
        };
        PathRedirect { document: self.known.name(entry.entry), to, force: paths::is_forced(entry) }
    }
}

/// Whether a redirect leads to the page that moves.
fn leads_to(entry: &EntryRedirect<'_>, page: PublicUrl<'_>, to: &str) -> bool {
    let Some(Destination::Document(own)) = &entry.destination else { return false };
    own.document_id() == page.document_id()
        && own.host() == page.host()
        && own.normalized_path() == without_trailing_slash(to)
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

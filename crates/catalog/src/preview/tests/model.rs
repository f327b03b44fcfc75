//! What is announced is what happens: random sites and editors, and the world after each action, built
//! by a walk of the documents.
//!
//! `PROPTEST_CASES=10000 cargo test --release -p frontend-map-catalog preview` tries ten thousand.

use std::sync::Arc;

use proptest::prelude::*;

use super::cms::{
    ARTICLE, AUTHOR, CATEGORY, CODES, Cms, Entry, Fields, Key, PAGE, Settings, condition,
};
use super::history;
use crate::changes::difference::{Difference, LocaleNames, Side};
use crate::moved::entries::{RedirectEntries, RedirectWorld};
use crate::moved::history::PathHistory;
use crate::moved::redirects::{FormerOwner, SiteHistory, former_owner};
use crate::path_index::PathIndex;
use crate::preview::paths::Paths;
use crate::preview::{
    DocumentVersion, Draft, LostPage, PathMove, PublishEffect, Related, SitePreview, Subject, Wins,
    World, fields, preview, unknown_related,
};
use crate::resolve::{Found, resolve};
use crate::site::{ResolveBy, Site};
use crate::snapshot::{PublicUrl, Snapshot, Version};
use frontend_map_rules::{
    ContentTypeUid, Document, FieldPath, LocalePrefix, Param, Pathname, Rule, Source, Template,
    TrailingSlash, without_trailing_slash,
};

const SLUGS: [Option<&str>; 16] = [
    Some("a"),
    Some("a"),
    Some("b"),
    Some("b"),
    Some("c"),
    Some("c"),
    Some("d"),
    Some("e"),
    Some("f"),
    Some("g"),
    Some("news"),
    Some("é ü"),
    Some("100%"),
    Some("x/y"),
    Some(""),
    None,
];
const PATHS: [Option<&str>; 8] =
    [None, None, None, None, None, Some("a"), Some("a/b"), Some("/x//y")];

/// Where redirects of the CMS begin, and where they lead.
const FROM: [&str; 12] = [
    "/en/a",
    "/en/a",
    "/en/b",
    "/en/a/b",
    "/en/a/a",
    "/en/b/a",
    "/en/c/a",
    "/a",
    "/authors/a",
    "/en/p/a",
    "/en/*",
    "/en/a/*",
];
const TO: [&str; 12] = [
    "@a0",
    "@a1",
    "@c0",
    "@p0",
    "410",
    "/en/a",
    "/en/b",
    "/en/a/b",
    "/en/b/*",
    "/elsewhere",
    "https://other.example/x",
    "@none",
];

type Types = Vec<(ContentTypeUid, Arc<Snapshot>)>;

fn template(text: &str) -> Template {
    Template::parse(text).unwrap()
}

fn rule(uid: &str, text: &str) -> Rule {
    Rule::new(ContentTypeUid::parse(uid).unwrap(), template(text))
}

/// The rules of a type, by the numbers of its variants.
fn rules_of(uid: &'static str, variant: usize, second: usize) -> Vec<Rule> {
    let texts: &[&str] = match uid {
        CATEGORY => {
            &["", "/{locale}/{slug}", "/{locale}/c/{slug}", "/{locale}/c/{slug}", "/{slug}"]
        }
        ARTICLE => &[
            "/{locale}/{category.slug}/{slug}",
            "/{locale}/news/{category.slug?}/{slug?}",
            "/{category.slug}-x/{slug}.html",
            "/{locale}/{slug}",
            "/{locale}/{category.slug}/{documentId}",
        ],
        AUTHOR => &["/{slug}", "/authors/{slug}", "/{locale}/{slug}", "/{locale}/a/{slug}", ""],
        _ => &["/{locale}/{*path}", "/{*path}", "/{locale}/p/{*path}", "/{locale}/{slug}", ""],
    };
    let mut rules = Vec::new();
    if !texts[variant].is_empty() {
        rules.push(rule(uid, texts[variant]));
    }
    if !rules.is_empty() && second > 0 && uid == ARTICLE {
        let other = ["/{locale}/other/{slug}", "/{locale}/{category.slug}", "/{locale}/a/{slug}"];
        rules.push(rule(uid, other[second % 3]));
        if second > 3 {
            rules[0].conditions = vec![condition("kind", "k")];
        }
        if second > 5 {
            rules[0].conditions = vec![condition("category.kind", "k")];
        }
    }
    if uid == CATEGORY && variant == 3 {
        rules[0].conditions = vec![condition("kind", "k")];
    }
    if uid == PAGE {
        let [slug, parent] = ["slug", "parent"].map(|name| FieldPath::parse(name).unwrap());
        let source = Some(Source::ancestors(&slug, &parent, 2));
        for rule in &mut rules {
            _ = rule.set_param("path", &Param { source: source.clone(), constraint: None });
        }
    }
    for rule in &mut rules {
        rule.sitemap.exclude_when = vec![frontend_map_rules::Condition {
            field: FieldPath::parse("hidden").unwrap(),
            equals: frontend_map_rules::Literal::Boolean(true),
        }];
    }
    rules
}

fn entry() -> impl Strategy<Value = Entry> {
    let from = prop::sample::select(&FROM[..]);
    let to = prop::sample::select(&TO[..]);
    let locale = prop::sample::select(&[None, Some(0), Some(1)][..]);
    (from, to, prop::bool::weighted(0.3), locale).prop_map(|(from, to, force, locale)| Entry {
        from,
        to,
        force,
        locale,
    })
}

fn settings() -> impl Strategy<Value = Settings> {
    let redirects = prop_oneof![Just(Vec::new()), prop::collection::vec(entry(), 1..8)];
    let variants = prop::collection::vec(0..5_usize, 4);
    let order = Just(vec![CATEGORY, ARTICLE, PAGE, AUTHOR]).prop_shuffle();
    let page = prop::sample::select(&[None, None, Some("/en/a"), Some("/en/news/b")][..]);
    let options =
        (prop::bool::weighted(0.7), prop::bool::weighted(0.3), any::<bool>(), any::<bool>());
    (variants, order, 0..8_usize, options, prop::bool::weighted(0.4), page, redirects).prop_map(
        |(variants, order, second, (by_documents, hosts, slash, prefix), own, page, redirects)| {
            let of = |uid: &&'static str| {
                let at = [CATEGORY, ARTICLE, PAGE, AUTHOR].iter().position(|own| own == uid);
                rules_of(uid, variants[at.unwrap()], second)
            };
            let mut rules: Vec<Rule> = order.iter().flat_map(of).collect();
            for rule in &mut rules {
                rule.path_field = (own && by_documents).then(|| FieldPath::parse("path").unwrap());
            }
            Settings {
                rules,
                resolve: if by_documents { ResolveBy::Documents } else { ResolveBy::Rules },
                hosts,
                prefix: if prefix { LocalePrefix::Always } else { LocalePrefix::ExceptDefault },
                slash: if slash { TrailingSlash::Always } else { TrailingSlash::Never },
                page,
                // Other sites have none.
                redirects: if by_documents { redirects } else { Vec::new() },
            }
        },
    )
}

fn some_fields() -> impl Strategy<Value = Fields> {
    let slug = prop::sample::select(&SLUGS[..]);
    let path = prop::sample::select(&PATHS[..]);
    let kind = prop::sample::select(&["k", "k", "l"][..]);
    let relation =
        prop::sample::select(&[None, Some("d0"), Some("d0"), Some("d1"), Some("d2")][..]);
    (slug, path, kind, prop::bool::weighted(0.2), relation).prop_map(
        |(slug, path, kind, hidden, relation)| Fields { slug, path, kind, hidden, relation },
    )
}

/// A step of the editors before the action: a draft is written, and published or withdrawn.
#[derive(Clone, Debug)]
struct Edit {
    key: (usize, usize, usize),
    fields: Fields,
    then: u8,
}

fn edit() -> impl Strategy<Value = Edit> {
    let uid = prop::sample::select(&[0, 0, 1, 1, 1, 1, 2, 2, 2, 3_usize][..]);
    let id = prop::sample::select(&[0, 0, 1, 1, 2, 3_usize][..]);
    ((uid, id, 0..2_usize), some_fields(), 0..10_u8).prop_map(|(key, fields, then)| Edit {
        key,
        fields,
        then,
    })
}

fn key(cms: &Cms, (uid, id, locale): (usize, usize, usize)) -> Key {
    let uid = [CATEGORY, ARTICLE, PAGE, AUTHOR][uid];
    let id = ["d0", "d1", "d2", "d3"][id];
    (uid, id, cms.is_localized(uid).then_some(locale))
}

/// The ids of documents are theirs alone in a CMS.
fn id_of(uid: &str, id: &str) -> &'static str {
    let all = [
        [CATEGORY, "c0", "c1", "c2", "c3"],
        [ARTICLE, "a0", "a1", "a2", "a3"],
        [PAGE, "p0", "p1", "p2", "p3"],
        [AUTHOR, "u0", "u1", "u2", "u3"],
    ];
    let own = all.iter().find(|own| own[0] == uid).unwrap();
    own[1 + id[1..].parse::<usize>().unwrap()]
}

fn apply(cms: &mut Cms, edit: &Edit) -> Key {
    let (uid, id, locale) = key(cms, edit.key);
    let own = (uid, id_of(uid, id), locale);
    let target = if uid == PAGE { PAGE } else { CATEGORY };
    let mut fields = edit.fields.clone();
    fields.relation = fields.relation.map(|id| id_of(target, id));
    cms.draft(own, fields);
    match edit.then {
        0..7 => cms.publish(own),
        7 => cms.unpublish(own),
        8 => cms.delete(own.0, own.1),
        _ => {}
    }
    own
}

fn names(types: &Types) -> Vec<(&ContentTypeUid, Arc<Snapshot>)> {
    types.iter().map(|(uid, snapshot)| (uid, Arc::clone(snapshot))).collect()
}

/// The world before and after an action.
struct Outcome<'s> {
    site: &'s Site,
    before: Types,
    after: Types,
    redirects: bool,
    entries: Types,
}

/// Where visitors of a path are sent.
#[derive(Debug, PartialEq, Eq)]
struct Sent {
    /// The redirect of the CMS; `None`: a former path.
    entry: Option<String>,
    /// The path of the target; `None`: the page is gone.
    to: Option<String>,
}

impl Outcome<'_> {
    fn type_of(&self, url: PublicUrl<'_>) -> &str {
        self.site.rules.rules()[url.rule()].content_type.as_str()
    }

    fn paths<'p>(&'p self, types: &'p Types) -> Paths<'p> {
        let (types, redirects) = (names(types), names(&self.entries));
        let history = self.redirects.then(history);
        Paths::of(&World {
            site: self.site,
            types,
            redirects,
            history,
            links: None,
            draft_dependents: Vec::new(),
        })
    }

    /// Where visitors of a path are sent before the action.
    fn sent_before(&self, path: &str, host: usize) -> Option<Sent> {
        self.sent(&self.before, &PathHistory::default(), path, host)
    }

    /// Where visitors of a path are sent afterwards.
    fn sent_after(&self, path: &str, host: usize) -> Option<Sent> {
        let history = PathHistory::default();
        let id = history.site(1, "main").unwrap();
        let locales = LocaleNames::of(self.site.rules.locales(), &self.site.hosts);
        for ((uid, before), (_, after)) in self.before.iter().zip(&self.after) {
            let side = Side { snapshot: after, locales: &locales };
            let difference = Difference::of_edits(before, side);
            history.enter(id, uid.as_str(), &difference, difference.all(), 1);
        }
        self.sent(&self.after, &history, path, host)
    }

    fn sent(&self, types: &Types, history: &PathHistory, path: &str, host: usize) -> Option<Sent> {
        let site = self.site;
        if site.resolve == ResolveBy::Rules {
            return None;
        }
        let index_of = |site: &Site, types: &Types| {
            let own = types.iter().map(|(uid, own)| (uid, Arc::clone(own)));
            PathIndex::of_fresh(&site.rules, own)
        };
        let index = index_of(site, types);
        let entries = index_of(site.redirects.as_deref().unwrap_or(site), &self.entries);
        let on = site.hosts.are_several().then_some(host);
        let id = history.site(1, "main").unwrap();
        let history = self.redirects.then_some(SiteHistory { history, id, now: 1 });
        let pathname = Pathname::parse(path);
        let entries = RedirectEntries { index: &entries };
        let world = RedirectWorld { site, index: &index, entries, history, status: 308 };
        let former = || match (world.former_owner(&pathname, on), history) {
            (FormerOwner::None, Some(history)) => {
                match former_owner(history, site, &index, &pathname, on) {
                    FormerOwner::Moved(moved) => world.of_former_path(moved, &pathname, on),
                    former => former,
                }
            }
            (entry, _) => entry,
        };
        let forced = world.forced(&pathname, on);
        let found = resolve(site, &index, &pathname, on, forced, former).found;
        let (Found::Rule { former, .. } | Found::NoRule(former)) = found else { return None };
        match former {
            FormerOwner::Moved(redirect) => {
                Some(Sent { entry: None, to: Some(redirect.to.path().to_owned()) })
            }
            FormerOwner::Entry(redirect) => Some(Sent {
                entry: Some(redirect.entry.document_id().to_owned()),
                to: redirect.destination.map(|own| own.path().to_owned()),
            }),
            _ => None,
        }
    }

    /// Whether a redirect of the CMS decides what visitors of a path find, and whether it leads anywhere.
    fn entry_before(&self, url: PublicUrl<'_>) -> bool {
        let sent = self.sent_before(url.path(), url.host());
        sent.is_some_and(|sent| sent.entry.is_some())
    }

    /// Whether visitors of a path find a page, or are redirected by the CMS.
    fn is_found(&self, after: &Paths<'_>, path: &str, host: usize) -> bool {
        let on = self.site.hosts.are_several().then_some(host);
        match self.sent_after(path, host) {
            Some(Sent { entry: Some(_), to }) => to.is_some(),
            _ => after.page_at(path, host).is_some() || self.site.pages.find(path, on).is_some(),
        }
    }

    /// Of documents of two content types that leave one path, it follows one of them.
    fn check_redirect(&self, moves: &PathMove, host: usize) -> Result<(), TestCaseError> {
        let Sent { entry, to } =
            self.sent_after(&moves.from, host).unwrap_or(Sent { entry: None, to: None });
        if moves.redirects {
            prop_assert_eq!(to.as_ref(), Some(&moves.to));
        } else {
            let is_shared = self.paths(&self.before).is_shared(&moves.from, host);
            prop_assert!(to.as_ref() != Some(&moves.to) || is_shared, "{:?}", moves);
        }
        let named = moves.redirect.as_ref().map(|own| own.document.document_id.clone());
        prop_assert_eq!(named, entry, "{:?}", moves);
        Ok(())
    }

    /// Compares the redirect of the CMS that is announced with the one that visitors get.
    fn check_entry(
        &self,
        effect: &PublishEffect,
        path: &str,
        host: usize,
    ) -> Result<(), TestCaseError> {
        let named = effect.redirect.as_ref();
        let id = named.map(|own| own.document.document_id.clone());
        match self.sent_after(path, host) {
            Some(Sent { entry: Some(entry), to }) => {
                prop_assert_eq!(id, Some(entry), "{:?}", effect);
                let is_gone = named.is_some_and(|own| own.to.is_none());
                prop_assert_eq!(is_gone, to.is_none(), "{:?}", effect);
            }
            _ => prop_assert!(named.is_none_or(|own| !own.force), "{:?}", effect),
        }
        Ok(())
    }

    /// Compares an announcement with what has happened.
    fn check(
        &self,
        subject: Subject<'_>,
        all: bool,
        effect: &PublishEffect,
    ) -> Result<(), TestCaseError> {
        let (before, after) = (self.paths(&self.before), self.paths(&self.after));
        let (mut moved, mut gone, mut own_move) = (Vec::new(), Vec::new(), None);
        for (at, (uid, snapshot)) in self.before.iter().enumerate() {
            let has_page = |paths: &Paths<'_>, url: PublicUrl<'_>| {
                paths.has_page(url.path(), url.host(), uid.as_str(), url.document_id())
            };
            for url in snapshot.urls().filter(|url| has_page(&before, *url)) {
                if self.entry_before(url) {
                    continue;
                }
                let later = match self.after[at].1.version(url.document_id(), url.locale()) {
                    Version::Url(later) if later.locale() == url.locale() => Some(later),
                    _ => None,
                };
                let id = (uid.as_str(), url.document_id(), url.locale());
                let is_own = uid.as_str() == subject.uid
                    && url.document_id() == subject.document_id
                    && (all || url.locale() == subject.locale);
                match later.filter(|later| has_page(&after, *later)) {
                    Some(later) if later.normalized_path() == url.normalized_path() => {}
                    Some(later) => {
                        let to = later.path().to_owned();
                        let row = (url.path().to_owned(), id, to, url.host());
                        if is_own { own_move = Some(row) } else { moved.push(row) }
                    }
                    None if self.is_found(&after, url.path(), url.host()) => {}
                    None => gone.push((url.path().to_owned(), id)),
                }
            }
        }
        let more = effect.dependents.more;
        prop_assert_eq!(more, effect.gone.more);
        if more {
            // A page whose path is not known may take one, or leave it.
            return self.check_rows(effect);
        }
        let version = |types: &Types| {
            let own = types.iter().find(|(uid, _)| uid.as_str() == subject.uid)?;
            match own.1.version(subject.document_id, subject.locale) {
                Version::Url(url) if url.locale() == subject.locale => {
                    Some((url.path().to_owned(), url.host()))
                }
                _ => None,
            }
        };
        if let Some((path, host)) = version(&self.after).or_else(|| version(&self.before)) {
            self.check_entry(effect, &path, host)?;
        }
        let announced = effect.moves.clone().map(|own| (own.from, own.to));
        let own_move = own_move.map(|(from, _, to, host)| ((from, to), host));
        prop_assert_eq!(&announced, &own_move.clone().map(|own| own.0), "{:?}", effect);
        if let (Some(moves), Some((_, host))) = (&effect.moves, own_move) {
            self.check_redirect(moves, host)?;
        }
        prop_assert_eq!(effect.dependents.count, moved.len(), "{:?} {:?}", moved, effect);
        prop_assert_eq!(effect.gone.count, gone.len(), "{:?} {:?}", gone, effect);
        for row in &effect.dependents.first {
            let at = CODES.iter().position(|code| *code == row.version.locale).unwrap();
            let id = (row.version.content_type.as_str(), row.version.document_id.as_str(), at);
            let is_it = |own: &&(String, _, String, usize)| {
                (&own.0, own.1, &own.2) == (&row.moves.from, id, &row.moves.to)
            };
            let Some((.., host)) = moved.iter().find(is_it) else {
                return Err(TestCaseError::fail(format!("{row:?} is not in {moved:?}")));
            };
            self.check_redirect(&row.moves, *host)?;
        }
        for row in &effect.gone.first {
            let at = CODES.iter().position(|code| *code == row.version.locale).unwrap();
            let id = (row.version.content_type.as_str(), row.version.document_id.as_str(), at);
            prop_assert!(gone.contains(&(row.path.clone(), id)), "{:?} is not in {:?}", row, gone);
        }
        Ok(())
    }

    /// Each page that is announced has the new path, or does not have the old one any more.
    fn check_rows(&self, effect: &PublishEffect) -> Result<(), TestCaseError> {
        let path = |DocumentVersion { content_type, document_id, locale, .. }: &DocumentVersion| {
            let locale = CODES.iter().position(|code| code == locale).unwrap();
            let own = self.after.iter().find(|(uid, _)| uid.as_str() == content_type);
            match own.unwrap().1.version(document_id, locale) {
                Version::Url(url) if url.locale() == locale => Some((url.path(), url.host())),
                _ => None,
            }
        };
        for row in &effect.dependents.first {
            prop_assert_eq!(path(&row.version).map(|own| own.0), Some(&*row.moves.to));
        }
        let after = self.paths(&self.after);
        for LostPage { version, path: lost } in &effect.gone.first {
            if let Some((path, host)) = path(version).filter(|(path, _)| path == lost) {
                let (uid, id) = (&version.content_type, &version.document_id);
                prop_assert!(!after.has_page(path, host, uid, id), "{:?}", version);
            }
        }
        Ok(())
    }

    /// Compares the path and the conflict of a published draft with what has happened.
    fn check_path(
        &self,
        subject: Subject<'_>,
        effect: &PublishEffect,
    ) -> Result<(), TestCaseError> {
        let (before, after) = (self.paths(&self.before), self.paths(&self.after));
        let Some(snapshot) = after.snapshot(subject.uid) else {
            prop_assert_eq!((&effect.path, &effect.no_path), (&None, &None));
            return Ok(());
        };
        let url = match snapshot.version(subject.document_id, subject.locale) {
            Version::Url(url) => url,
            Version::NoUrl(row) => {
                prop_assert_eq!(&effect.path, &None);
                let no_path = effect.no_path.as_ref().map(|no_path| no_path.reason.as_str());
                prop_assert_eq!(no_path, Some(row.reason));
                let is_page = row.reason == "path_taken_by_page";
                let page = effect.conflict.as_ref().and_then(|own| own.page.as_deref());
                prop_assert_eq!(page, is_page.then_some("contact"));
                return Ok(());
            }
            Version::None => {
                let no_path = effect.no_path.as_ref().map(|no_path| no_path.reason.as_str());
                prop_assert_eq!((&effect.path, no_path), (&None, Some("conditions_not_met")));
                return Ok(());
            }
        };
        prop_assert_eq!(effect.path.as_deref(), Some(url.path()));
        if effect.dependents.more {
            // Another document may move to the path, or away from it.
            return Ok(());
        }
        let page = after.page_at(url.path(), url.host());
        let is_it = page.is_some_and(|page| {
            page.document_id() == subject.document_id && self.type_of(page) == subject.uid
        });
        let name =
            |url: PublicUrl<'_>| (self.type_of(url).to_owned(), url.document_id().to_owned());
        let named = effect.conflict.as_ref().and_then(|own| own.document.as_ref());
        let named = named.map(|own| (own.content_type.clone(), own.document_id.clone()));
        match effect.conflict.as_ref().map(|conflict| conflict.wins) {
            None => prop_assert!(is_it, "{} is that of {:?}", url.path(), page.map(name)),
            Some(Wins::Unknown) => {}
            Some(Wins::Other) => {
                prop_assert!(!is_it);
                prop_assert_eq!(named, page.map(name));
            }
            Some(Wins::This) => {
                prop_assert!(is_it);
                let loser = before.page_at(url.path(), url.host());
                prop_assert_eq!(named, loser.map(name));
            }
        }
        let path = without_trailing_slash(url.path());
        let is_conflict = |own: &str| without_trailing_slash(own) == path;
        prop_assert!(effect.conflict.as_ref().is_none_or(|own| is_conflict(&own.path)));
        Ok(())
    }
}

/// The announcement for a draft. Related documents are read where the snapshots say too little.
fn announced(cms: &Cms, world: &World<'_>, key: Key) -> Option<(SitePreview, Document<'static>)> {
    let wanted = fields(world, key.0, key.1);
    let draft = cms.read_draft(key, wanted.into_iter().collect());
    let subject = Subject::of(world.site, key.0, &draft)?;
    let unknown = unknown_related(world, subject, &draft);
    let read = |relation: &FieldPath, id: &str| {
        let fields: Vec<FieldPath> =
            draft.fields.iter().filter_map(|field| field.behind(relation)).collect();
        let target = if key.0 == PAGE { PAGE } else { CATEGORY };
        let locale = cms.is_localized(target).then_some(key.2.unwrap_or(0));
        let id =
            ["c0", "c1", "c2", "c3", "p0", "p1", "p2", "p3"].into_iter().find(|own| *own == id);
        cms.read_published((target, id?, locale), fields)
    };
    let documents: Vec<Option<Document<'static>>> =
        unknown.iter().map(|(relation, id)| read(relation, id)).collect();
    let related: Vec<Related<'_>> = unknown
        .iter()
        .zip(&documents)
        .map(|((relation, _), document)| Related { relation, document: document.as_ref() })
        .collect();
    let published_at = "2026-01-02T00:00:00.000Z";
    let own = Draft { document: &draft, published_at, related: &related };
    let preview = preview(world, subject, &own).unwrap();
    Some((preview, draft))
}

/// An announcement, whether it is about all locales, and what happens.
type Action<'p> = (&'p PublishEffect, bool, fn(&mut Cms, Key));

fn check(
    settings: &Settings,
    plain_categories: bool,
    redirects: bool,
    edits: &[Edit],
    last: &Edit,
) -> Result<(), TestCaseError> {
    let site = settings.site();
    // Other sites have no path history.
    let redirects = redirects && site.resolve == ResolveBy::Documents;
    let mut cms = Cms { plain_categories, ..Cms::default() };
    let mut types = cms.snapshots(&site);
    // In two steps, so that some documents have owned their paths before others came.
    for part in edits.chunks(edits.len().div_ceil(2).max(1)) {
        for edit in part {
            apply(&mut cms, edit);
        }
        types = cms.updated(&site, &types);
    }
    let key = apply(&mut cms, &Edit { then: 9, ..last.clone() });
    let entries = settings.redirects(&site);
    let (of_types, of_redirects) = (names(&types), names(&entries));
    let history = redirects.then(history);
    let world = World {
        site: &site,
        types: of_types,
        redirects: of_redirects,
        history,
        links: None,
        draft_dependents: Vec::new(),
    };
    let Some((preview, draft)) = announced(&cms, &world, key) else { return Ok(()) };
    let subject = Subject::of(&site, key.0, &draft).unwrap();
    let actions: [Action<'_>; 3] = [
        (&preview.publish, false, |cms, key| cms.publish(key)),
        (&preview.unpublish, false, |cms, key| cms.unpublish(key)),
        (&preview.delete, true, |cms, key| cms.delete(key.0, key.1)),
    ];
    for (effect, all, act) in actions {
        let mut later = cms.clone();
        act(&mut later, key);
        let after = later.updated(&site, &types);
        let (before, entries) = (types.clone(), entries.clone());
        let outcome = Outcome { site: &site, before, after, redirects, entries };
        outcome.check(subject, all, effect)?;
        if std::ptr::eq(effect, &raw const preview.publish) {
            outcome.check_path(subject, effect)?;
        }
    }
    Ok(())
}

proptest! {
    #[test]
    fn announced_is_what_happens(
        settings in settings(),
        plain_categories in prop::bool::weighted(0.3),
        redirects in prop::bool::weighted(0.8),
        edits in prop::collection::vec(edit(), 4..40),
        last in edit(),
        is_read in prop::bool::weighted(0.6),
    ) {
        let mut last = last;
        if is_read {
            // The first category or page, which others often read.
            last.key = (if last.key.0 % 2 == 0 { 2 } else { 0 }, 0, last.key.2);
        }
        check(&settings, plain_categories, redirects, &edits, &last)?;
    }
}

//! A random world: what the CMS has, what the service has read of it, and by which rules.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use frontend_map_catalog::changes::difference::{Difference, Side};
use frontend_map_catalog::moved::history::PathHistory;
use frontend_map_catalog::path_index::{PathIndex, TypePaths};
use frontend_map_catalog::site::Site;
use frontend_map_catalog::snapshot::{Builder, Claims, Patch, Patched, PreviousOwners, Snapshot};
use frontend_map_rules::{ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue};

use super::naive::FormerVersion;
use super::settings::{KEY, SOURCE, Settings, UIDS};

const DOCUMENTS: u8 = 5;
const SLUGS: u8 = 6;

/// A version of a document that owns a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Version {
    pub(super) id: String,
    pub(super) locale: String,
    pub(super) is_localized: bool,
}

/// The slugs of published versions by document and locale; the locale `""` is none.
pub(super) type Content = BTreeMap<(String, String), String>;

/// Published paths by version, built without the code under test.
#[derive(Clone, Debug, Default)]
pub(super) struct Paths {
    pub(super) paths: BTreeMap<Version, String>,
}

/// What a snapshot was built from and by.
#[derive(Clone)]
struct Copy {
    settings: Arc<Settings>,
    content: Content,
    snapshot: Arc<Snapshot>,
    paths: Paths,
}

/// A snapshot that takes the place of another one.
pub(super) struct Publication {
    pub(super) uid: String,
    pub(super) before: Paths,
    pub(super) after: Paths,
    old: Copy,
    new: Arc<Snapshot>,
    settings: Arc<Settings>,
    /// The documents that were read again; `None`: all.
    read: Option<Vec<String>>,
}

/// What a step has done.
pub(super) struct Step {
    pub(super) is_restart: bool,
}

pub(super) struct World {
    random: fastrand::Rng,
    /// For each type.
    cms: [Content; 2],
    /// The documents that have changed since they were read last.
    changed: [BTreeSet<String>; 2],
    settings: Arc<Settings>,
    copies: [Option<Copy>; 2],
    /// The last copies by other settings.
    predecessors: [Option<Copy>; 2],
    publications: Vec<Publication>,
}

impl World {
    pub(super) fn new(seed: u64) -> Self {
        let mut random = fastrand::Rng::with_seed(seed);
        let settings = Arc::new(Settings::random(&mut random));
        Self {
            random,
            cms: Default::default(),
            changed: Default::default(),
            settings,
            copies: [None, None],
            predecessors: [None, None],
            publications: Vec::new(),
        }
    }

    pub(super) fn step(&mut self) -> Step {
        let at = usize::from(self.random.u8(..2));
        let mut is_restart = false;
        match self.random.u8(..100) {
            0..40 => self.edit(at),
            40..50 => self.swap(at),
            50..75 => self.update(at),
            75..92 => self.walk(at),
            // A walk that fails changes nothing.
            92..95 => {}
            95..98 => self.change_settings(),
            _ => {
                is_restart = true;
                self.replace_settings(Arc::clone(&self.settings));
            }
        }
        Step { is_restart }
    }

    /// The publications of the last step.
    pub(super) fn publications(&mut self) -> Vec<Publication> {
        std::mem::take(&mut self.publications)
    }

    fn edit(&mut self, at: usize) {
        let random = &mut self.random;
        let id = format!("d{}", random.u8(..DOCUMENTS));
        // Documents with an odd number are not localized.
        let locale =
            if id.ends_with(['1', '3']) { "" } else { ["en", "de"][usize::from(random.bool())] };
        let key = (id.clone(), locale.to_owned());
        if random.u8(..4) == 0 {
            self.cms[at].remove(&key);
        } else {
            // Some slugs are, as a rule, those of documents that are not localized.
            let name = if key.1.is_empty() && random.bool() { "n" } else { "s" };
            self.cms[at].insert(key, format!("{name}{}", random.u8(..SLUGS)));
        }
        self.changed[at].insert(id);
    }

    fn swap(&mut self, at: usize) {
        let content = &mut self.cms[at];
        let keys: Vec<_> = content.keys().cloned().collect();
        if keys.len() < 2 {
            return;
        }
        let [one, other] = [(); 2].map(|()| keys[self.random.usize(..keys.len())].clone());
        let (first, second) = (content[&one].clone(), content[&other].clone());
        self.changed[at].extend([one.0.clone(), other.0.clone()]);
        content.insert(one, second);
        content.insert(other, first);
    }

    /// Some of the changed documents are read again.
    fn update(&mut self, at: usize) {
        let Some(old) = self.copies[at].clone() else { return };
        let changed = std::mem::take(&mut self.changed[at]);
        let (read, left): (Vec<String>, Vec<String>) =
            changed.into_iter().partition(|_| self.random.u8(..4) > 0);
        self.changed[at] = left.into_iter().collect();
        let mut content = old.content.clone();
        content.retain(|(id, _), _| !read.contains(id));
        let own = self.cms[at].iter().filter(|((id, _), _)| read.contains(id));
        content.extend(own.map(|(key, slug)| (key.clone(), slug.clone())));
        let patch = |id: &String| Patch {
            id: id.clone(),
            versions: documents(content.iter().filter(|((own, _), _)| own == id)).collect(),
            is_partial: false,
        };
        let patches: Vec<Patch> = read.iter().map(patch).collect();
        let listing = self.settings.listing(at);
        match old.snapshot.patched(&patches, listing, Builder { path_table: true }) {
            Patched::Unchanged => {}
            Patched::Changed(snapshot) => self.publish(at, content, *snapshot, Some(read)),
            Patched::NeedsWalk => panic!("there is little text"),
        }
    }

    fn walk(&mut self, at: usize) {
        if self.settings.templates[at].is_none() {
            return;
        }
        self.changed[at].clear();
        let content = self.cms[at].clone();
        let mut part = self.settings.listing(at).part();
        documents(content.iter()).for_each(|document| part.add(&document));
        let snapshot = Builder { path_table: true }.finish(vec![part]).unwrap();
        let before = self.last(at).map(|last| PreviousOwners {
            snapshot: &last.snapshot,
            locales: Some(self.settings.names.same_in(&last.settings.names)),
        });
        let claims = Claims { before: before.into_iter().collect(), ..Claims::default() };
        let snapshot = snapshot.with_claims(&claims, Builder { path_table: true });
        self.publish(at, content, snapshot, None);
    }

    /// The last copy, by these settings or else by those before them.
    fn last(&self, at: usize) -> Option<&Copy> {
        self.copies[at].as_ref().or(self.predecessors[at].as_ref())
    }

    fn publish(
        &mut self,
        at: usize,
        content: Content,
        snapshot: Snapshot,
        read: Option<Vec<String>>,
    ) {
        let settings = Arc::clone(&self.settings);
        let owned = self.last(at).map(|last| &last.paths);
        let (paths, snapshot) = (settings.paths(at, &content, owned), Arc::new(snapshot));
        let new = Copy { settings, content, snapshot, paths };
        let before = [(self.predecessors[at].take(), None), (self.copies[at].take(), read)];
        for (old, read) in before {
            self.publications.extend(old.map(|old| Publication::new(at, old, &new, read)));
        }
        self.copies[at] = Some(new);
    }

    fn change_settings(&mut self) {
        let settings = Arc::new(Settings::random(&mut self.random));
        self.replace_settings(settings);
    }

    /// Nothing is known by the new settings, and what was known by the old ones is compared later.
    fn replace_settings(&mut self, settings: Arc<Settings>) {
        self.settings = settings;
        for at in 0..UIDS.len() {
            let last = self.copies[at].take().or(self.predecessors[at].take());
            if self.settings.templates[at].is_some() {
                self.predecessors[at] = last;
            } else if let Some(old) = last {
                let snapshot = Arc::default();
                let (content, paths) = (Content::new(), Paths::default());
                let nothing =
                    Copy { settings: Arc::clone(&self.settings), content, snapshot, paths };
                self.publications.push(Publication::new(at, old, &nothing, None));
            }
        }
    }

    pub(super) fn site(&self) -> &Site {
        &self.settings.site
    }

    pub(super) fn index(&self) -> PathIndex {
        let uids = UIDS.map(|uid| ContentTypeUid::parse(uid).unwrap());
        let paths = |at: usize| match &self.copies[at] {
            Some(copy) => TypePaths::Fresh(Arc::clone(&copy.snapshot)),
            None => TypePaths::Missing,
        };
        let own = (0..UIDS.len()).filter(|at| self.settings.templates[*at].is_some());
        PathIndex::new(&self.settings.site.rules, own.map(|at| (&uids[at], paths(at))))
    }

    /// All paths that are published as far as the service knows.
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let copies = self.copies.iter().flatten();
        copies.flat_map(|copy| copy.paths.paths.values().map(String::as_str))
    }

    /// The path with the first locale in place of another one at its beginning.
    pub(super) fn in_default_locale(&self, path: &str) -> Option<String> {
        let (first, rest) = path.strip_prefix('/')?.split_once('/')?;
        let [default, others @ ..] = &*self.settings.locales else { return None };
        others.contains(&first).then(|| format!("/{default}/{rest}"))
    }

    /// Paths that documents which are not localized would have in each locale.
    pub(super) fn of_all_locales() -> impl Iterator<Item = String> {
        let slugs = (0..SLUGS).map(|n| format!("n{n}"));
        slugs.flat_map(|slug| ["en", "de"].map(|locale| format!("/{locale}/{slug}")))
    }

    pub(super) fn is_known(&self, uid: &str) -> bool {
        self.copy(uid).is_some()
    }

    /// The path at which a version is published now.
    pub(super) fn published(&self, version: &FormerVersion) -> Option<&str> {
        let paths = &self.copy(&version.uid)?.paths.paths;
        let own = |is_it: &dyn Fn(&Version) -> bool| {
            paths.iter().find(|(own, _)| own.id == version.id && is_it(own))
        };
        let found =
            own(&|own| own.locale == version.locale).or_else(|| own(&|own| !own.is_localized));
        found.map(|(_, path)| path.as_str())
    }

    fn copy(&self, uid: &str) -> Option<&Copy> {
        let at = UIDS.iter().position(|own| *own == uid).expect("one of the types");
        self.copies[at].as_ref()
    }
}

impl Publication {
    fn new(at: usize, old: Copy, new: &Copy, read: Option<Vec<String>>) -> Self {
        Self {
            uid: UIDS[at].to_owned(),
            before: old.paths.clone(),
            after: new.paths.clone(),
            new: Arc::clone(&new.snapshot),
            settings: Arc::clone(&new.settings),
            old,
            read,
        }
    }

    /// Enters it into the history under test.
    pub(super) fn enter(&self, history: &PathHistory, now: i64) {
        let site = history.site(SOURCE, KEY).expect("few sites");
        let after = Side { snapshot: &self.new, locales: &self.settings.names };
        let is_same = Arc::ptr_eq(&self.old.settings, &self.settings);
        let before = Side { snapshot: &self.old.snapshot, locales: &self.old.settings.names };
        let difference = if is_same {
            Difference::of_edits(&self.old.snapshot, after)
        } else {
            Difference::of_rules(before, after)
        };
        match &self.read {
            None => history.enter(site, &self.uid, &difference, difference.all(), now),
            Some(read) => {
                let ids: Vec<&str> = read.iter().map(String::as_str).collect();
                history.enter(site, &self.uid, &difference, difference.of_documents(&ids), now);
            }
        }
    }
}

fn documents<'c>(
    content: impl Iterator<Item = (&'c (String, String), &'c String)>,
) -> impl Iterator<Item = Document<'static>> {
    let fields: Arc<[FieldPath]> = FieldPath::parse("slug").into_iter().collect();
    content.map(move |((id, locale), slug)| Document {
        id: id.clone().into(),
        locale: match locale.as_str() {
            "" => DocumentLocale::None,
            locale => DocumentLocale::Named(locale.to_owned().into()),
        },
        unpublished: false,
        fields: Arc::clone(&fields),
        values: vec![FieldValue::Text(slug.clone().into())],
    })
}

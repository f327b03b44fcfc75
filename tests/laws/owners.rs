//! Who owns a path that several documents have, in random worlds: editors rename, publish and withdraw
//! documents with few slugs, instances walk, update, publish, adopt and restart. After each step, the
//! owners are those of a model that knows the order alone (D22).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use frontend_map_catalog::snapshot::{
    Builder, Claims, CreationDates, Delta, Listing, Patch, Patched, PreviousOwners, Serialized,
    Snapshot, Titles,
};
use frontend_map_rules::frontend_url::Hosts;
use frontend_map_rules::{
    Condition, ContentTypeUid, Document, DocumentLocale, FieldPath, FieldValue, Literal, Locale,
    LocalePrefix, Locales, Rule, RuleSet, Template,
};
use proptest::prelude::*;

const UID: &str = "api::a.a";
const BUILDER: Builder = Builder { path_table: true };
const LOCALES: [&str; 2] = ["en", "de"];
const INSTANCES: usize = 3;
const STEPS: usize = 30;

/// A published version: its slug, whether it is its own path, and whether sitemaps list it.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Version {
    slug: u8,
    is_own: bool,
    is_listed: bool,
}

/// The `documentId`, and the position of the locale in [`LOCALES`].
type Key = (String, usize);
type Versions = BTreeMap<Key, Version>;
type Owners = BTreeMap<String, Key>;

#[derive(Clone, Debug)]
enum Step {
    /// Versions are published, or withdrawn, and read again by themselves.
    Edit(Vec<(Key, Option<Version>)>),
    /// The leader reads everything again.
    Walk,
    /// An instance restarts with its store, or takes the list of the others from Redis.
    Restart(usize),
    /// Another instance becomes the leader.
    Lead(usize),
    /// All instances restart with other settings, in which the locales have another order: one of them
    /// finds what the settings before have published or stored last.
    OtherSettings,
    /// All instances restart, with neither a store nor Redis.
    Forget,
}

fn version() -> impl Strategy<Value = Option<Version>> {
    let published = (0..3_u8, prop::bool::weighted(0.1), prop::bool::weighted(0.8))
        .prop_map(|(slug, is_own, is_listed)| Version { slug, is_own, is_listed });
    prop_oneof![4 => published.prop_map(Some), 1 => Just(None)]
}

fn step() -> impl Strategy<Value = Step> {
    let key = (0..5_u8, 0..LOCALES.len()).prop_map(|(id, locale)| (format!("d{id}"), locale));
    let edits = prop::collection::vec((key, version()), 1..4);
    prop_oneof![
        10 => edits.prop_map(Step::Edit),
        2 => Just(Step::Walk),
        2 => (0..INSTANCES).prop_map(Step::Restart),
        1 => (0..INSTANCES).prop_map(Step::Lead),
        1 => Just(Step::OtherSettings),
        1 => Just(Step::Forget),
    ]
}

struct World {
    /// The order of the locales, by their positions in [`LOCALES`].
    order: [usize; 2],
    rules: RuleSet,
    hosts: Hosts,
    /// When each document was created; `None`: the CMS hides it.
    created: Vec<Option<i64>>,
    versions: Versions,
    leader: usize,
    snapshots: Vec<Option<Arc<Snapshot>>>,
    /// The owners of the model.
    owners: Owners,
}

impl World {
    fn new(created: Vec<Option<i64>>) -> Self {
        Self {
            order: [0, 1],
            rules: rules([0, 1]),
            hosts: Hosts::new(vec![None; LOCALES.len()]),
            created,
            versions: Versions::new(),
            leader: 0,
            snapshots: vec![None; INSTANCES],
            owners: Owners::new(),
        }
    }

    fn listing(&self) -> Listing<'_> {
        Listing { rules: &self.rules, hosts: &self.hosts, uid: UID }
    }

    fn documents(&self, id: Option<&str>) -> Vec<Document<'static>> {
        let own = self.versions.iter().filter(|((own, _), _)| id.is_none_or(|id| own == id));
        own.map(|((id, locale), version)| document(id, *locale, version)).collect()
    }

    fn created(&self, id: &str) -> Option<i64> {
        self.created[id[1..].parse::<usize>().unwrap()]
    }

    /// As the service decides: with the dates of creation of those documents alone for which they are
    /// asked.
    fn with_owners(&self, snapshot: Snapshot, before: Option<PreviousOwners<'_>>) -> Snapshot {
        let before = before.into_iter().collect();
        let mut claims = Claims { before, created: CreationDates::default() };
        let snapshot = snapshot.with_claims(&claims, BUILDER);
        let undecided = snapshot.undecided().iter();
        claims.created = undecided.map(|(id, _)| (id.clone(), self.created(id))).collect();
        let snapshot = snapshot.with_claims(&claims, BUILDER);
        assert!(snapshot.undecided().is_empty());
        snapshot
    }

    fn walk(&mut self) {
        let before = self.snapshots[self.leader].clone();
        self.walk_after(
            before.as_deref().map(|snapshot| PreviousOwners { snapshot, locales: None }),
        );
    }

    fn walk_after(&mut self, before: Option<PreviousOwners<'_>>) {
        let mut part = self.listing().part();
        self.documents(None).iter().for_each(|document| part.add(document));
        let snapshot = BUILDER.finish(vec![part]).unwrap();
        self.publish(self.with_owners(snapshot, before));
    }

    fn update(&mut self, edits: Vec<(Key, Option<Version>)>) {
        let ids: BTreeSet<String> = edits.iter().map(|((id, _), _)| id.clone()).collect();
        for (key, version) in edits {
            match version {
                Some(version) => self.versions.insert(key, version),
                None => self.versions.remove(&key),
            };
        }
        let Some(before) = self.snapshots[self.leader].clone() else { return self.walk() };
        let patches: Vec<Patch> = ids
            .into_iter()
            .map(|id| Patch { versions: self.documents(Some(&id)), id, is_partial: false })
            .collect();
        match before.patched(&patches, self.listing(), BUILDER) {
            Patched::Unchanged => {}
            Patched::Changed(snapshot) if snapshot.undecided().is_empty() => {
                self.publish(*snapshot);
            }
            Patched::Changed(snapshot) => {
                let before = PreviousOwners { snapshot: &before, locales: None };
                self.publish(self.with_owners(*snapshot, Some(before)));
            }
            Patched::NeedsWalk => panic!("there is little text"),
        }
    }

    /// The other instances adopt what the leader has, by the difference where they can.
    fn publish(&mut self, snapshot: Snapshot) {
        let snapshot = Arc::new(snapshot);
        let whole = snapshot.serialize("", Titles::Kept);
        for (at, own) in self.snapshots.iter_mut().enumerate() {
            let adopted = match own {
                _ if at == self.leader => Arc::clone(&snapshot),
                Some(before) => {
                    let delta = Delta::between(before, &snapshot).unwrap().serialize();
                    let delta = Delta::read(&delta, 1 << 20).unwrap();
                    let later = before.with_delta(&delta, BUILDER).unwrap();
                    later.map_or_else(|| Arc::clone(before), Arc::new)
                }
                None => Arc::new(read(&whole)),
            };
            *own = Some(adopted);
        }
    }

    /// The order of D22, path by path.
    fn decide(&mut self) {
        let mut by_path: BTreeMap<String, Vec<&Key>> = BTreeMap::new();
        for (key, version) in &self.versions {
            by_path.entry(format!("/s{}", version.slug)).or_default().push(key);
        }
        let owners = by_path.into_iter().map(|(path, mut keys)| {
            let before = self.owners.get(&path);
            keys.sort_by_key(|key| {
                let version = &self.versions[*key];
                let was_owner = before == Some(*key);
                let had_page = self.owners.values().any(|owner| owner == *key);
                let created = self.created(&key.0).unwrap_or(i64::MAX);
                let locale = self.order.iter().position(|locale| *locale == key.1);
                let id = key.0.clone();
                (!version.is_own, !version.is_listed, !was_owner, !had_page, created, locale, id)
            });
            (path, keys[0].clone())
        });
        self.owners = owners.collect();
    }

    fn check(&self) -> Result<(), TestCaseError> {
        let Some(first) = &self.snapshots[0] else { return Ok(()) };
        for snapshot in self.snapshots.iter().flatten() {
            let owner = |path: &String| {
                let url = snapshot.owner(path)?;
                Some((url.document_id().to_owned(), self.order[url.locale()]))
            };
            let owners: Owners =
                self.owners.keys().filter_map(|path| Some((path.clone(), owner(path)?))).collect();
            prop_assert_eq!(&owners, &self.owners);
            prop_assert_eq!(snapshot.len(), self.owners.len());
            prop_assert_eq!(snapshot.urls().len(), self.versions.len());
            prop_assert_eq!(snapshot.content_hash(), first.content_hash());
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<(), TestCaseError> {
        let (before, versions) = (self.owners.clone(), self.versions.clone());
        let forgets = matches!(step, Step::Forget);
        match step {
            Step::Edit(edits) => self.update(edits),
            Step::Walk => self.walk(),
            Step::Restart(at) => {
                let stored = self.snapshots[at].as_ref();
                let stored = stored.map(|own| read(&own.serialize("", Titles::LeftOut)));
                self.snapshots[at] = stored.map(Arc::new);
            }
            Step::Lead(at) => self.leader = at,
            Step::OtherSettings => {
                let stored = self.snapshots[self.leader].clone();
                let stored = stored.map(|own| read(&own.serialize("", Titles::Kept)));
                self.order.reverse();
                self.rules = rules(self.order);
                self.snapshots.fill(None);
                self.walk_after(stored.as_ref().map(|snapshot| {
                    // The positions of the locales are swapped.
                    PreviousOwners { snapshot, locales: Some(vec![Some(1), Some(0)]) }
                }));
            }
            Step::Forget => {
                self.snapshots.fill(None);
                self.owners.clear();
                self.walk();
            }
        }
        self.decide();
        self.check()?;
        for (path, key) in before.into_iter().filter(|_| !forgets) {
            let (old, new) = (&versions[&key], self.versions.get(&key));
            // An own path, or one in sitemaps, still comes before.
            let class = |version: &Version| (!version.is_own, !version.is_listed);
            let keeps = new.is_some_and(|new| new.slug == old.slug);
            let is_first =
                |other: &&Key| new.is_some_and(|new| class(&self.versions[*other]) < class(new));
            let owner = &self.owners.get(&path);
            if keeps && !owner.is_some_and(|owner| is_first(&owner)) {
                prop_assert_eq!(*owner, Some(&key), "the owner of {} has changed", path);
            }
        }
        Ok(())
    }
}

fn rules(order: [usize; 2]) -> RuleSet {
    let locales = order.map(|at| Locale::parse(LOCALES[at]).unwrap()).to_vec();
    let uid = ContentTypeUid::parse(UID).unwrap();
    let mut rule = Rule::new(uid, Template::parse("/{slug}").unwrap());
    rule.path_field = FieldPath::parse("path");
    rule.sitemap.exclude_when = vec![Condition {
        field: FieldPath::parse("listed").unwrap(),
        equals: Literal::Text("no".to_owned()),
    }];
    RuleSet::new(Locales::new(locales).unwrap(), LocalePrefix::Always, vec![rule])
}

fn read(bytes: &[u8]) -> Snapshot {
    Serialized::read(bytes).unwrap().snapshot(BUILDER).unwrap()
}

fn document(id: &str, locale: usize, version: &Version) -> Document<'static> {
    let slug = format!("s{}", version.slug);
    let own =
        if version.is_own { FieldValue::Text(slug.clone().into()) } else { FieldValue::Missing };
    let listed = if version.is_listed { "yes" } else { "no" };
    Document {
        id: id.to_owned().into(),
        locale: DocumentLocale::Named(LOCALES[locale].into()),
        unpublished: false,
        fields: Arc::new(["slug", "path", "listed"].map(|name| FieldPath::parse(name).unwrap())),
        values: vec![FieldValue::Text(slug.into()), own, FieldValue::Text(listed.into())],
    }
}

proptest! {
    #[test]
    fn owner_keeps_its_path_while_a_snapshot_remembers_it_and_else_the_order_decides(
        created in prop::collection::vec(prop::option::weighted(0.8, 0..4_i64), 5),
        steps in prop::collection::vec(step(), STEPS),
    ) {
        let mut world = World::new(created);
        for step in steps {
            world.take(step)?;
        }
    }
}
